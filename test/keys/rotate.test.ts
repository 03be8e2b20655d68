import { createPrivateKey, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
} from "@aws-sdk/client-secrets-manager";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { configuration } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import {
  clockToleranceSeconds,
  firstUseSeconds,
  ownKeysCooldownSeconds,
  type PrivateJwk,
  publicKeyCacheSeconds,
  type SigningKey,
  signingSecret,
} from "../../shared/tokens/token.ts";
import { claimsOf } from "../support/client.ts";
import { functionOf, type OwnService, startOwnService } from "../support/own-service.ts";
import { signedBy, tokenOf } from "../support/signed.ts";

const steps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;
const credentials = { emailaddress: "rotation@example.com", password: "a password for the rotation" };

let service: OwnService;

beforeAll(async () => {
  service = await startOwnService();
  await service.put("profiles", {
    address: hashed(credentials.emailaddress),
    ID: 1,
    Username: "Rotation",
    DateCreated: "2026-01-01T00:00:00Z",
    IsProfilePublic: false,
    EmailAddress: credentials.emailaddress,
    Permissions: "qos-profiles:read",
    passwordHash: await service.hashOf(credentials.password),
  });
});
afterAll(() => service.close());

function step(Step: (typeof steps)[number], token: string) {
  const event = { SecretId: service.secretId, ClientRequestToken: token, Step };
  return service.invoke(functionOf(service, "keys/rotate"), event);
}

async function rotate(): Promise<void> {
  const token = randomUUID();
  for (const name of steps) await step(name, token);
}

async function secretText(): Promise<string> {
  const command = new GetSecretValueCommand({ SecretId: service.secretId });
  return (await service.secrets.send(command)).SecretString ?? "";
}

/** Waits until an authorizer may fetch the keys again for an unknown key. */
async function untilCooledDown(): Promise<void> {
  await wait(ownKeysCooldownSeconds * 1_000 + 100);
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

const publishedKeys = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) });

async function publishedIds(): Promise<string[]> {
  return publishedKeys.parse((await service.call("/.well-known/jwks.json")).body).keys.map(({ kid }) => kid);
}

async function endOf(kid: string): Promise<number | undefined> {
  const command = new GetItemCommand({
    TableName: service.tableName("signing-keys"),
    Key: marshall({ use: "sig", kid }),
  });
  const { Item } = await service.database.send(command);
  return z.object({ expiresAt: z.number().optional() }).parse(unmarshall(Item ?? {})).expiresAt;
}

/** A token no authorizer has seen, signed with a key; the gateway remembers the tokens that it has seen. */
function freshTokenOf(jwk: PrivateJwk): string {
  const privateKey = createPrivateKey({ key: { ...jwk }, format: "jwk" });
  const header = { alg: "ES256", typ: "at+jwt", kid: jwk.kid };
  return tokenOf(header, claimsOf("client"), signedBy({ kid: jwk.kid, jwk, privateKey }));
}

async function statusWith(token: string): Promise<number> {
  const { status } = await service.call("/qualityondemand/retrieve-qos-profiles", {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: "{}",
  });
  return status;
}

const loginAnswer = z.object({ Data: z.object({ access_token: z.string() }) });

/** Logs in at a function that has started a moment ago, and so has the signing key of this moment. */
async function newLogin(): Promise<string> {
  const event = {
    headers: {},
    body: JSON.stringify(credentials),
    isBase64Encoded: false,
    requestContext: { identity: { sourceIp: "192.0.2.1" } },
  };
  const answered = await service.invoke(functionOf(service, "profile/authenticate"), event, {
    environment: {},
  });
  const { body } = z.object({ statusCode: z.literal(200), body: z.string() }).parse(answered);
  return loginAnswer.parse(JSON.parse(body)).Data.access_token;
}

test("the rotation has made the first key when the service starts, and logins are signed with it", async () => {
  const key = await service.signingKey();

  expect(await publishedIds()).toEqual([key.kid]);
  expect(decodeProtectedHeader(await newLogin()).kid).toBe(key.kid);
  expect(await endOf(key.kid)).toBeUndefined();
});

test("the rotation changes the signing key after its last step, and no token is refused meanwhile", async () => {
  const old = await service.signingKey();
  const token = randomUUID();

  const seen: unknown[] = [];
  const see = async (name: string) => {
    const login = await newLogin();
    seen.push({
      name,
      signsWithOld: decodeProtectedHeader(login).kid === old.kid,
      published: (await publishedIds()).length,
      statuses: [await statusWith(freshTokenOf(old)), await statusWith(login)],
    });
  };
  for (const name of steps) {
    await step(name, token);
    await see(name);
  }
  await untilCooledDown();
  await letNewestKeySign();
  await see("its time begins");

  expect(seen).toEqual([
    { name: "createSecret", signsWithOld: true, published: 1, statuses: [200, 200] },
    { name: "setSecret", signsWithOld: true, published: 2, statuses: [200, 200] },
    { name: "testSecret", signsWithOld: true, published: 2, statuses: [200, 200] },
    { name: "finishSecret", signsWithOld: true, published: 2, statuses: [200, 200] },
    { name: "its time begins", signsWithOld: false, published: 2, statuses: [200, 200] },
  ]);
});

