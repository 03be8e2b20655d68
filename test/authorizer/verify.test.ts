import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeySet } from "../../functions/authorizer/key-set.ts";
import { callerOf, type Issuer, ownIssuer } from "../../functions/authorizer/verify.ts";
import type { TrustedIssuer } from "../../shared/environment.ts";
import { Unavailable } from "../../shared/errors.ts";
import { anyText } from "../support/any-text.ts";
import {
  countingServer,
  ellipticKey,
  hmacWith,
  type KeyPair,
  rsaKey,
  signedBy,
  tokenOf,
} from "../support/signed.ts";

const now = new Date("2026-11-21T10:00:00Z");
const second = now.getTime() / 1_000;

const ours = ellipticKey();
const oursToo = ellipticKey();
const stranger = ellipticKey();
const theirs = rsaKey();

const times = {
  timeoutMilliseconds: 2_000,
  cooldownMilliseconds: 1_000,
  retryMilliseconds: 1_000,
  clock: Date.now,
};

function keySet(...pairs: readonly KeyPair[]): KeySet {
  const keys = pairs.map(({ jwk }) => jwk);
  return new KeySet({ fetch: async () => ({ keys }), ...times, onFailure: () => {} });
}

const own: Issuer = {
  trusted: ownIssuer("https://own.example", "own-audience"),
  own: true,
  keys: keySet(ours, oursToo),
  onMissingSubscription: () => {},
};

const foreignTrust: TrustedIssuer = {
  issuer: "https://operator.example",
  jwksUri: "https://operator.example/keys",
  audience: "operator-audience",
  algorithms: ["RS256"],
  subscriptionClaim: "line",
};
const foreign: Issuer = {
  trusted: foreignTrust,
  own: false,
  keys: keySet(theirs),
  onMissingSubscription: () => {},
};

const ownHeader = { alg: "ES256", typ: "at+jwt", kid: ours.kid };
const ownClaims = {
  iss: "https://own.example",
  aud: "own-audience",
  sub: "subject-1",
  client_id: "client-1",
  scope: "qos-profiles:read number-recycling:check",
  iat: second,
  exp: second + 600,
  jti: "token-1",
};

const foreignHeader = { alg: "RS256", typ: "JWT", kid: theirs.kid };
/** Those of an application that asks for itself: it is its own subject (RFC 9068 section 2.2). */
const foreignClaims = {
  iss: foreignTrust.issuer,
  aud: foreignTrust.audience,
  sub: "their-client",
  client_id: "their-client",
  scope: "qos-profiles:read",
  exp: second + 600,
};

type Members = Readonly<Record<string, unknown>>;

const verify = (token: string, ...issuers: readonly Issuer[]) =>
  callerOf(token, issuers.length > 0 ? issuers : [own, foreign], now);
/** JSON leaves out members that are undefined: that takes a claim or a header member away. */
const ownToken = (claims: Members = {}, header: Members = {}) =>
  tokenOf({ ...ownHeader, ...header }, { ...ownClaims, ...claims }, signedBy(ours));
const foreignToken = (claims: Members = {}, header: Members = {}) =>
  tokenOf({ ...foreignHeader, ...header }, { ...foreignClaims, ...claims }, signedBy(theirs));

