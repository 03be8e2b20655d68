import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeySet } from "../../functions/authorizer/key-set.ts";
import type { Issuer } from "../../functions/authorizer/verify.ts";
import { Unavailable } from "../../shared/errors.ts";
import { signedBy, tokenOf } from "../support/signed.ts";
import {
  foreign,
  foreignClaims,
  foreignToken,
  foreignTrust,
  keySet,
  type Members,
  ours,
  own,
  ownToken,
  second,
  theirs,
  times,
  verify,
} from "./sample-issuers.ts";

test("the authorizer accepts another issuer's token for an application, as 2-legged", async () => {
  expect(await verify(foreignToken())).toEqual({
    client: "https://operator.example their-client",
    scopes: ["qos-profiles:read"],
    expires: second + 600,
  });
});

test("the authorizer reads the subscription from the claim that the operator names, and from no other", async () => {
  const { subscriptionClaim: _, ...trusted } = foreignTrust;
  const withoutClaim: Issuer = { ...foreign, trusted };

  const named = await verify(foreignToken({ line: "sub-7", subscription: "sub-8" }));
  const unnamed = await verify(foreignToken({ line: "sub-7", subscription: "sub-8" }), withoutClaim);

  expect(named).toMatchObject({ subscription: "sub-7" });
  expect(unnamed).not.toHaveProperty("subscription");
});

test.each([[42], [null], [""], ["s".repeat(129)], [["sub-7"]], [{ id: "sub-7" }], [true]])(
  "the authorizer refuses another issuer's token when its subscription claim is %j",
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
  "whose subject is its client but not its authorized party": { azp: "party" },
  "whose subject is not its authorized party": { client_id: undefined, azp: "party" },
  "with a subscription in a claim that the operator does not name": { sub: "ada", subscription: "sub-8" },
};
test.each(Object.entries(people))(
  "the authorizer refuses, and reports as a person's, a token %s",
  async (_, claims) => {
    const told: unknown[] = [];
    const issuer: Issuer = { ...foreign, onMissingSubscription: () => void told.push("told") };

    expect(await verify(foreignToken(claims), own, issuer)).toBeUndefined();
    expect(told).toEqual(["told"]);
  },
);

test("the authorizer does not report a missing subscription when it refuses a token for another reason", async () => {
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

  test("the authorizer accepts any subject of an issuer with applications only, as 2-legged, and as the client if none is named", async () => {
    for (const [client_id, client] of [
      ["their-client", "their-client"],
      [undefined, "service-account"],
    ]) {
      const caller = await verifyTheirs({ sub: "service-account", client_id });
      expect(caller).toMatchObject({
        client: `https://operator.example ${client}`,
        scopes: ["qos-profiles:read"],
      });
      expect(caller).not.toHaveProperty("subscription");
    }
  });

  test("the authorizer reads the subscription claim of an issuer with applications only, and refuses a malformed one", async () => {
    expect(await verifyTheirs({ line: "sub-7" })).toMatchObject({ subscription: "sub-7" });
    for (const line of [null, "", 42, ["sub-7"], {}]) expect(await verifyTheirs({ line })).toBeUndefined();
  });
});

test.each([[{ jkt: "thumbprint" }], [{ "x5t#S256": "thumbprint" }], [{}], [null]])(
  "the authorizer refuses another issuer's token that is bound to the key %j",
  async (cnf) => {
    expect(await verify(foreignToken({ cnf }))).toBeUndefined();
  },
);

test.each(["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", undefined])(
  "the authorizer accepts another issuer's token of the type %j",
  async (typ) => {
    expect(await verify(foreignToken({}, { typ }))).toBeDefined();
  },
);

test.each(["id+jwt", "logout+jwt", "dpop+jwt", "JOSE", "", 5, {}, [], null])(
  "the authorizer refuses another issuer's token of the type %j",
  async (typ) => {
    expect(await verify(foreignToken({}, { typ }))).toBeUndefined();
  },
);

test("the authorizer names another issuer's client by client_id, else azp, and refuses a person's token with neither", async () => {
  const nameIn = async (claims: Members) =>
    (await verify(foreignToken({ sub: "ada", line: "sub-7", ...claims })))?.client;

  expect(await nameIn({ azp: "party" })).toBe("https://operator.example their-client");
  expect(await nameIn({ client_id: undefined, azp: "party" })).toBe("https://operator.example party");
  expect(await verify(foreignToken({ sub: "ada", line: "sub-7", client_id: undefined }))).toBeUndefined();
});

test("the authorizer never gives another issuer's client the name of a client of ours", async () => {
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

test("the authorizer accepts another issuer's token without scope and iat, and returns no scopes", async () => {
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
  "has an empty client": { client_id: "" },
  "has an empty authorized party": { azp: "" },
  "has a list of authorized parties": { client_id: undefined, azp: ["their-client"] },
  "has a client that is a number": { client_id: 1 },
  "says that it is ours": { iss: "https://own.example" },
  "is of an issuer nobody trusts": { iss: "https://stranger.example" },
};
test.each(Object.entries(wrong))(
  "the authorizer refuses another issuer's token that %s",
  async (_, claims) => {
    expect(await verify(foreignToken(claims))).toBeUndefined();
  },
);

test("the authorizer refuses another issuer's token with an algorithm that is not pinned for the issuer", async () => {
  const both: Issuer = { ...foreign, keys: keySet(theirs, ours) };
  const elliptic = tokenOf({ alg: "ES256", kid: ours.kid }, foreignClaims, signedBy(ours));

  expect(await verify(elliptic, both)).toBeUndefined();
  expect(await verify(foreignToken(), both)).toBeDefined();
});

test("the authorizer refuses another issuer's token signed with our key", async () => {
  const token = tokenOf({ alg: "ES256", kid: ours.kid }, foreignClaims, signedBy(ours));
  expect(await verify(token)).toBeUndefined();
});

test("the authorizer rejects with Unavailable while another issuer's keys are unreachable, and accepts our token", async () => {
  const keys = new KeySet({
    fetch: () => Promise.reject(new Error("no route")),
    ...times,
    onFailure: () => {},
    onUnusable: () => {},
  });
  const unreachable: Issuer = { ...foreign, keys };

  await expect(verify(foreignToken(), own, unreachable)).rejects.toBeInstanceOf(Unavailable);
  expect(await verify(ownToken(), own, unreachable)).toBeDefined();
});
