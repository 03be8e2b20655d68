import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Unavailable } from "../errors.ts";
import { clientDefaults, failureOf, isRetryable } from "./clients.ts";
import { timed } from "./dependency-times.ts";

let client: SecretsManagerClient | undefined;

/**
 * Reads the current text of a secret.
 * @throws {Unavailable} if Secrets Manager did not answer.
 */
export async function secretText(secretId: string, signal: AbortSignal): Promise<string> {
  client ??= timed(new SecretsManagerClient(clientDefaults()), "secretsManagerMilliseconds");
  const command = new GetSecretValueCommand({ SecretId: secretId });
  const { SecretString } = await client.send(command, { abortSignal: signal }).catch((error: unknown) => {
    throw isRetryable(error) ? new Unavailable("Secrets Manager", failureOf(error)) : error;
  });
  if (SecretString === undefined) throw new Error("the secret holds no text");
  return SecretString;
}
