import { expect, test } from "vitest";
import * as z from "zod";
import { deployed, only, resourcesOf } from "./template.ts";

test("the signing key is first rotated when Secrets Manager may run the rotation function", () => {
  const permissions = resourcesOf("AWS::Lambda::Permission", z.object({ Principal: z.string() }), deployed);
  const { logicalId } = only(
    permissions.filter(({ properties }) => properties.Principal === "secretsmanager.amazonaws.com"),
    "permissions of Secrets Manager",
  );
  const schedules = resourcesOf("AWS::SecretsManager::RotationSchedule", z.unknown(), deployed);
  expect(only(schedules, "rotation schedules").dependsOn).toContain(logicalId);
});
