import { describe, expect, test } from "vitest";
import * as z from "zod";
import { deployed, functionOf, only, reference, resourcesOf } from "./template.ts";

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
