import { setTimeout as wait } from "node:timers/promises";
import {
  DescribeSecretCommand,
  RotateSecretCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { clientDefaults } from "../../shared/aws/clients.ts";
import { setting } from "../../shared/environment.ts";
import { firstUseSeconds } from "../../shared/tokens/token.ts";
import { SIGNING_KEY_SECRET_ARN } from "../../shared/variables/signing-key-secret-arn.ts";

/** Secrets Manager takes some seconds a step. */
const rotationMilliseconds = 180_000;

const pauseMilliseconds = 1_000;

/**
 * Rotates the signing key at once and waits until the signers have the new one.
 * @returns the time from which all of them sign with it.
 * @throws {Error} when the secret has no rotation, or the rotation does not end in time.
 */
export async function rotateKeys(): Promise<Date> {
  const client = new SecretsManagerClient(clientDefaults());
  try {
    const SecretId = setting(SIGNING_KEY_SECRET_ARN);
    const { VersionId } = await client.send(new RotateSecretCommand({ SecretId }));
    const deadline = Date.now() + rotationMilliseconds;
    while (!(await isCurrent(client, SecretId, VersionId))) {
      if (Date.now() > deadline) {
        throw new Error(
          "The rotation has not ended; the log of the function keys/rotate says why. It is tried again.",
        );
      }
      await wait(pauseMilliseconds);
    }
    // The rotation began before now, and counts from its next full second.
    return new Date((Math.ceil(Date.now() / 1_000) + firstUseSeconds) * 1_000);
  } finally {
    client.destroy();
  }
}

async function isCurrent(
  client: SecretsManagerClient,
  SecretId: string,
  version: string | undefined,
): Promise<boolean> {
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
  return VersionIdsToStages[version ?? ""]?.includes("AWSCURRENT") === true;
}
