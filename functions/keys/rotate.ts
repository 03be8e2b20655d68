import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  type GetSecretValueCommandInput,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from "jose";
import * as z from "zod/mini";
import { clientDefaults } from "../../shared/aws/clients.ts";
import { log } from "../../shared/aws/log.ts";
import { resourceName, setting } from "../../shared/environment.ts";
import { tableVariable } from "../../shared/table.ts";
import { rotationSteps } from "../../shared/tokens/rotation.ts";
import { publish, publishedKeys, retire } from "../../shared/tokens/signing-keys.ts";
import { signingKeys } from "../../shared/tokens/table.ts";
import {
  clockToleranceSeconds,
  firstUseSeconds,
  keysFrom,
  keysIn,
  privateJwk,
  publicHalf,
  publicKeyCacheSeconds,
  type SigningSecret,
  signingKeyCacheSeconds,
  signingSecret,
  tokenAlgorithm,
} from "../../shared/tokens/token.ts";
import { TOKEN_LIFETIME_SECONDS } from "../../shared/variables/token-lifetime-seconds.ts";

const rotationEvent = z.object({
  SecretId: z.string(),
  ClientRequestToken: z.string(),
  /** `probe` is the step of a check of a release (`functions/releases/probe.ts`), which rotates nothing. */
  Step: z.enum([...rotationSteps, "probe"]),
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
  client ??= new SecretsManagerClient(clientDefaults());
  return client;
}

/**
 * Rotates the signing key, one step per call of Secrets Manager. Every step can be repeated.
 *
 * `setSecret` publishes the new key. `finishSecret` gives it to the signers, with the time from which it signs: by then
 * every cache of the public keys contains it. Until then the previous keys sign, which are in the same secret. They
 * stay published until the last token signed with them has expired.
 */
export async function handler(event: unknown): Promise<void> {
  const { SecretId, ClientRequestToken, Step } = rotationEvent.parse(event);
  if (Step === "probe") {
    checkConfiguration();
    return;
  }
  const rotation = {
    secretId: SecretId,
    version: ClientRequestToken,
    signal: AbortSignal.timeout(stepMilliseconds),
  };
  await steps[Step](rotation);
  log("SIGNING_KEY_ROTATED", { step: Step });
}

/** @throws {Misconfigured} naming a variable that is missing or malformed. */
function checkConfiguration(): void {
  setting(TOKEN_LIFETIME_SECONDS);
  resourceName(tableVariable(signingKeys));
}

const steps = { createSecret, setSecret, testSecret, finishSecret };

async function createSecret({ secretId, version, signal }: Rotation): Promise<void> {
  if ((await stagesOf(secretId, signal))[version]?.includes("AWSPENDING")) {
    const existing = await secretIn({ SecretId: secretId, VersionId: version }, signal);
    if (existing !== undefined) return;
  }
  const { privateKey } = await generateKeyPair(tokenAlgorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const key = privateJwk.parse({ ...jwk, kid: await calculateJwkThumbprint(jwk) });
  const now = new Date();
  const current = await secretIn({ SecretId: secretId, VersionStage: "AWSCURRENT" }, signal);
  const before = current === undefined ? [] : keysFrom(keysIn(current), now);
  // The first key signs at once.
  const value =
    before.length === 0
      ? { ...key, signsFrom: Math.floor(now.getTime() / 1_000) }
      : { ...key, signsFrom: Math.ceil(now.getTime() / 1_000) + firstUseSeconds, before };
  const command = new PutSecretValueCommand({
    SecretId: secretId,
    ClientRequestToken: version,
    SecretString: JSON.stringify(value),
    VersionStages: ["AWSPENDING"],
  });
  await secretsManager().send(command, { abortSignal: signal });
}

async function setSecret(rotation: Rotation): Promise<void> {
  await publish(publicHalf(await newSecret(rotation)), new Date(), rotation.signal);
}

/** Checks that a token signed with the new key verifies with every cached copy of the public keys. */
async function testSecret(rotation: Rotation): Promise<void> {
  const { before, signsFrom = 0, ...key } = await newSecret(rotation);
  const token = await new SignJWT()
    .setProtectedHeader({ alg: tokenAlgorithm, kid: key.kid })
    .sign(await importJWK(key, tokenAlgorithm));
  const now = new Date();
  const published = (await publishedKeys(now, rotation.signal)).find(({ jwk }) => jwk.kid === key.kid);
  if (published === undefined) throw new Error("the new key is not published");
  await jwtVerify(token, await importJWK(published.jwk, tokenAlgorithm));
  const firstUse = Math.max(signsFrom, now.getTime() / 1_000);
  if (before !== undefined && firstUse - published.publishedAt < publicKeyCacheSeconds) {
    throw new Error("the new key was published too late; the rotation can be tried again in five minutes");
  }
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
 * Retires every other published key: the previous ones, and those of interrupted rotations. Signers use a previous key
 * until the new one's time begins, or while they have cached nothing newer; the last token signed with it is then valid
 * for its whole lifetime.
 */
async function retireOthers(rotation: Rotation): Promise<void> {
  const { signal } = rotation;
  const now = new Date();
  const [{ kid, signsFrom = 0 }, published] = await Promise.all([
    newSecret(rotation),
    publishedKeys(now, signal),
  ]);
  const lastUse = Math.max(signsFrom, now.getTime() / 1_000 + signingKeyCacheSeconds);
  const usedSeconds = setting(TOKEN_LIFETIME_SECONDS) + clockToleranceSeconds;
  const end = new Date((lastUse + usedSeconds + 60) * 1_000);
  const others = published.filter(({ jwk }) => jwk.kid !== kid);
  await Promise.all(others.map(({ jwk }) => retire(jwk.kid, end, signal)));
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

async function newSecret({ secretId, version, signal }: Rotation): Promise<SigningSecret> {
  const secret = await secretIn({ SecretId: secretId, VersionId: version }, signal);
  if (secret === undefined) throw new Error("the new version holds no key");
  return secret;
}

/** The keys in a version; `undefined` for the text a secret is created with, and for a version without a text. */
async function secretIn(
  version: GetSecretValueCommandInput,
  signal: AbortSignal,
): Promise<SigningSecret | undefined> {
  try {
    const { SecretString } = await secretsManager().send(new GetSecretValueCommand(version), {
      abortSignal: signal,
    });
    return signingSecret.safeParse(JSON.parse(SecretString ?? "")).data;
  } catch (error) {
    const noKey =
      error instanceof SyntaxError || (error instanceof Error && error.name === "ResourceNotFoundException");
    if (noKey) return undefined;
    throw error;
  }
}
