import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callerOf } from "../../functions/authorizer/verify.ts";
import { anyText } from "../support/any-text.ts";
import { hmacWith, serverOfTest, signedBy, tokenOf } from "../support/signed.ts";
import {
  foreignHeader,
  type Members,
  now,
  ours,
  oursToo,
  ownClaims,
  ownHeader,
  ownToken,
  second,
  stranger,
  theirs,
  verify,
} from "./sample-issuers.ts";

describe("our token", () => {
  test("the authorizer returns the client, scopes and expiry of our token, and no subscription", async () => {
    expect(await verify(ownToken())).toEqual({
      client: "client-1",
      scopes: ["qos-profiles:read", "number-recycling:check"],
      expires: second + 600,
    });
  });

  test("the authorizer returns the subscription that our 3-legged token has sealed for its jti", async () => {
    const subscription = "sub-42 sealed for token-1";
    expect(await verify(ownToken({ subscription }))).toMatchObject({ subscription: "sub-42" });
    expect(await verify(ownToken({ subscription, jti: "token-2" }))).toBeUndefined();
    expect(await verify(ownToken({ subscription: "sub-42" }))).toBeUndefined();
  });

  test("the authorizer returns each word of the scope once", async () => {
    const caller = await verify(ownToken({ scope: " one  two one constructor " }));
    expect(caller).toMatchObject({ scopes: ["one", "two", "constructor"] });
  });

  test("the authorizer accepts our token signed with either of two valid keys", async () => {
    const header = { ...ownHeader, kid: oursToo.kid };
    const token = tokenOf(header, ownClaims, signedBy(oursToo));

    expect(await verify(ownToken())).toBeDefined();
    expect(await verify(token)).toBeDefined();
  });

  test("the authorizer accepts our token from five seconds before it begins until five seconds after it ends", async () => {
    expect(await verify(ownToken({ exp: second - 4 }))).toBeDefined();
    expect(await verify(ownToken({ iat: second + 5 }))).toBeDefined();
    expect(await verify(ownToken({ nbf: second + 5 }))).toBeDefined();
  });
});

describe("our token, refused", () => {
  const claims: Record<string, Members> = {
    "of another issuer": { iss: "https://own.example/" },
    "without an issuer": { iss: undefined },
    "with a list of issuers": { iss: ["https://own.example"] },
    "for another audience": { aud: "operator-audience" },
    "without an audience": { aud: undefined },
    "for several audiences": { aud: ["own-audience", "other"] },
    "for a list of one audience": { aud: ["own-audience"] },
    "for an empty list of audiences": { aud: [] },
    "that has expired beyond the tolerance": { exp: second - 5 },
    "that expired long ago": { exp: 1 },
    "with a negative end": { exp: -1 },
    "without an end": { exp: undefined },
    "with an end in words": { exp: String(second + 600) },
    "with an end that is null": { exp: null },
    "that begins in the future": { nbf: second + 6 },
    "whose beginning is no number": { nbf: "now" },
    "issued in the future": { iat: second + 6 },
    "without the time of issue": { iat: undefined },
    "whose time of issue is no number": { iat: "now" },
    "without a subject": { sub: undefined },
    "whose subject is null": { sub: null },
    "whose subject is empty": { sub: "" },
    "whose subject is a number": { sub: 1000 },
    "without a client": { client_id: undefined },
    "whose client is empty": { client_id: "" },
    "whose client is a list": { client_id: ["client-1"] },
    "without a scope": { scope: undefined },
    "whose scope is a list": { scope: ["qos-profiles:read"] },
    "whose scope is null": { scope: null },
    "without an identifier": { jti: undefined },
    "whose subscription is empty": { subscription: "" },
    "whose subscription is null": { subscription: null },
    "whose subscription is a number": { subscription: 42 },
    "whose subscription is an object": { subscription: { toString: "sub-42" } },
  };
  test.each(Object.entries(claims))(
    "the authorizer refuses our token by its claims: one %s",
    async (_, wrong) => {
      expect(await verify(ownToken(wrong))).toBeUndefined();
    },
  );

  const headers: Record<string, Members> = {
    "without a type": { typ: undefined },
    "of the type of an identity token": { typ: "JWT" },
    "of a type that is no word": { typ: 1 },
    "that names a key nobody knows": { kid: "unknown" },
    "that names a key by a number": { kid: 1 },
    "that names the other of two valid keys": { kid: oursToo.kid },
    "with an extension that must be understood": { crit: ["exp"], exp: second + 600 },
    "with an empty list of extensions": { crit: [] },
    "with a payload that is not encoded": { crit: ["b64"], b64: false },
    "of another algorithm": { alg: "ES384" },
    "of an algorithm that is not pinned": { alg: "RS256" },
    "of an algorithm in another case": { alg: "es256" },
    "without an algorithm": { alg: undefined },
  };
  test.each(Object.entries(headers))(
    "the authorizer refuses our token by its header: one %s",
    async (_, wrong) => {
      expect(await verify(ownToken({}, wrong))).toBeUndefined();
    },
  );

  test.each(["1e999", "-1e999"])(
    "the authorizer refuses our token with the expiry %s, which is not finite",
    async (end) => {
      const payload = JSON.stringify({ ...ownClaims, exp: "EXP" }).replace('"EXP"', end);
      expect(await verify(tokenOf(ownHeader, payload, signedBy(ours)))).toBeUndefined();
    },
  );

  test("the authorizer refuses our token signed with an unknown key", async () => {
    expect(await verify(tokenOf(ownHeader, ownClaims, signedBy(stranger)))).toBeUndefined();
  });

  test("the authorizer refuses our token when its signature, header or payload was changed", async () => {
    const [header = "", payload = "", signature = ""] = ownToken().split(".");
    const [otherHeader = "", otherPayload = ""] = ownToken({ sub: "other" }, { kid: oursToo.kid }).split(".");
    const flipped = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;

    const changed = [
      [header, payload, flipped],
      [header, otherPayload, signature],
      [otherHeader, payload, signature],
      [header, payload, ""],
      [header, payload, signature.slice(0, -2)],
      [header, payload, `${signature}AAAA`],
    ];
    for (const parts of changed) expect(await verify(parts.join("."))).toBeUndefined();
  });

  test("the authorizer accepts one of the sixteen spellings of our token's signature that decode to the same bytes", async () => {
    const token = ownToken();
    const bytesOf = (text: string) => Buffer.from(text.split(".")[2] ?? "", "base64url").toString("hex");
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spellings = [...letters]
      .map((last) => token.slice(0, -1) + last)
      .filter((spelling) => bytesOf(spelling) === bytesOf(token));

    const callers = await Promise.all(spellings.map((spelling) => verify(spelling)));

    expect(spellings).toHaveLength(16);
    expect(spellings.filter((_, index) => callers[index] !== undefined)).toEqual([token]);
  });

  test.each(["none", "NONE", "None", ""])(
    "the authorizer refuses our token with the algorithm %j, signed or not",
    async (alg) => {
      const unsigned = () => Buffer.alloc(0);
      expect(await verify(tokenOf({ ...ownHeader, alg }, ownClaims, unsigned))).toBeUndefined();
      expect(await verify(tokenOf({ ...ownHeader, alg }, ownClaims, signedBy(ours)))).toBeUndefined();
    },
  );

  test("the authorizer refuses our token signed with the public key as a shared secret", async () => {
    const header = { ...ownHeader, alg: "HS256" };
    const secrets = [
      JSON.stringify(ours.jwk),
      String(ours.jwk.x),
      Buffer.from(String(ours.jwk.x), "base64url"),
    ];
    for (const secret of secrets) {
      expect(await verify(tokenOf(header, ownClaims, hmacWith(secret)))).toBeUndefined();
    }
  });

  test("the authorizer ignores keys and key addresses in the header of a token, and fetches nothing", async () => {
    const server = await serverOfTest((_, response) => {
      response.end(JSON.stringify({ keys: [{ ...stranger.jwk, kid: "fetched" }] }));
    });
    const brought: Members[] = [
      { jku: server.url },
      { x5u: server.url },
      { jwk: stranger.jwk },
      { jku: server.url, kid: "fetched" },
      { jku: server.url, x5u: server.url, jwk: stranger.jwk, kid: undefined },
    ];

    const callers = await Promise.all(
      brought.map((header) => verify(tokenOf({ ...ownHeader, ...header }, ownClaims, signedBy(stranger)))),
    );
    const good = await verify(ownToken({}, { jku: server.url, x5u: server.url }));

    expect(callers.every((caller) => caller === undefined)).toBe(true);
    expect(good).toBeDefined();
    expect(server.requests()).toBe(0);
  });

  test("the authorizer refuses our token signed with the key of another issuer", async () => {
    const header = { ...foreignHeader, typ: "at+jwt" };
    expect(await verify(tokenOf(header, ownClaims, signedBy(theirs)))).toBeUndefined();
  });

  test("the authorizer refuses our token when no issuer is configured", async () => {
    expect(await callerOf(ownToken(), [], now)).toBeUndefined();
  });
});

