import { describe, expect, test } from "vitest";
import * as z from "zod";
import { functionOf, only, reference, resourcesOf, synthesize, template } from "./template.ts";

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
  const secret = only(resourcesOf("AWS::SecretsManager::Secret", z.unknown()), "secrets");

  test("is a secret that outlives the stack", () => {
    expect(secret).toMatchObject({ deletionPolicy: "Retain", updateReplacePolicy: "Retain" });
  });

  test("is made and renewed by the rotation function", () => {
    const { properties } = only(
      resourcesOf("AWS::SecretsManager::RotationSchedule", rotationProperties),
      "rotation schedules",
    );
    expect(properties).toMatchObject({
      SecretId: { Ref: secret.logicalId },
      RotationLambdaARN: { "Fn::GetAtt": [functionOf("keys/rotate"), "Arn"] },
      RotateImmediatelyOnUpdate: true,
    });
    expect(properties.RotationRules.AutomaticallyAfterDays).toBeLessThanOrEqual(90);
  });

  test("lets Secrets Manager run the rotation function for this secret only, before the first rotation", () => {
    const permission = only(
      resourcesOf("AWS::Lambda::Permission", permissionProperties).filter(
        ({ properties }) => properties.Principal === "secretsmanager.amazonaws.com",
      ),
      "permissions of Secrets Manager",
    );
    expect(permission.properties.FunctionName).toEqual({
      "Fn::GetAtt": [functionOf("keys/rotate"), "Arn"],
    });
    expect(permission.properties.SourceArn).toEqual({ Ref: secret.logicalId });
    const schedule = only(
      resourcesOf("AWS::SecretsManager::RotationSchedule", rotationProperties),
      "rotation schedules",
    );
    expect(schedule.dependsOn).toContain(permission.logicalId);
  });

  test("is known by its place, never by its value", () => {
    const environments = resourcesOf("AWS::Lambda::Function", functionProperties);
    const told = environments.filter(({ properties }) =>
      JSON.stringify(properties.Environment.Variables).includes(secret.logicalId),
    );
    expect(told.map(({ properties }) => properties.Description)).toEqual(["profile/authenticate"]);
    expect(JSON.stringify(template).match(/resolve:secretsmanager/g)).toBeNull();
  });
});

describe("a signing key that exists already", () => {
  const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:operators-key-AbCdEf";
  const withExisting = synthesize({ signingKeySecretArn: arn });

  test("neither a secret nor a rotation is made", () => {
    const types = Object.values(withExisting.Resources).map(({ Type }) => Type);
    expect(types.filter((type) => type.startsWith("AWS::SecretsManager::"))).toEqual([]);
    expect(JSON.stringify(withExisting).match(/secretsmanager\.amazonaws\.com/g)).toBeNull();
  });

  test("the login function reads exactly this secret", () => {
    const policies = resourcesOf(
      "AWS::IAM::Policy",
      z.object({ PolicyDocument: z.object({ Statement: z.array(z.unknown()) }), Roles: z.array(reference) }),
      withExisting,
    );
    const role = resourcesOf("AWS::Lambda::Function", z.object({ Role: z.unknown() }), withExisting).find(
      ({ logicalId }) => logicalId === functionOf("profile/authenticate"),
    )?.properties.Role;
    const statements = policies
      .filter(({ properties }) =>
        properties.Roles.some(({ Ref }) => JSON.stringify(role).includes(`"${Ref}"`)),
      )
      .flatMap(({ properties }) => properties.PolicyDocument.Statement)
      .filter((statement) => JSON.stringify(statement).includes("secretsmanager:"));
    expect(statements).toEqual([{ Effect: "Allow", Action: "secretsmanager:GetSecretValue", Resource: arn }]);
  });

  test("the login function is told this secret, and no other function is", () => {
    const told = resourcesOf("AWS::Lambda::Function", functionProperties, withExisting).filter(
      ({ properties }) => JSON.stringify(properties.Environment.Variables).includes(arn),
    );
    expect(told.map(({ properties }) => [properties.Description, properties.Environment.Variables])).toEqual([
      ["profile/authenticate", expect.objectContaining({ SIGNING_KEY_SECRET_ARN: arn })],
    ]);
  });
});
