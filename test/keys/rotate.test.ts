import { randomUUID } from "node:crypto";
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
} from "@aws-sdk/client-secrets-manager";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  firstUseSeconds,
  ownKeysCooldownSeconds,
  type PrivateJwk,
  publicKeyCacheSeconds,
  type SigningKey,
  signingSecret,
} from "../../shared/tokens/token.ts";
import type { OwnService } from "../support/own-service.ts";
import {
  callWith,
  expiryOf,
  freshTokenOf,
  logInCold,
  publishedKeys,
  rotate,
  runStep,
  startRotationService,
  steps,
  tokenIn,
} from "./rotation-service.ts";

let service: OwnService;

beforeAll(async () => {
  service = await startRotationService();
});
afterAll(() => service.close());

async function secretText(): Promise<string> {
  const command = new GetSecretValueCommand({ SecretId: service.secretId });
  return (await service.secrets.send(command)).SecretString ?? "";
}

/** Waits until an authorizer accepts a key, which it fetches at most every few seconds. */
async function untilAccepted(key: PrivateJwk): Promise<void> {
  const timeout = ownKeysCooldownSeconds * 1_000 + 10_000;
  await expect.poll(() => statusWith(freshTokenOf(key)), { interval: 250, timeout }).toBe(200);
}

/** Moves all rotations so far into the past that the newest key signs. */
async function letNewestKeySign(): Promise<void> {
  const secret = signingSecret.parse(JSON.parse(await secretText()));
  const earlier = ({ signsFrom = 0, ...key }: SigningKey) => ({
    ...key,
    signsFrom: signsFrom - firstUseSeconds - 1,
  });
  const SecretString = JSON.stringify({ ...earlier(secret), before: secret.before?.map(earlier) });
  await service.secrets.send(new PutSecretValueCommand({ SecretId: service.secretId, SecretString }));
}

async function publishedIds(): Promise<string[]> {
  return (await publishedKeys(service)).keys.map(({ kid }) => kid);
}

async function statusWith(token: string): Promise<number> {
  return (await callWith(service, token)).status;
}

/** The token of a login at a function that has just started, and so has the current signing key. */
async function newLogin(): Promise<string> {
  return tokenIn((await logInCold(service)).body);
}

test("the first rotation creates the key that signs logins when the service starts", async () => {
  const key = await service.signingKey();

  expect(await publishedIds()).toEqual([key.kid]);
  expect(decodeProtectedHeader(await newLogin()).kid).toBe(key.kid);
  expect(await expiryOf(service, key.kid)).toBeUndefined();
});

test("the rotation changes the signing key after its last step, and no token is refused in between", async () => {
  const old = await service.signingKey();
  const token = randomUUID();

  const observed: unknown[] = [];
  const observe = async (name: string) => {
    const login = await newLogin();
    observed.push({
      name,
      signsWithOld: decodeProtectedHeader(login).kid === old.kid,
      published: (await publishedIds()).length,
      statuses: [await statusWith(freshTokenOf(old)), await statusWith(login)],
    });
  };
  for (const name of steps) {
    await runStep(service, name, token);
    await observe(name);
  }
  await untilAccepted(await service.signingKey());
  await letNewestKeySign();
  await observe("the new key signs");

  expect(observed).toEqual([
    { name: "createSecret", signsWithOld: true, published: 1, statuses: [200, 200] },
    { name: "setSecret", signsWithOld: true, published: 2, statuses: [200, 200] },
    { name: "testSecret", signsWithOld: true, published: 2, statuses: [200, 200] },
    { name: "finishSecret", signsWithOld: true, published: 2, statuses: [200, 200] },
    { name: "the new key signs", signsWithOld: false, published: 2, statuses: [200, 200] },
  ]);
});

test("an authorizer that has just looked for an unknown key knows a new key long before the key signs", async () => {
  const current = await service.signingKey();
  const unknown = { ...current, kid: randomUUID() };
  expect(await statusWith(freshTokenOf(unknown))).toBe(401);

  await rotate(service);

  await untilAccepted(await service.signingKey());
  expect(publicKeyCacheSeconds + ownKeysCooldownSeconds).toBeLessThan(firstUseSeconds);
});

