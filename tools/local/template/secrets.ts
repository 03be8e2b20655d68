/**
 * The secrets of a template, and the functions that rotate them.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SecretsManager.html
 */
import * as z from "zod";
import { calledFunction, type LocalFunction } from "./functions.ts";
import type { Resources } from "./resources.ts";

const secretSchema = z.object({
  GenerateSecretString: z.strictObject({}, "options of a generated secret are not supported locally"),
});
const rotationSchema = z.object({
  SecretId: z.string(),
  RotationLambdaARN: z.string(),
  RotateImmediatelyOnUpdate: z.literal(true).optional(),
});

/** A secret of the template; Secrets Manager generates its first value, a password. */
export interface LocalSecret {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
}

/** A secret whose rotation function runs as soon as the schedule is created. */
export interface LocalRotation {
  readonly secretArn: string;
  readonly functionLogicalId: string;
  readonly functionArn: string;
}

/** @throws {Error} naming a secret of a kind that is not supported locally. */
export function readSecrets(resources: Resources): readonly LocalSecret[] {
  return resources.ofType("AWS::SecretsManager::Secret").map((logicalId) => {
    resources.properties(logicalId, secretSchema, ["Description"]);
    return { logicalId, name: logicalId, arn: resources.names(logicalId).ref };
  });
}

/** @throws {Error} naming a rotation of a kind that is not supported locally. */
export function readRotations(
  resources: Resources,
  functions: readonly LocalFunction[],
): readonly LocalRotation[] {
  return resources.ofType("AWS::SecretsManager::RotationSchedule").map((logicalId) => {
    const { SecretId, RotationLambdaARN } = resources.properties(logicalId, rotationSchema, [
      "RotationRules",
    ]);
    const { logicalId: functionLogicalId, arn } = calledFunction(functions, logicalId, RotationLambdaARN);
    return { secretArn: SecretId, functionLogicalId, functionArn: arn };
  });
}
