import { describe, expect, test } from "vitest";
import * as z from "zod";
import { everySetting } from "./shared-templates.ts";
import {
  attribute,
  configured,
  deployed,
  functionOf,
  only,
  reference,
  resourcesOf,
  statementsOf,
} from "./template.ts";

const rotationProperties = z.object({
  SecretId: reference,
  RotationLambdaARN: z.unknown(),
  RotateImmediatelyOnUpdate: z.boolean(),
  RotationRules: z.strictObject({ AutomaticallyAfterDays: z.number() }),
});

const permissionProperties = z.object({
  FunctionName: z.unknown(),
  Principal: z.string(),
  SourceArn: z.unknown(),
});

const functionProperties = z.object({
  Description: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});

describe("signing key", () => {
  const secret = only(resourcesOf("AWS::SecretsManager::Secret", z.unknown(), deployed), "secrets");

  test("Secrets Manager may run the rotation function for this secret only, before the first rotation", () => {
    const permission = only(
      resourcesOf("AWS::Lambda::Permission", permissionProperties, deployed).filter(
        ({ properties }) => properties.Principal === "secretsmanager.amazonaws.com",
      ),
      "permissions of Secrets Manager",
    );
    expect(permission.properties.FunctionName).toEqual({
      "Fn::GetAtt": [functionOf("keys/rotate"), "Arn"],
    });
    expect(permission.properties.SourceArn).toEqual({ Ref: secret.logicalId });
    const schedule = only(
      resourcesOf("AWS::SecretsManager::RotationSchedule", rotationProperties, deployed),
      "rotation schedules",
    );
    expect(schedule.dependsOn).toContain(permission.logicalId);
  });
});

describe("a signing key that exists already", () => {
  const arn = everySetting.signingKeySecretArn;

  test("the stack makes neither secret nor rotation when the operator has a signing key", () => {
    const types = Object.values(configured.Resources).map(({ Type }) => Type);
    expect(types.filter((type) => type.startsWith("AWS::SecretsManager::"))).toEqual([]);
    expect(JSON.stringify(configured).match(/secretsmanager\.amazonaws\.com/g)).toBeNull();
  });

  test("the login may read exactly the operator's secret", () => {
    const { properties } = only(
      resourcesOf("AWS::Lambda::Function", z.object({ Role: attribute }), configured).filter(
        ({ logicalId }) => logicalId === functionOf("profile/authenticate"),
      ),
      "functions",
    );
    const statements = statementsOf(properties.Role["Fn::GetAtt"][0], configured).filter(({ Action }) =>
      Action.some((action) => action.startsWith("secretsmanager:")),
    );
    expect(statements).toEqual([
      { Effect: "Allow", Action: ["secretsmanager:GetSecretValue"], Resource: [arn] },
    ]);
  });

  test("only functions that issue tokens have the ARN of the operator's signing key", () => {
    const holders = resourcesOf("AWS::Lambda::Function", functionProperties, configured).filter(
      ({ properties }) => JSON.stringify(properties.Environment.Variables).includes(arn),
    );
    expect(
      holders.map(({ properties }) => [properties.Description, properties.Environment.Variables]),
    ).toEqual([
      ["profile/authenticate", expect.objectContaining({ SIGNING_KEY_SECRET_ARN: arn })],
      ["oauth2/token", expect.objectContaining({ SIGNING_KEY_SECRET_ARN: arn })],
    ]);
  });
});