test("every step of the rotation can be repeated without changing its result", async () => {
  const old = await service.signingKey();
  const token = randomUUID();
  const pending = async () => {
    const command = new GetSecretValueCommand({ SecretId: service.secretId, VersionId: token });
    return (await service.secrets.send(command)).SecretString;
  };

  await runStep(service, "createSecret", token);
  const made = await pending();
  await runStep(service, "createSecret", token);
  expect(await pending()).toBe(made);
  for (const name of ["setSecret", "setSecret", "testSecret", "testSecret", "finishSecret"] as const) {
    await runStep(service, name, token);
  }
  const published = await publishedIds();
  // The first finishSecret was a while ago.
  const end = Math.floor(Date.now() / 1_000) + 3_000;
  const { d: _, ...open } = old;
  const jwk = { ...open, alg: "ES256", use: "sig" };
  await service.put("signing-keys", { use: "sig", kid: old.kid, jwk, expiresAt: end });
  await runStep(service, "finishSecret", token);

  expect(await secretText()).toBe(made);
  expect(await publishedIds()).toEqual(published);
  expect(await expiryOf(service, old.kid)).toBe(end);
  expect(await expiryOf(service, (await service.signingKey()).kid)).toBeUndefined();
  const { VersionIdsToStages = {} } = await service.secrets.send(
    new DescribeSecretCommand({ SecretId: service.secretId }),
  );
  expect(VersionIdsToStages[token]).toContain("AWSCURRENT");
});

test("two runs of every step of the rotation at once leave the result of one", async () => {
  const old = await service.signingKey();
  const before = await publishedIds();
  const token = randomUUID();

  for (const name of steps) {
    const runs = await Promise.allSettled([runStep(service, name, token), runStep(service, name, token)]);
    expect(runs.map(({ status }) => status)).toContain("fulfilled");
    // Secrets Manager repeats a step that has failed.
    await runStep(service, name, token);
  }

  const current = await service.signingKey();
  expect(current.kid).not.toBe(old.kid);
  expect(new Set(await publishedIds())).toEqual(new Set([...before, current.kid]));
  expect(await expiryOf(service, old.kid)).toEqual(expect.any(Number));
  expect(await expiryOf(service, current.kid)).toBeUndefined();
  const { VersionIdsToStages = {} } = await service.secrets.send(
    new DescribeSecretCommand({ SecretId: service.secretId }),
  );
  const holders = Object.entries(VersionIdsToStages).filter(([, labels]) => labels.includes("AWSCURRENT"));
  expect(holders.map(([version]) => version)).toEqual([token]);
});

test("the rotation refuses to test an unpublished key and to finish a version without a key", async () => {
  const current = await service.signingKey();
  const token = randomUUID();

  await expect(runStep(service, "setSecret", token)).rejects.toThrow();
  await expect(runStep(service, "finishSecret", token)).rejects.toThrow();
  await runStep(service, "createSecret", token);
  await expect(runStep(service, "testSecret", token)).rejects.toThrow();

  expect((await service.signingKey()).kid).toBe(current.kid);
  await letNewestKeySign();
  expect(decodeProtectedHeader(await newLogin()).kid).toBe(current.kid);
});

test("the rotation refuses a key that was published too late to be known everywhere when it signs", async () => {
  const token = randomUUID();
  await runStep(service, "createSecret", token);
  await runStep(service, "setSecret", token);
  const command = new GetSecretValueCommand({ SecretId: service.secretId, VersionId: token });
  const { SecretString = "" } = await service.secrets.send(command);
  const { kid, kty, crv, x, y, signsFrom = 0 } = signingSecret.parse(JSON.parse(SecretString));
  const publishAt = (publishedAt: number) => {
    const jwk = { kid, kty, crv, x, y, alg: "ES256", use: "sig" };
    return service.put("signing-keys", { use: "sig", kid, jwk, publishedAt });
  };

  await publishAt(signsFrom - publicKeyCacheSeconds + 1);
  await expect(runStep(service, "testSecret", token)).rejects.toThrow("published too late");
  await publishAt(signsFrom - publicKeyCacheSeconds);
  await runStep(service, "testSecret", token);
});

test("the rotation removes expired keys from the secret", async () => {
  await rotate(service);
  await letNewestKeySign();
  const signing = await service.signingKey();

  await rotate(service);

  const { kid, before = [] } = signingSecret.parse(JSON.parse(await secretText()));
  expect(before.map((key) => key.kid)).toEqual([signing.kid]);
  expect(kid).not.toBe(signing.kid);
});

test("the key set has no private members and no expired keys", async () => {
  const { d, kid, ...open } = await service.signingKey();
  const retired = randomUUID();
  const jwk = { ...open, kid: retired, alg: "ES256", use: "sig" };
  const item = { use: "sig", kid: retired, jwk, expiresAt: Math.floor(Date.now() / 1_000) - 1 };
  await service.put("signing-keys", item);

  const { body } = await service.call("/.well-known/jwks.json");

  expect(await publishedIds()).toContain(kid);
  expect(await publishedIds()).not.toContain(retired);
  expect(JSON.stringify(body)).not.toContain(d);
});
