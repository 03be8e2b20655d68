import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TrustedIssuer } from "../../shared/variables/trusted-issuers.ts";
import {
  foreign,
  foreignToken,
  foreignTrust,
  foreignWith,
  type Members,
  own,
  second,
  verify,
} from "./sample-issuers.ts";

const read = "qos-profiles:read";
const check = "number-recycling:check";

/** Names that every object inherits, or that change its prototype when they are assigned. */
const inherited = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

const verifyBy = (entry: Partial<TrustedIssuer>, claims: Members = {}) =>
  verify(foreignToken(claims), own, foreignWith(entry));
const scopesBy = async (entry: Partial<TrustedIssuer>, claims: Members) =>
  (await verifyBy(entry, claims))?.scopes;

describe("the claim with the scopes", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["text", `${read} ${check}`, [read, check]],
    ["a list", [read, check], [read, check]],
    ["a list with duplicates", [read, read], [read]],
    ["an empty list", [], []],
    ["empty text", "", []],
    ["a list of empty text", ["", ""], []],
    ["a list with two scopes in one text", [`${read} ${check}`], []],
    ["text with a tab between scopes", `${read}\t${check}`, [`${read}\t${check}`]],
  ])("the authorizer reads the scopes from %s", async (_, scope, scopes) => {
    expect(await scopesBy({}, { scope })).toEqual(scopes);
    expect(await scopesBy({ scopeClaim: "scp" }, { scp: scope, scope: "everything" })).toEqual(scopes);
  });

  test("the authorizer returns no scopes when the claim that the entry names is absent", async () => {
    expect(await scopesBy({ scopeClaim: "roles" }, { scope: read, scp: read })).toEqual([]);
  });

  test.each([null, 5, true, {}, { 0: read, length: 1 }, [[read]], [read, null], [read, 5], [{ name: read }]])(
    "the authorizer refuses a token whose claim with the scopes is %j",
    async (scope) => {
      expect(await verifyBy({}, { scope })).toBeUndefined();
      expect(await verifyBy({ scopeClaim: "roles" }, { roles: scope })).toBeUndefined();
    },
  );
});

describe("the prefix of scopes", () => {
  const scopePrefix = "api/";

  test.each<[scope: string | readonly string[], scopes: readonly string[]]>([
    [`api/${read} openid ${check}`, [read]],
    [[`api/${read}`, "openid", check], [read]],
    ["api/", []],
    [["api/"], []],
    [`api/api/${read}`, [`api/${read}`]],
    [`API/${read} /api/${read} x-api/${read}`, []],
    [[`api/${read} ${check}`, ` api/${read}`], []],
    [`api/ ${read}`, []],
  ])("the authorizer reads, with a scopePrefix, %j as the scopes %j", async (scope, scopes) => {
    expect(await scopesBy({ scopePrefix }, { scope })).toEqual(scopes);
  });

  test("the authorizer compares a scopePrefix as text, not as a pattern", async () => {
    expect(await scopesBy({ scopePrefix: ".*/" }, { scope: `api/${read} .*/${check}` })).toEqual([check]);
  });
});

test.each<[scope: string | readonly string[], purpose: string | undefined]>([
  [`api/${read} dpv:Marketing`, "dpv:Marketing"],
  [[`api/${read}`, "api/dpv:Marketing"], "dpv:Marketing"],
  [`dpv:Marketing api/${read} dpv:ServiceProvision`, "dpv:Marketing dpv:ServiceProvision"],
  [`api/${read} dpv: dpv:1 Dpv:Marketing x-dpv:Marketing`, undefined],
  [[`api/${read}`, "dpv:Marketing dpv:ServiceProvision"], undefined],
])("the authorizer reads %j, with or without a scopePrefix, as the purpose %j", async (scope, purpose) => {
  const caller = await verifyBy({ scopePrefix: "api/" }, { scope });
  expect(caller?.scopes).toContain(read);
  expect(caller?.purpose).toBe(purpose);
});

describe("the audience", () => {
  const several = ["network-capabilities", "https://api.operator.example"];

  test("the authorizer accepts a token for any audience of a list, and for no other", async () => {
    for (const aud of [...several, [...several], ["other", several[1]]]) {
      expect(await verifyBy({ audience: several }, { aud })).toBeDefined();
    }
    for (const aud of [
      foreignTrust.audience,
      several.join(","),
      several.join(" "),
      [],
      {},
      [several],
      "",
      null,
    ]) {
      expect(await verifyBy({ audience: several }, { aud })).toBeUndefined();
    }
  });

  test("the authorizer reads the audience from the claim that the entry names", async () => {
    const entry = { audience: ["maps", "bank"], audienceClaim: "client_id" };
    const ofClient = (client: string) => ({ aud: undefined, client_id: client, sub: client });

    expect(await verifyBy(entry, ofClient("maps"))).toMatchObject({
      client: "https://operator.example maps",
    });
    expect(await verifyBy(entry, ofClient("bank"))).toBeDefined();
    expect(await verifyBy(entry, ofClient("wallet"))).toBeUndefined();
    expect(await verifyBy(entry, { aud: undefined, client_id: undefined })).toBeUndefined();
  });

  test("the authorizer refuses a token whose aud names another service, even with another claim for the audience", async () => {
    const entry = { audience: ["maps", "network-capabilities"], audienceClaim: "client_id" };
    const claims = { client_id: "maps", sub: "maps" };

    expect(await verifyBy(entry, { ...claims, aud: "network-capabilities" })).toBeDefined();
    for (const aud of ["another-service", ["another-service"], [], null, 5]) {
      expect(await verifyBy(entry, { ...claims, aud })).toBeUndefined();
    }
  });
});