describe("any token", () => {
  test("the authorizer refuses text that is no token", async () => {
    const almost = fc
      .array(fc.base64String(), { minLength: 0, maxLength: 6 })
      .map((parts) => parts.join("."));
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText(), almost), async (token) => {
        expect(await verify(token)).toBeUndefined();
      }),
    );
  });

  test("the authorizer refuses text of many megabytes", async () => {
    expect(await verify("a".repeat(5_000_000))).toBeUndefined();
    expect(await verify(`${"a.".repeat(1_000_000)}a`)).toBeUndefined();
    expect(await verify(`${ownToken()}${"A".repeat(5_000_000)}`)).toBeUndefined();
    const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    expect(await verify(tokenOf(ownHeader, nested, signedBy(stranger)))).toBeUndefined();
  });

  test("the authorizer refuses any header and payload signed with an unknown key, and never throws", async () => {
    const header = fc.dictionary(fc.constantFrom("alg", "typ", "kid", "crit", "b64", "jwk"), fc.jsonValue());
    const payload = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...Object.keys(ownClaims), "subscription"), fc.jsonValue()),
    );
    await fc.assert(
      fc.asyncProperty(header, payload, async (members, content) => {
        const claims = typeof content === "object" && !Array.isArray(content) ? content : {};
        const imitated = { ...ownClaims, ...claims, iss: ownClaims.iss };
        for (const sent of [content, imitated]) {
          const token = tokenOf({ ...ownHeader, ...members }, sent, signedBy(stranger));
          expect(await verify(token)).toBeUndefined();
        }
      }),
    );
  });

  test("the authorizer returns a well-formed caller or none for any payload that we signed", async () => {
    const claims = fc.dictionary(fc.constantFrom(...Object.keys(ownClaims), "subscription"), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(claims, async (changed) => {
        const caller = await verify(ownToken(changed));
        if (caller === undefined) return;
        expect(caller.client.length).toBeGreaterThan(0);
        expect(Number.isFinite(caller.expires)).toBe(true);
        expect(caller.subscription).not.toBe("");
      }),
    );
  });
});
