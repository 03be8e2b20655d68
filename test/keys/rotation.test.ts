import { createPrivateKey, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DeleteItemCommand, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import type { accessToken } from "../../functions/profile/access-token.ts";
import { configuration } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import type { publicKeys } from "../../shared/tokens/signing-keys.ts";
import {
  clockToleranceSeconds,
  firstUseSeconds,
  ownKeysCooldownSeconds,
  type PrivateJwk,
  publicKeyCacheSeconds,
  signingKeyCacheSeconds,
} from "../../shared/tokens/token.ts";
import { claimsOf } from "../support/client.ts";
import { functionOf, type OwnService, startOwnService } from "../support/own-service.ts";
import { isWhole, runs } from "../support/sample.ts";
import { signedBy, tokenOf } from "../support/signed.ts";

const steps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;
const credentials = { emailaddress: "rotation@example.com", password: "a password for the rotation" };
const profile = {
  ID: 1,
  Username: "Rotation",
  DateCreated: "2026-01-01T00:00:00Z",
  IsProfilePublic: false,
  EmailAddress: credentials.emailaddress,
  Permissions: "qos-profiles:read",
};
const lifetimeSeconds = Number(configuration.TOKEN_LIFETIME_SECONDS.default);

let service: OwnService;

beforeAll(async () => {
  // What this file sends would be too much of a caller in one minute.
  service = await startOwnService({ RATE_LIMIT_PER_MINUTE: "1000000", DAILY_QUOTA: "1000000" });
  const passwordHash = await service.hashOf(credentials.password);
  await service.put("profiles", { ...profile, address: hashed(credentials.emailaddress), passwordHash });
});
afterAll(() => service.close());

async function rotate(betweenSteps: () => Promise<unknown> = async () => {}): Promise<void> {
  const token = randomUUID();
  for (const Step of steps) {
    const event = { SecretId: service.secretId, ClientRequestToken: token, Step };
    await service.invoke(functionOf(service, "keys/rotate"), event);
    await betweenSteps();
  }
}

const loggedIn = z.object({ Data: z.object({ access_token: z.string() }) });

/** What was answered; a busy machine that answers too late is asked again. */
async function unlessLate<Answered extends { readonly status: number }>(
  ask: () => Promise<Answered>,
): Promise<Answered> {
  for (let attempt = 0; ; attempt++) {
    const answer = await ask();
    if (answer.status !== 504 || attempt === 5) return answer;
  }
}

/** A login at a function that is warm. */
async function logIn(): Promise<string> {
  const body = JSON.stringify(credentials);
  const answer = await unlessLate(() => service.call("/v3/profile/authenticate", { method: "POST", body }));
  expect(answer.status).toBe(200);
  return loggedIn.parse(answer.body).Data.access_token;
}

const functionAnswer = z.object({ statusCode: z.number(), body: z.string() });

/** A login at a function that starts for it, and so reads the secret now. */
async function logInCold(): Promise<string> {
  const event = {
    headers: {},
    body: JSON.stringify(credentials),
    isBase64Encoded: false,
    requestContext: { identity: { sourceIp: "192.0.2.1" } },
  };
  const id = functionOf(service, "profile/authenticate");
  const { status, body } = await unlessLate(async () => {
    const answer = functionAnswer.parse(await service.invoke(id, event, { environment: {} }));
    return { status: answer.statusCode, body: answer.body };
  });
  expect(status).toBe(200);
  return loggedIn.parse(JSON.parse(body)).Data.access_token;
}

/** A token nobody has verified yet; the gateway remembers what the authorizer said of a token. */
function tokenSignedWith(jwk: PrivateJwk): string {
  const privateKey = createPrivateKey({ key: { ...jwk }, format: "jwk" });
  const header = { alg: "ES256", typ: "at+jwt", kid: jwk.kid };
  return tokenOf(header, claimsOf("client"), signedBy({ kid: jwk.kid, jwk, privateKey }));
}

async function statusWith(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const path = "/qualityondemand/retrieve-qos-profiles";
  const { status } = await unlessLate(() => service.call(path, { method: "POST", headers, body: "{}" }));
  return status;
}

const keySet = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) });

async function publishedKeys(): Promise<JSONWebKeySet & z.output<typeof keySet>> {
  return keySet.parse((await service.call("/.well-known/jwks.json")).body);
}

