/**
 * The rotation that Secrets Manager starts when a schedule is created.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
 */
import { randomUUID } from "node:crypto";
import type { SecretStore } from "./secret-store.ts";
import type { LocalRotation } from "./template.ts";

const steps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;

/**
 * Runs the four steps of one rotation.
 * @throws {Error} naming the step that failed, or when the new version has not become the current one.
 */
export async function rotateSecret(
  store: SecretStore,
  rotation: LocalRotation & { readonly functionArn: string },
  invoke: (functionLogicalId: string, event: unknown) => Promise<unknown>,
): Promise<void> {
  const { secretArn, functionArn, functionLogicalId } = rotation;
  const token = randomUUID();
  store.beginRotation(secretArn, functionArn, token);
  for (const Step of steps) {
    try {
      await invoke(functionLogicalId, { Step, SecretId: secretArn, ClientRequestToken: token });
    } catch (error) {
      throw new Error(`Step ${Step} of the rotation by ${functionLogicalId} failed: ${String(error)}`, {
        cause: error,
      });
    }
  }
  if (!store.describe(secretArn).versionIdsToLabels[token]?.includes("AWSCURRENT")) {
    throw new Error(`The rotation by ${functionLogicalId} ended without making its version the current one`);
  }
}