test("the new key is known to an authorizer that has just looked for an unknown key, long before it signs", async () => {
  const current = await service.signingKey();
  const unknown = { ...current, kid: randomUUID() };
  expect(await statusWith(freshTokenOf(unknown))).toBe(401);

  await rotate();
  await untilCooledDown();

  expect(await statusWith(freshTokenOf(await service.signingKey()))).toBe(200);
  expect(publicKeyCacheSeconds + ownKeysCooldownSeconds).toBeLessThan(firstUseSeconds);
});

test("the rotation publishes both keys, the old one until its last token has expired", async () => {
  const old = await service.signingKey();
  const before = Date.now() / 1_000;
  await rotate();
  const current = await service.signingKey();

  expect(current.kid).not.toBe(old.kid);
  expect(await publishedIds()).toEqual(expect.arrayContaining([old.kid, current.kid]));
  expect(await endOf(current.kid)).toBeUndefined();
  // A function signs with the old key until the time of the new one begins; that token lives its whole life.
  const lifetime = Number(configuration.TOKEN_LIFETIME_SECONDS.default);
  const lastTokenEnds = before + firstUseSeconds + lifetime + clockToleranceSeconds;
  expect(await endOf(old.kid)).toBeGreaterThanOrEqual(lastTokenEnds);
  expect(await endOf(old.kid)).toBeLessThan(lastTokenEnds + 300);
});

test("every step of the rotation can be repeated without changing its result", async () => {
  const old = await service.signingKey();
  const token = randomUUID();
  const pending = async () => {
    const command = new GetSecretValueCommand({ SecretId: service.secretId, VersionId: token });
    return (await service.secrets.send(command)).SecretString;
  };

  await step("createSecret", token);
  const made = await pending();
  await step("createSecret", token);
  expect(await pending()).toBe(made);
  for (const name of ["setSecret", "setSecret", "testSecret", "testSecret", "finishSecret"] as const) {
    await step(name, token);
  }
  const published = await publishedIds();
  // The first finishSecret was a while ago.
  const end = Math.floor(Date.now() / 1_000) + 3_000;
  const { d: _, ...open } = old;
  const jwk = { ...open, alg: "ES256", use: "sig" };
  await service.put("signing-keys", { use: "sig", kid: old.kid, jwk, expiresAt: end });
  await step("finishSecret", token);

  expect(await secretText()).toBe(made);
  expect(await publishedIds()).toEqual(published);
  expect(await endOf(old.kid)).toBe(end);
  expect(await endOf((await service.signingKey()).kid)).toBeUndefined();
  const { VersionIdsToStages = {} } = await service.secrets.send(
    new DescribeSecretCommand({ SecretId: service.secretId }),
  );
  expect(VersionIdsToStages[token]).toContain("AWSCURRENT");
});

test("the rotation refuses to test an unpublished key and to finish a version without a key", async () => {
  const current = await service.signingKey();
  const token = randomUUID();

  await expect(step("setSecret", token)).rejects.toThrow();
  await expect(step("finishSecret", token)).rejects.toThrow();
  await step("createSecret", token);
  await expect(step("testSecret", token)).rejects.toThrow();

  expect((await service.signingKey()).kid).toBe(current.kid);
  await letNewestKeySign();
  expect(decodeProtectedHeader(await newLogin()).kid).toBe(current.kid);
});

test("the rotation refuses a key that was published too late to be known everywhere when it signs", async () => {
  const token = randomUUID();
  await step("createSecret", token);
  await step("setSecret", token);
  const command = new GetSecretValueCommand({ SecretId: service.secretId, VersionId: token });
  const { SecretString = "" } = await service.secrets.send(command);
  const { kid, kty, crv, x, y, signsFrom = 0 } = signingSecret.parse(JSON.parse(SecretString));
  const publishAt = (publishedAt: number) => {
    const jwk = { kid, kty, crv, x, y, alg: "ES256", use: "sig" };
    return service.put("signing-keys", { use: "sig", kid, jwk, publishedAt });
  };

  await publishAt(signsFrom - publicKeyCacheSeconds + 1);
  await expect(step("testSecret", token)).rejects.toThrow("published too late");
  await publishAt(signsFrom - publicKeyCacheSeconds);
  await step("testSecret", token);
});

test("the rotation removes expired keys from the secret", async () => {
  await rotate();
  await letNewestKeySign();
  const signing = await service.signingKey();

  await rotate();

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