/** Whether somebody who has nothing but these keys takes a token at a moment. */
async function isTaken(token: string, keys: JSONWebKeySet, now = new Date()): Promise<boolean> {
  const options = { issuer: configuration.TOKEN_ISSUER.default, typ: "at+jwt", currentDate: now };
  return await jwtVerify(token, createLocalJWKSet(keys), options).then(
    () => true,
    () => false,
  );
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid ?? "";

const rotations = runs(2, 1);

test("no token is refused during rotations in a row, here and by a verifier that has kept earlier keys", async () => {
  const keptElsewhere = await publishedKeys();
  const first = await service.signingKey();
  const signers = [first];
  let isOver = false;
  /** The number of the last turn that each loop has ended. */
  const turns = new Map<string, number>();
  const refused: unknown[] = [];

  const verify = async (name: string, token: string, keepsKeys = true) => {
    const status = await statusWith(token);
    const taken = !keepsKeys || (await isTaken(token, keptElsewhere));
    if (status !== 200 || !taken) refused.push({ name, status, taken, kid: kidOf(token) });
  };
  /** The number of the turn that every loop is asked for. */
  let asked = 0;
  /** Waits until a turn is asked for that the loop has not begun, or until some time has passed. */
  const rest = async (begun: number) => {
    const until = Date.now() + runs(20, 3_000);
    while (!isOver && begun === asked && Date.now() < until) await wait(20);
  };
  /** Gets tokens and has them verified over and over, one at a time. */
  const keepOn = async (name: string, tokenNow: () => Promise<string>, keepsKeys = true) => {
    turns.set(name, 0);
    while (!isOver) {
      const begun = asked;
      await verify(name, await tokenNow(), keepsKeys);
      turns.set(name, begun);
      await rest(begun);
    }
  };
  const numbers = isWhole ? [1, 2] : [1];
  const loops = [
    ...numbers.map((number) => keepOn(`login ${number}`, logIn)),
    ...numbers.map((number) => keepOn(`token of before ${number}`, async () => tokenSignedWith(first))),
    keepOn("token of the newest key", async () => tokenSignedWith(signers.at(-1) ?? first), false),
  ];
  const over = Promise.all(loops);
  /** Until every loop has begun a turn and ended it, and a function that has just started has signed. */
  const everybody = async () => {
    asked++;
    // In a sample once: `rotate.test.ts` starts a function after every step.
    if (isWhole || asked === 1) await verify("login at a cold function", await logInCold());
    const areRound = () => [...turns.values()].every((turn) => turn === asked);
    // A loop that fails ends the waiting.
    while (!areRound()) await Promise.race([wait(20), over]);
  };

  try {
    await everybody();
    for (let rotation = 0; rotation < rotations; rotation++) {
      await rotate(everybody);
      // Nothing is signed with a key as new as this one; it is known here within the authorizer's cool-down.
      await wait(ownKeysCooldownSeconds * 1_000 + 100);
      signers.push(await service.signingKey());
      await everybody();
    }
  } finally {
    isOver = true;
    await over;
  }

  expect(refused).toEqual([]);
  expect(new Set(signers.map(({ kid }) => kid)).size).toBe(rotations + 1);
  const published = (await publishedKeys()).keys.map(({ kid }) => kid);
  expect(published).toEqual(expect.arrayContaining(signers.map(({ kid }) => kid)));
}, 120_000);

describe("as time goes by after two rotations in a row", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  /** What signs and what publishes, in this process and so with a clock of ours. */
  async function coldSigner(): Promise<{
    readonly tokenAt: (now: Date) => Promise<string>;
    readonly publicAt: (now: Date) => Promise<Awaited<ReturnType<typeof publicKeys>>>;
  }> {
    const environment = service.environmentOf(functionOf(service, "profile/authenticate"));
    for (const [name, value] of Object.entries(environment)) {
      if (/^(?:AWS|TABLE|TOKEN|SIGNING)_/.test(name)) vi.stubEnv(name, value);
    }
    vi.resetModules();
    const signal = () => AbortSignal.timeout(60_000);
    const signing: { accessToken: typeof accessToken } = await import(
      "../../functions/profile/access-token.ts"
    );
    const publishing: { publicKeys: typeof publicKeys } = await import("../../shared/tokens/signing-keys.ts");
    return {
      tokenAt: async (now) => (await signing.accessToken(profile, now, signal())).token,
      publicAt: (now) => publishing.publicKeys(now, signal()),
    };
  }

  async function endOf(kid: string): Promise<number | undefined> {
    const command = new GetItemCommand({
      TableName: service.tableName("signing-keys"),
      Key: marshall({ use: "sig", kid }),
    });
    const { Item = {} } = await service.database.send(command);
    return z.object({ expiresAt: z.number().optional() }).parse(unmarshall(Item)).expiresAt;
  }

  test("a key is published before it signs and until its last token has expired", async () => {
    const before = { keys: await publishedKeys(), at: Date.now() };
    // One that remembers the key before for as long as it may, and one that knows everything.
    const remembering = await coldSigner();
    const old = kidOf(await remembering.tokenAt(new Date(before.at)));
    await rotate();
    const middle = (await service.signingKey()).kid;
    await rotate();
    const newest = (await service.signingKey()).kid;
    const after = { keys: await publishedKeys(), at: Date.now() };
    const knowing = await coldSigner();

    const lastUse = new Map<string, number>();
    const untaken: unknown[] = [];
    for (let second = 0; second <= 3 * firstUseSeconds; second += runs(10, 30)) {
      const now = new Date(after.at + second * 1_000);
      const oldestKept = now.getTime() - publicKeyCacheSeconds * 1_000;
      const kept = oldestKept < after.at ? [before.keys, after.keys] : [after.keys];
      for (const signer of [remembering, knowing]) {
        const token = await signer.tokenAt(now);
        lastUse.set(kidOf(token), now.getTime() / 1_000);
        for (const keys of kept) {
          if (!(await isTaken(token, keys, now))) untaken.push({ second, kid: kidOf(token) });
        }
      }
    }

    expect(untaken).toEqual([]);
    expect([...lastUse.keys()].at(-1)).toBe(newest);
    expect(lastUse.get(newest)).toBeGreaterThan(after.at / 1_000 + 2 * firstUseSeconds);
    for (const kid of [old, middle]) {
      const used = lastUse.get(kid) ?? 0;
      const lastTokenEnds = used + lifetimeSeconds + clockToleranceSeconds;
      const end = (await endOf(kid)) ?? Number.NaN;
      expect(end).toBeGreaterThan(lastTokenEnds);
      const kidsAt = async (time: number) =>
        (await knowing.publicAt(new Date(time * 1_000))).map((key) => key.kid);
      expect(await kidsAt(lastTokenEnds)).toContain(kid);
      expect(await kidsAt(end - 1)).toContain(kid);
      expect(await kidsAt(end)).not.toContain(kid);
    }
    expect(lastUse.has(old)).toBe(true);
    expect(await endOf(newest)).toBeUndefined();
  }, 60_000);

  test("a login function that has cached the previous key signs with the new one once it must", async () => {
    const remembering = await coldSigner();
    const now = Date.now();
    await remembering.tokenAt(new Date(now));
    await rotate();
    const { kid } = await service.signingKey();

    const signsAfter = async (seconds: number) =>
      kidOf(await remembering.tokenAt(new Date(now + seconds * 1_000)));

    expect(signingKeyCacheSeconds).toBeLessThan(firstUseSeconds);
    expect(await signsAfter(firstUseSeconds - 1)).not.toBe(kid);
    expect(await signsAfter(firstUseSeconds + 10)).toBe(kid);
  });

  test("a key that an operator deleted is not published again once it has expired", async () => {
    const thrownAway = (await service.signingKey()).kid;
    await rotate();
    const over = new Date(Date.now() + (firstUseSeconds + 10) * 1_000);
    await service.database.send(
      new DeleteItemCommand({
        TableName: service.tableName("signing-keys"),
        Key: marshall({ use: "sig", kid: thrownAway }),
      }),
    );

    const signer = await coldSigner();
    const token = await signer.tokenAt(over);
    const published = (await signer.publicAt(over)).map(({ kid }) => kid);

    expect(published).toContain(kidOf(token));
    expect(published).not.toContain(thrownAway);
  });

  test("an authorizer with the oldest keys it may cache accepts a new key's first token without fetching", async () => {
    await rotate();
    const { kid } = await service.signingKey();
    const signer = await coldSigner();
    const { KeySet } = await import("../../functions/authorizer/key-set.ts");
    const { callerOf, ownIssuer } = await import("../../functions/authorizer/verify.ts");
    const trusted = ownIssuer(configuration.TOKEN_ISSUER.default, configuration.TOKEN_AUDIENCE.default);
    const fetched: Promise<{ keys: Awaited<ReturnType<typeof publicKeys>> }>[] = [];
    const firstUse = new Date(Date.now() + (firstUseSeconds + 1) * 1_000);
    const asked = new Date(firstUse.getTime() - publicKeyCacheSeconds * 1_000);
    const keys = new KeySet({
      fetch: () => {
        if (fetched.length > 0) return Promise.reject(new Error("the table does not answer"));
        fetched.push(signer.publicAt(asked).then((jwks) => ({ keys: jwks })));
        return fetched[0] ?? Promise.reject(new Error("not asked"));
      },
      timeoutMilliseconds: 2_000,
      cooldownMilliseconds: 0,
      retryMilliseconds: 0,
      clock: Date.now,
      onFailure: () => {},
    });
    const issuers = [{ trusted, own: true, keys, onMissingSubscription: () => {} }];

    expect(await callerOf(await signer.tokenAt(asked), issuers, asked)).toBeDefined();
    const token = await signer.tokenAt(firstUse);
    expect(kidOf(token)).toBe(kid);
    expect(await callerOf(token, issuers, firstUse)).toBeDefined();
    expect(fetched).toHaveLength(1);
  });
});
