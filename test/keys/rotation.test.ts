import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { configuration } from "../../infra/variables.ts";
import type { accessToken } from "../../shared/tokens/access-token.ts";
import type { publicKeys } from "../../shared/tokens/signing-keys.ts";
import { clockToleranceSeconds, firstUseSeconds, publicKeyCacheSeconds } from "../../shared/tokens/token.ts";
import type { OwnService } from "../support/own-service.ts";
import { runs } from "../support/sample.ts";
import { expiryOf, profile, publishedKeys, rotate, startRotationService } from "./rotation-service.ts";

const lifetimeSeconds = Number(configuration.TOKEN_LIFETIME_SECONDS.default);

let service: OwnService;

beforeAll(async () => {
  service = await startRotationService();
});
afterAll(() => service.close());

/** Whether a verifier that has only these keys accepts a token at a time. */
async function isAccepted(token: string, keys: JSONWebKeySet, now = new Date()): Promise<boolean> {
  const options = { issuer: configuration.TOKEN_ISSUER.default, typ: "at+jwt", currentDate: now };
  return await jwtVerify(token, createLocalJWKSet(keys), options).then(
    () => true,
    () => false,
  );
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid ?? "";

describe("at later times", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  /** Signing and publishing in this process, with a clock that the test sets and nothing cached. */
  async function coldSigner(): Promise<{
    readonly tokenAt: (now: Date) => Promise<string>;
    readonly keyAgeAt: (now: Date) => Promise<number | undefined>;
    readonly publicAt: (now: Date) => Promise<Awaited<ReturnType<typeof publicKeys>>>;
  }> {
    const environment = service.environmentOf("profile/authenticate");
    for (const [name, value] of Object.entries(environment)) {
      if (/^(?:AWS|TABLE|TOKEN|SIGNING)_/.test(name)) vi.stubEnv(name, value);
    }
    vi.resetModules();
    const signal = () => AbortSignal.timeout(60_000);
    const holder = { client: "1", subject: "1", scope: profile.Permissions };
    const signing: { accessToken: typeof accessToken } = await import("../../shared/tokens/access-token.ts");
    const publishing: { publicKeys: typeof publicKeys } = await import("../../shared/tokens/signing-keys.ts");
    return {
      tokenAt: async (now) => (await signing.accessToken(holder, now, signal())).token,
      keyAgeAt: async (now) => (await signing.accessToken(holder, now, signal())).keyAgeDays,
      publicAt: (now) => publishing.publicKeys(now, signal()),
    };
  }

  test("a login by a clock that is behind reports a key that is 0 days old, and no negative age", async () => {
    const signer = await coldSigner();

    expect(await signer.keyAgeAt(new Date(Date.now() - 86_400_000))).toBe(0);
  });

  test("a key is published before it signs and until its last token has expired", async () => {
    const before = { keys: await publishedKeys(service), at: Date.now() };
    // `remembering` has cached the first key; `knowing` reads all keys after the rotations.
    const remembering = await coldSigner();
    const old = kidOf(await remembering.tokenAt(new Date(before.at)));
    await rotate(service);
    const middle = (await service.signingKey()).kid;
    await rotate(service);
    const newest = (await service.signingKey()).kid;
    const after = { keys: await publishedKeys(service), at: Date.now() };
    const knowing = await coldSigner();

    const lastUse = new Map<string, number>();
    const refused: unknown[] = [];
    for (let second = 0; second <= 3 * firstUseSeconds; second += runs(10, 30)) {
      const now = new Date(after.at + second * 1_000);
      const oldestKept = now.getTime() - publicKeyCacheSeconds * 1_000;
      const kept = oldestKept < after.at ? [before.keys, after.keys] : [after.keys];
      for (const signer of [remembering, knowing]) {
        const token = await signer.tokenAt(now);
        lastUse.set(kidOf(token), now.getTime() / 1_000);
        for (const keys of kept) {
          if (!(await isAccepted(token, keys, now))) refused.push({ second, kid: kidOf(token) });
        }
      }
    }

    expect(refused).toEqual([]);
    expect([...lastUse.keys()].at(-1)).toBe(newest);
    expect(lastUse.get(newest)).toBeGreaterThan(after.at / 1_000 + 2 * firstUseSeconds);
    for (const kid of [old, middle]) {
      const used = lastUse.get(kid) ?? 0;
      const lastTokenEnds = used + lifetimeSeconds + clockToleranceSeconds;
      const end = (await expiryOf(service, kid)) ?? Number.NaN;
      expect(end).toBeGreaterThan(lastTokenEnds);
      const kidsAt = async (time: number) =>
        (await knowing.publicAt(new Date(time * 1_000))).map((key) => key.kid);
      expect(await kidsAt(lastTokenEnds)).toContain(kid);
      expect(await kidsAt(end - 1)).toContain(kid);
      expect(await kidsAt(end)).not.toContain(kid);
    }
    expect(lastUse.has(old)).toBe(true);
    expect(await expiryOf(service, newest)).toBeUndefined();
  });

  test("a key that an operator deleted is not published again once it has expired", async () => {
    const deleted = (await service.signingKey()).kid;
    await rotate(service);
    const later = new Date(Date.now() + (firstUseSeconds + 10) * 1_000);
    await service.database.send(
      new DeleteItemCommand({
        TableName: service.tableName("signing-keys"),
        Key: marshall({ use: "sig", kid: deleted }),
      }),
    );

    const signer = await coldSigner();
    const token = await signer.tokenAt(later);
    const published = (await signer.publicAt(later)).map(({ kid }) => kid);

    expect(published).toContain(kidOf(token));
    expect(published).not.toContain(deleted);
  });
});
