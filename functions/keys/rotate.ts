import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from "jose";
import * as z from "zod/mini";
import { clientDefaults } from "../../shared/aws/clients.ts";
import { log } from "../../shared/aws/log.ts";
import { setting } from "../../shared/environment.ts";
import { publicKeys, publish, retire } from "../../shared/signing-keys.ts";
import {
  clockToleranceSeconds,
  type PrivateJwk,
  privateJwk,
  publicHalf,
  signingKeyCacheSeconds,
  tokenAlgorithm,
} from "../../shared/token.ts";

/** https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html */
const rotationEvent = z.object({
  SecretId: z.string(),
  ClientRequestToken: z.string(),
  Step: z.enum(["createSecret", "setSecret", "testSecret", "finishSecret"]),
});

interface Rotation {
  readonly secretId: string;
  /** The version that is being made. */
  readonly version: string;
  readonly signal: AbortSignal;
}

const stepMilliseconds = 20_000;

let client: SecretsManagerClient | undefined;

/** The process's client, made when it is first needed. */
function secretsManager(): SecretsManagerClient {
  client ??= new SecretsManagerClient(clientDefaults);
  return client;
}

/**
 * Rotates the signing key, a step a call, as Secrets Manager asks for it. Every step can be repeated.
 *
 * A key is published in `setSecret`, before `finishSecret` lets it sign; the one before it stays published
 * until the last token signed with it has expired.
 */
export async function handler(event: unknown): Promise<void> {
  const { SecretId, ClientRequestToken, Step } = rotationEvent.parse(event);
  const rotation = {
    secretId: SecretId,
    version: ClientRequestToken,
    signal: AbortSignal.timeout(stepMilliseconds),
  };
  await steps[Step](rotation);
  log("SIGNING_KEY_ROTATED", { step: Step });
}

const steps = { createSecret, setSecret, testSecret, finishSecret };

async function createSecret({ secretId, version, signal }: Rotation): Promise<void> {
  if ((await stagesOf(secretId, signal))[version]?.includes("AWSPENDING")) {
    const existing = await keyIn({ secretId, version, signal });
    if (existing !== undefined) return;
  }
  const { privateKey } = await generateKeyPair(tokenAlgorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const key = privateJwk.parse({ ...jwk, kid: await calculateJwkThumbprint(jwk) });
  const command = new PutSecretValueCommand({
    SecretId: secretId,
    ClientRequestToken: version,
    SecretString: JSON.stringify(key),
    VersionStages: ["AWSPENDING"],
  });
  await secretsManager().send(command, { abortSignal: signal });
}

async function setSecret(rotation: Rotation): Promise<void> {
  await publish(publicHalf(await newKey(rotation)), rotation.signal);
}

/** A token signed with the new key must verify with what is published. */
async function testSecret(rotation: Rotation): Promise<void> {
  const key = await newKey(rotation);
  const token = await new SignJWT()
    .setProtectedHeader({ alg: tokenAlgorithm, kid: key.kid })
    .sign(await importJWK(key, tokenAlgorithm));
  const published = (await publicKeys(new Date(), rotation.signal)).find(({ kid }) => kid === key.kid);
  if (published === undefined) throw new Error("the new key is not published");
  await jwtVerify(token, await importJWK(published, tokenAlgorithm));
}

async function finishSecret(rotation: Rotation): Promise<void> {
  const { secretId, version, signal } = rotation;
  const stages = Object.entries(await stagesOf(secretId, signal));
  const [current] = stages.find(([, names]) => names.includes("AWSCURRENT")) ?? [];
  if (current !== version) {
    const command = new UpdateSecretVersionStageCommand({
      SecretId: secretId,
      VersionStage: "AWSCURRENT",
      MoveToVersionId: version,
      RemoveFromVersionId: current,
    });
    await secretsManager().send(command, { abortSignal: signal });
  }
  await retireOthers(rotation);
}

/**
 * Lets every other published key end: the one before, and any that a rotation left behind half-way. Signers
 * keep the key before for a while, then its last token lives its whole life.
 */
async function retireOthers(rotation: Rotation): Promise<void> {
  const { signal } = rotation;
  const now = new Date();
  const [key, published] = await Promise.all([newKey(rotation), publicKeys(now, signal)]);
  const usedSeconds = signingKeyCacheSeconds + setting("TOKEN_LIFETIME_SECONDS") + clockToleranceSeconds;
  const end = new Date(now.getTime() + (usedSeconds + 60) * 1_000);
  const others = published.filter(({ kid }) => kid !== key.kid);
  await Promise.all(others.map(({ kid }) => retire(kid, end, signal)));
}

async function stagesOf(secretId: string, signal: AbortSignal): Promise<Record<string, string[]>> {
  const { VersionIdsToStages } = await secretsManager().send(
    new DescribeSecretCommand({ SecretId: secretId }),
    {
      abortSignal: signal,
    },
  );
  return VersionIdsToStages ?? {};
}

async function newKey(rotation: Rotation): Promise<PrivateJwk> {
  const key = await keyIn(rotation);
  if (key === undefined) throw new Error("the new version holds no key");
  return key;
}

/** The key in a version; `undefined` for the text a secret is created with, and for a version without a text. */
async function keyIn({ secretId, version, signal }: Rotation): Promise<PrivateJwk | undefined> {
  try {
    const command = new GetSecretValueCommand({ SecretId: secretId, VersionId: version });
    const { SecretString } = await secretsManager().send(command, { abortSignal: signal });
    return privateJwk.safeParse(JSON.parse(SecretString ?? "")).data;
  } catch (error) {
    const noKey =
      error instanceof SyntaxError || (error instanceof Error && error.name === "ResourceNotFoundException");
    if (noKey) return undefined;
    throw error;
  }
}