describe("our token", () => {
  test("callerOf returns the client, scopes and expiry of our token, and no subscription", async () => {
    expect(await verify(ownToken())).toEqual({
      client: "client-1",
      scopes: ["qos-profiles:read", "number-recycling:check"],
      expires: second + 600,
    });
  });

  test("callerOf returns the subscription of our 3-legged token", async () => {
    expect(await verify(ownToken({ subscription: "sub-42" }))).toMatchObject({ subscription: "sub-42" });
  });

  test("callerOf returns each word of the scope once", async () => {
    const caller = await verify(ownToken({ scope: " one  two one constructor " }));
    expect(caller).toMatchObject({ scopes: ["one", "two", "constructor"] });
  });

  test("callerOf accepts our token signed with either of two valid keys", async () => {
    const header = { ...ownHeader, kid: oursToo.kid };
    const token = tokenOf(header, ownClaims, signedBy(oursToo));

    expect(await verify(ownToken())).toBeDefined();
    expect(await verify(token)).toBeDefined();
  });

  test("callerOf accepts our token from five seconds before it begins until five seconds after it ends", async () => {
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
  test.each(Object.entries(claims))("callerOf refuses our token %s", async (_, wrong) => {
    expect(await verify(ownToken(wrong))).toBeUndefined();
  });

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
  test.each(Object.entries(headers))("callerOf refuses our token %s", async (_, wrong) => {
    expect(await verify(ownToken({}, wrong))).toBeUndefined();
  });

  test.each(["1e999", "-1e999"])(
    "callerOf refuses our token with the expiry %s, which is not finite",
    async (end) => {
      const payload = JSON.stringify({ ...ownClaims, exp: "EXP" }).replace('"EXP"', end);
      expect(await verify(tokenOf(ownHeader, payload, signedBy(ours)))).toBeUndefined();
    },
  );

  test("callerOf refuses our token signed with an unknown key", async () => {
    expect(await verify(tokenOf(ownHeader, ownClaims, signedBy(stranger)))).toBeUndefined();
  });

  test("callerOf refuses our token when its signature, header or payload was changed", async () => {
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

  test.each(["none", "NONE", "None", ""])(
    "callerOf refuses our token with the algorithm %j, signed or not",
    async (alg) => {
      const unsigned = () => Buffer.alloc(0);
      expect(await verify(tokenOf({ ...ownHeader, alg }, ownClaims, unsigned))).toBeUndefined();
      expect(await verify(tokenOf({ ...ownHeader, alg }, ownClaims, signedBy(ours)))).toBeUndefined();
    },
  );

  test("callerOf refuses our token signed with the public key as a shared secret", async () => {
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

  test("callerOf ignores keys and key addresses in the header of a token, and fetches nothing", async () => {
    const server = await countingServer((_, response) => {
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
    await server.close();

    expect(callers.every((caller) => caller === undefined)).toBe(true);
    expect(good).toBeDefined();
    expect(server.requests()).toBe(0);
  });

  test("callerOf refuses our token signed with the key of another issuer", async () => {
    const header = { ...foreignHeader, typ: "at+jwt" };
    expect(await verify(tokenOf(header, ownClaims, signedBy(theirs)))).toBeUndefined();
  });

  test("callerOf refuses our token when no issuer is configured", async () => {
    expect(await callerOf(ownToken(), [], now)).toBeUndefined();
  });
});

describe("any token", () => {
  test("callerOf refuses text that is no token", async () => {
    const almost = fc
      .array(fc.base64String(), { minLength: 0, maxLength: 6 })
      .map((parts) => parts.join("."));
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText(), almost), async (token) => {
        expect(await verify(token)).toBeUndefined();
      }),
    );
  });

  test("callerOf refuses text of many megabytes", async () => {
    expect(await verify("a".repeat(5_000_000))).toBeUndefined();
    expect(await verify(`${"a.".repeat(1_000_000)}a`)).toBeUndefined();
    expect(await verify(`${ownToken()}${"A".repeat(5_000_000)}`)).toBeUndefined();
    const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    expect(await verify(tokenOf(ownHeader, nested, signedBy(stranger)))).toBeUndefined();
  });

  test("callerOf refuses any header and payload signed with an unknown key, and never throws", async () => {
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

  test("callerOf returns a well-formed caller or none for any payload that we signed", async () => {
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

describe("the token of another issuer", () => {
  test("callerOf accepts another issuer's token for an application, as 2-legged", async () => {
    expect(await verify(foreignToken())).toEqual({
      client: "https://operator.example their-client",
      scopes: ["qos-profiles:read"],
      expires: second + 600,
    });
  });

  test("callerOf reads the subscription from the claim that the operator names, and from no other", async () => {
    const { subscriptionClaim: _, ...trusted } = foreignTrust;
    const withoutClaim: Issuer = { ...foreign, trusted };

    const named = await verify(foreignToken({ line: "sub-7", subscription: "sub-8" }));
    const unnamed = await verify(foreignToken({ line: "sub-7", subscription: "sub-8" }), withoutClaim);

    expect(named).toMatchObject({ subscription: "sub-7" });
    expect(unnamed).not.toHaveProperty("subscription");
  });

  test.each([[42], [null], [""], [["sub-7"]], [{ id: "sub-7" }], [true], ["s".repeat(129)]])(
    "callerOf refuses another issuer's token when its subscription claim is %j",
    async (line) => {
      expect(await verify(foreignToken({ line }))).toBeUndefined();
    },
  );

  const people: Record<string, Members> = {
    "whose subject is not its client": { sub: "ada" },
    "whose subject is its client in another case": { sub: "Their-Client" },
    "whose subject is its client with a space": { sub: "their-client " },
    "that names no client": { client_id: undefined },
    "that names no client, and the subscription in another case": {
      client_id: undefined,
      Line: "sub-7",
    },
    "whose subject is its authorized party but not its client": { sub: "party", azp: "party" },
    "whose subject is not its authorized party": { client_id: undefined, azp: "party" },
    "with a subscription in a claim that the operator does not name": { sub: "ada", subscription: "sub-8" },
  };
  test.each(Object.entries(people))(
    "callerOf refuses another issuer's token %s, and reports that it lacks a subscription",
    async (_, claims) => {
      const told: unknown[] = [];
      const issuer: Issuer = { ...foreign, onMissingSubscription: () => void told.push("told") };

      expect(await verify(foreignToken(claims), own, issuer)).toBeUndefined();
      expect(told).toEqual(["told"]);
    },
  );

  test("callerOf accepts another issuer's token whose subject is its authorized party, as 2-legged", async () => {
    const caller = await verify(foreignToken({ client_id: undefined, azp: "party", sub: "party" }));
    expect(caller).toMatchObject({ client: "https://operator.example party" });
    expect(caller).not.toHaveProperty("subscription");
  });

  test("callerOf does not report a missing subscription when it refuses a token for another reason", async () => {
    const told: unknown[] = [];
    const issuer: Issuer = { ...foreign, onMissingSubscription: () => void told.push("told") };
    const wrong: Members[] = [
      { aud: "other" },
      { exp: 1 },
      { cnf: {} },
      { iat: second + 6 },
      { sub: "" },
      { line: 42 },
    ];

    for (const claims of wrong) {
      expect(await verify(foreignToken({ sub: "ada", ...claims }), own, issuer)).toBeUndefined();
    }
    expect(told).toEqual([]);
  });

  describe("the token of an issuer with tokens for applications only", () => {
    const applications: Issuer = { ...foreign, trusted: { ...foreignTrust, applicationsOnly: true } };
    const verifyTheirs = (claims: Members) => verify(foreignToken(claims), own, applications);

    test("callerOf accepts any subject of an issuer with applications only, as 2-legged", async () => {
      for (const claims of [{ sub: "service-account" }, { sub: "service-account", client_id: undefined }]) {
        const caller = await verifyTheirs(claims);
        expect(caller).toMatchObject({ scopes: ["qos-profiles:read"] });
        expect(caller).not.toHaveProperty("subscription");
      }
    });

    test("callerOf reads the subscription claim of an issuer with applications only, and refuses a malformed one", async () => {
      expect(await verifyTheirs({ line: "sub-7" })).toMatchObject({ subscription: "sub-7" });
      for (const line of [null, "", 42, ["sub-7"], {}]) expect(await verifyTheirs({ line })).toBeUndefined();
    });

    test("callerOf refuses a token of an issuer with applications only without a subject or our audience", async () => {
      for (const claims of [{ sub: "" }, { sub: undefined }, { sub: ["a"] }, { aud: "own-audience" }]) {
        expect(await verifyTheirs(claims)).toBeUndefined();
      }
    });
  });

  test.each([[{ jkt: "thumbprint" }], [{ "x5t#S256": "thumbprint" }], [{}], [null]])(
    "callerOf refuses another issuer's token that is bound to the key %j",
    async (cnf) => {
      expect(await verify(foreignToken({ cnf }))).toBeUndefined();
    },
  );

  test.each(["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", undefined])(
    "callerOf accepts another issuer's token of the type %j",
    async (typ) => {
      expect(await verify(foreignToken({}, { typ }))).toBeDefined();
    },
  );

  test.each(["id+jwt", "logout+jwt", "dpop+jwt", "JOSE", "", 5, {}, [], null])(
    "callerOf refuses another issuer's token of the type %j",
    async (typ) => {
      expect(await verify(foreignToken({}, { typ }))).toBeUndefined();
    },
  );

  test("callerOf accepts another issuer's token when its audience is one of several", async () => {
    expect(await verify(foreignToken({ aud: ["other", foreignTrust.audience] }))).toBeDefined();
    expect(await verify(foreignToken({ aud: ["other", "own-audience"] }))).toBeUndefined();
  });

  test("callerOf names another issuer's client by client_id, else azp, else sub", async () => {
    const nameIn = async (claims: Members) =>
      (await verify(foreignToken({ sub: "ada", line: "sub-7", ...claims })))?.client;

    expect(await nameIn({ azp: "party" })).toBe("https://operator.example their-client");
    expect(await nameIn({ client_id: undefined, azp: "party" })).toBe("https://operator.example party");
    expect(await nameIn({ client_id: undefined })).toBe("https://operator.example ada");
  });

  test("callerOf never gives another issuer's client the name of a client of ours", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 30 }), async (name) => {
        const mine = await verify(ownToken({ client_id: name, sub: name }));
        const other = await verify(foreignToken({ client_id: name, sub: name }));

        expect(mine?.client).toBe(name);
        expect(other?.client).not.toBe(name);
      }),
      { numRuns: 30 },
    );
  });

  test("callerOf accepts another issuer's token without scope and iat, and returns no scopes", async () => {
    const caller = await verify(foreignToken({ scope: undefined, iat: undefined }));
    expect(caller).toMatchObject({ scopes: [] });
  });

  const wrong: Record<string, Members> = {
    "is for our own audience": { aud: "own-audience" },
    "is for another audience and has no scope": { aud: "own-audience", scope: "" },
    "is for an audience that only begins like ours": { aud: `${foreignTrust.audience}-2` },
    "has no audience": { aud: undefined },
    "has an empty list of audiences": { aud: [] },
    "has an audience that is an object": { aud: { [foreignTrust.audience]: true } },
    "has an audience within a list of a list": { aud: [[foreignTrust.audience]] },
    "has no end": { exp: undefined },
    "has expired": { exp: second - 5 },
    "is issued in the future": { iat: second + 6 },
    "begins in the future": { nbf: second + 6 },
    "has no subject": { sub: undefined },
    "has a subject that is null": { sub: null },
    "has an empty subject": { sub: "" },
    "has a list of subjects": { sub: ["their-client"] },
    "has a scope that is a list": { scope: ["qos-profiles:read"] },
    "has a scope that is null": { scope: null },
    "has an empty client": { client_id: "" },
    "has an empty authorized party": { azp: "" },
    "has a list of authorized parties": { client_id: undefined, azp: ["their-client"] },
    "has a client that is a number": { client_id: 1 },
    "says that it is ours": { iss: "https://own.example" },
    "is of an issuer nobody trusts": { iss: "https://stranger.example" },
  };
  test.each(Object.entries(wrong))("callerOf refuses another issuer's token that %s", async (_, claims) => {
    expect(await verify(foreignToken(claims))).toBeUndefined();
  });

  test("callerOf refuses another issuer's token with an algorithm that is not pinned for the issuer", async () => {
    const both: Issuer = { ...foreign, keys: keySet(theirs, ours) };
    const elliptic = tokenOf({ alg: "ES256", kid: ours.kid }, foreignClaims, signedBy(ours));

    expect(await verify(elliptic, both)).toBeUndefined();
    expect(await verify(foreignToken(), both)).toBeDefined();
  });

  test("callerOf refuses another issuer's token signed with our key", async () => {
    const token = tokenOf({ alg: "ES256", kid: ours.kid }, foreignClaims, signedBy(ours));
    expect(await verify(token)).toBeUndefined();
  });

  test("callerOf rejects with Unavailable while another issuer's keys are unreachable, and accepts our token", async () => {
    const keys = new KeySet({
      fetch: () => Promise.reject(new Error("no route")),
      ...times,
      onFailure: () => {},
    });
    const unreachable: Issuer = { ...foreign, keys };

    await expect(verify(foreignToken(), own, unreachable)).rejects.toBeInstanceOf(Unavailable);
    expect(await verify(ownToken(), own, unreachable)).toBeDefined();
  });
});
