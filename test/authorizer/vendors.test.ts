import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Issuer } from "../../functions/authorizer/verify.ts";
import { configuration } from "../../infra/variables.ts";
import { setting } from "../../shared/environment.ts";
import { fencesIn } from "../docs/fences.ts";
import { rsaKey, signedBy, tokenOf } from "../support/signed.ts";
import { keySet, type Members, own, second, verify } from "./sample-issuers.ts";
import documentedTokens from "./vendors.json" with { type: "json" };

const claims = z.record(z.string(), z.unknown());

/** Signs the tokens of every server. */
const key = rsaKey();
const reported: string[] = [];

/** The entries of the documentation, each as the service reads it. */
const documented: readonly Issuer[] = fencesIn("docs/authorization-servers.md")
  .filter(({ marks }) => marks.get("setting") === "TRUSTED_ISSUERS")
  .flatMap(({ text }) => setting(configuration.TRUSTED_ISSUERS, { TRUSTED_ISSUERS: text }))
  .map((trusted) => ({
    trusted,

    keys: keySet(key),
    onMissingSubscription: () => void reported.push(trusted.issuer),
  }));

/**
 * Tokens as each server's documentation shows them, for a token issued at `second`: of an application and of a person,
 * what a person's has in addition for the subscription `sub-7`, what either has instead without our scope or for another
 * service, and the identity token. `application` and `person` have the scope `qos-profiles:read` and one of another
 * service.
 */
const vendors = z
  .record(
    z.string(),
    z.object({
      sources: z.array(z.string()),
      iss: z.string(),
      header: claims,
      application: claims,
      client: z.string(),
      person: claims,
      subscribed: claims,
      withoutScope: claims,
      elsewhere: claims,
      identity: claims,
    }),
  )
  .parse(documentedTokens);

const verifyOf = ({ iss, header }: (typeof vendors)[string], members: Members) => {
  const payload = { iss, iat: second, exp: second + 600, ...members };
  return verify(
    tokenOf({ kid: key.kid, alg: "RS256", ...header }, payload, signedBy(key)),
    own,
    ...documented,
  );
};

test("the page of authorization servers has one entry for each server, and the general one", () => {
  const general = "https://login.operator.example";
  expect(documented.map(({ trusted }) => trusted.issuer).sort()).toEqual(
    [general, ...Object.values(vendors).map(({ iss }) => iss)].sort(),
  );
});

describe.each(Object.entries(vendors))("a token as the documentation of %s shows it", (name, vendor) => {
  const described = `${name} (${vendor.sources.join(", ")})`;
  const { application, person, subscribed, client } = vendor;

  test(`the authorizer accepts the token of an application from ${described}, as 2-legged`, async () => {
    const caller = await verifyOf(vendor, application);

    expect(caller).toMatchObject({ client: `${vendor.iss} ${client}`, expires: second + 600 });
    expect(caller?.scopes).toContain("qos-profiles:read");
    expect(caller).not.toHaveProperty("subscription");
  });

  test(`the authorizer accepts the token of a person with a subscription from ${described}, as 3-legged`, async () => {
    const caller = await verifyOf(vendor, { ...person, ...subscribed });

    expect(caller).toMatchObject({ subscription: "sub-7" });
    expect(caller?.scopes).toContain("qos-profiles:read");
  });

  test(`the authorizer refuses the token of a person without a subscription from ${described}, and reports it`, async () => {
    const before = reported.length;
    expect(await verifyOf(vendor, person)).toBeUndefined();
    expect(reported.slice(before)).toEqual([vendor.iss]);
  });

  test(`the authorizer returns no scope of this service for a token without one from ${described}`, async () => {
    for (const claims of [application, { ...person, ...subscribed }]) {
      const caller = await verifyOf(vendor, { ...claims, ...vendor.withoutScope });
      expect(caller).toBeDefined();
      expect(caller?.scopes).not.toContain("qos-profiles:read");
    }
  });

  test(`the authorizer refuses a token for another service from ${described}`, async () => {
    expect(await verifyOf(vendor, { ...application, ...vendor.elsewhere })).toBeUndefined();
    expect(await verifyOf(vendor, { ...person, ...subscribed, ...vendor.elsewhere })).toBeUndefined();
  });

  test(`the authorizer refuses an identity token from ${described}`, async () => {
    expect(await verifyOf(vendor, vendor.identity)).toBeUndefined();
  });
});