describe("the client", () => {
  test("the authorizer takes the client from the claim that the entry names, and refuses a token without that claim", async () => {
    const entry = { clientClaim: "cid" };
    const claims = { client_id: undefined, cid: "maps", sub: "maps" };

    expect(await verifyBy(entry, claims)).toMatchObject({ client: "https://operator.example maps" });
    for (const cid of [undefined, null, "", 5, ["maps"], {}]) {
      expect(await verifyBy(entry, { ...claims, cid })).toBeUndefined();
      expect(await verifyBy(entry, { ...claims, cid, line: "sub-7" })).toBeUndefined();
    }
  });

  const rules: readonly Partial<TrustedIssuer>[] = [
    {},
    { applicationsOnly: true },
    { applicationWhen: { claim: "idtyp", equals: "app" } },
  ];
  test.each(rules)(
    "the authorizer takes a token that names two clients for a person's, with the rule %j",
    async (rule) => {
      const app = { idtyp: "app", client_id: "maps", sub: "maps" };

      expect(await verifyBy(rule, { ...app, azp: "maps" })).toBeDefined();
      expect(await verifyBy(rule, { ...app, azp: "bank" })).toBeUndefined();
      expect(await verifyBy({ ...rule, clientClaim: "cid" }, { ...app, cid: "maps" })).toBeDefined();
      expect(await verifyBy({ ...rule, clientClaim: "cid" }, { ...app, cid: "bank" })).toBeUndefined();
      expect(await verifyBy(rule, { ...app, azp: "bank", line: "sub-7" })).toMatchObject({
        subscription: "sub-7",
      });
    },
  );
});

describe("the claim that only applications have", () => {
  const entry = { applicationWhen: { claim: "gty", equals: "client-credentials" } };
  const service = { sub: "their-client@clients", gty: "client-credentials" };

  test("the authorizer accepts a token with the claim as an application's, with any subject", async () => {
    expect(await verifyBy(entry, service)).toEqual({
      client: "https://operator.example their-client",
      scopes: [read],
      expires: second + 600,
    });
  });

  test("the authorizer takes a token with the claim and a subscription for a person's", async () => {
    expect(await verifyBy(entry, { ...service, line: "sub-7" })).toMatchObject({ subscription: "sub-7" });
  });

  test.each([
    undefined,
    null,
    "",
    "password",
    "Client-Credentials",
    "client-credentials ",
    ["client-credentials"],
    ["refresh_token", "client-credentials"],
    { 0: "client-credentials" },
    true,
  ])("the authorizer refuses, and reports as a person's, a token whose claim is %j", async (gty) => {
    const told: unknown[] = [];
    const issuer = { ...foreignWith(entry), onMissingSubscription: () => void told.push("told") };

    expect(await verify(foreignToken({ ...service, gty }), own, issuer)).toBeUndefined();
    expect(told).toEqual(["told"]);
  });

  test("the authorizer refuses a token whose subject is its client when the entry names a claim that it lacks", async () => {
    expect(await verify(foreignToken(), own, foreign)).toBeDefined();
    expect(await verifyBy(entry)).toBeUndefined();
  });
});

test.each(inherited)(
  "the authorizer takes nothing from a claim called %s, which every object inherits, when the token has none",
  async (name) => {
    expect(await scopesBy({ scopeClaim: name }, {})).toEqual([]);
    expect(await verifyBy({ audienceClaim: name }, {})).toBeUndefined();
    expect(await verifyBy({ clientClaim: name }, { line: "sub-7" })).toBeUndefined();
    expect(await verifyBy({ subscriptionClaim: name })).not.toHaveProperty("subscription");
    expect(await verifyBy({ subscriptionClaim: name }, { sub: "ada" })).toBeUndefined();
    for (const equals of ["function", "[object Object]", "undefined"]) {
      expect(await verifyBy({ applicationWhen: { claim: name, equals } })).toBeUndefined();
    }
  },
);

test.each(inherited)(
  "the authorizer reads scopes and subscription from a claim called %s when the token has one of its own",
  async (name) => {
    const payload = (value: unknown) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);

    expect(await scopesBy({ scopeClaim: name }, payload([check]))).toEqual([check]);
    expect(await verifyBy({ subscriptionClaim: name }, payload("sub-7"))).toMatchObject({
      subscription: "sub-7",
    });
    expect(await verifyBy({ scopeClaim: name }, payload({ read }))).toBeUndefined();
  },
);

test("the authorizer returns a well-formed caller or none for any claims and any entry", async () => {
  const name = fc.constantFrom("sub", "aud", "scope", "scp", "client_id", "azp", "gty", "line", ...inherited);
  const claims = fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.constant(foreignTrust.audience)));
  const entry = fc.record(
    {
      scopeClaim: name,
      scopePrefix: fc.constantFrom("api/", "q"),
      audienceClaim: name,
      clientClaim: name,
      subscriptionClaim: name,
      applicationsOnly: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(claims, entry, async (changed, members) => {
      const caller = await verifyBy(members, changed);
      if (caller === undefined) return;
      expect(caller.client).toMatch(/^https:\/\/operator\.example ./s);
      for (const scope of caller.scopes) expect(scope).toMatch(/^[^ ]+$/);
      expect(caller.subscription).not.toBe("");
    }),
  );
});
