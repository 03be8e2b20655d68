import { describe, expect, test } from "vitest";
import type { Issuer } from "../../functions/authorizer/verify.ts";
import { setting } from "../../shared/environment.ts";
import { fencesIn } from "../docs/fences.ts";
import { rsaKey, signedBy, tokenOf } from "../support/signed.ts";
import { keySet, type Members, own, second, verify } from "./sample-issuers.ts";

/** Signs the tokens of every server. */
const key = rsaKey();
const reported: string[] = [];

/** The entries of the documentation, each as the service reads it. */
const documented: readonly Issuer[] = fencesIn("docs/authorization-servers.md")
  .filter(({ marks }) => marks.get("setting") === "TRUSTED_ISSUERS")
  .flatMap(({ text }) => setting("TRUSTED_ISSUERS", { TRUSTED_ISSUERS: text }))
  .map((trusted) => ({
    trusted,

    keys: keySet(key),
    onMissingSubscription: () => void reported.push(trusted.issuer),
  }));

interface Vendor {
  /** Where the shapes of the tokens are documented. */
  readonly sources: readonly string[];
  readonly iss: string;
  /** The members of the header other than `kid` and `alg`. */
  readonly header: Members;
  /** What an application gets by client credentials, with the scope `qos-profiles:read` and one of another service. */
  readonly application: Members;
  /** The client of that token. */
  readonly client: string;
  /** What a person's application gets, with the same scopes. */
  readonly person: Members;
  /** What that token has in addition when the person has the subscription `sub-7`. */
  readonly subscribed: Members;
  /** What a token has instead that opens nothing: scopes of another service, or in another claim. */
  readonly withoutScope: Members;
  /** What a token for another service has instead. */
  readonly elsewhere: Members;
  /** What the server gives a client with the access token. */
  readonly identity: Members;
}

const vendors: Readonly<Record<string, Vendor>> = {
  "Amazon Cognito": {
    sources: [
      "docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html",
      "docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-define-resource-servers.html",
    ],
    iss: "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE",
    header: {},
    application: {
      sub: "1example23456789",
      token_use: "access",
      scope: "network-capabilities/qos-profiles:read another-api/qos-profiles:write",
      auth_time: second,
      version: 2,
      jti: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      client_id: "1example23456789",
    },
    client: "1example23456789",
    person: {
      sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      device_key: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      "cognito:groups": ["admin"],
      token_use: "access",
      scope: "aws.cognito.signin.user.admin network-capabilities/qos-profiles:read",
      auth_time: second,
      origin_jti: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      jti: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      client_id: "57cbishk4j24pabc1234567890",
      username: "janedoe@example.com",
    },
    subscribed: { subscription: "sub-7" },
    withoutScope: { scope: "network-capabilities/ qos-profiles:read another-api/qos-profiles:read" },
    elsewhere: { client_id: "another-client", sub: "another-client" },
    identity: {
      sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      aud: "57cbishk4j24pabc1234567890",
      token_use: "id",
      "cognito:username": "janedoe",
      subscription: "sub-7",
    },
  },
  "Microsoft Entra ID": {
    sources: [
      "learn.microsoft.com/entra/identity-platform/access-token-claims-reference",
      "learn.microsoft.com/entra/identity-platform/optional-claims-reference",
    ],
    iss: "https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/v2.0",
    header: { typ: "JWT" },
    application: {
      aud: "00001111-aaaa-2222-bbbb-3333cccc4444",
      nbf: second,
      aio: "opaque",
      azp: "11112222-bbbb-3333-cccc-4444dddd5555",
      azpacr: "1",
      idtyp: "app",
      oid: "22223333-cccc-4444-dddd-5555eeee6666",
      rh: "opaque",
      roles: ["qos-profiles:read", "Another.Role"],
      sub: "22223333-cccc-4444-dddd-5555eeee6666",
      tid: "aaaabbbb-0000-cccc-1111-dddd2222eeee",
      uti: "token-1",
      ver: "2.0",
    },
    client: "11112222-bbbb-3333-cccc-4444dddd5555",
    person: {
      aud: "00001111-aaaa-2222-bbbb-3333cccc4444",
      nbf: second,
      azp: "33334444-dddd-5555-eeee-6666ffff7777",
      azpacr: "0",
      name: "Jane Doe",
      oid: "44445555-eeee-6666-ffff-7777aaaa8888",
      preferred_username: "janedoe@example.com",
      roles: ["qos-profiles:read"],
      scp: "user_impersonation",
      sub: "pairwise-subject",
      tid: "aaaabbbb-0000-cccc-1111-dddd2222eeee",
      ver: "2.0",
    },
    subscribed: { "extn.subscription": "sub-7" },
    withoutScope: { roles: undefined, scp: "qos-profiles:read" },
    elsewhere: { aud: "55556666-ffff-7777-aaaa-8888bbbb9999" },
    identity: {
      aud: "33334444-dddd-5555-eeee-6666ffff7777",
      sub: "pairwise-subject",
      "extn.subscription": "sub-7",
      ver: "2.0",
    },
  },
  Keycloak: {
    sources: [
      "www.keycloak.org/docs/latest/server_admin/#_service_accounts",
      "www.keycloak.org/docs/latest/server_admin/#_protocol-mappers_oidc-user-session-note-mappers",
    ],
    iss: "https://keycloak.operator.example/realms/network",
    header: { typ: "JWT" },
    application: {
      jti: "trrtcc:aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      aud: ["network-capabilities", "account"],
      sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      typ: "Bearer",
      azp: "maps",
      acr: "1",
      realm_access: { roles: ["offline_access", "uma_authorization"] },
      scope: "qos-profiles:read email profile",
      clientHost: "192.0.2.1",
      clientAddress: "192.0.2.1",
      client_id: "maps",
      email_verified: false,
      preferred_username: "service-account-maps",
      client_kind: "application",
    },
    client: "maps",
    person: {
      jti: "onrtac:aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      aud: ["network-capabilities", "account"],
      sub: "bbbbbbbb-cccc-dddd-eeee-ffffffffffff",
      typ: "Bearer",
      azp: "wallet",
      sid: "cccccccc-dddd-eeee-ffff-aaaaaaaaaaaa",
      acr: "1",
      scope: "openid qos-profiles:read email profile",
      email_verified: true,
      // Anybody chooses it who signs up.
      preferred_username: "service-account-maps",
    },
    subscribed: { subscription: "sub-7" },
    withoutScope: { scope: "email profile", realm_access: { roles: ["qos-profiles:read"] } },
    elsewhere: { aud: "account" },
    identity: {
      aud: "wallet",
      sub: "bbbbbbbb-cccc-dddd-eeee-ffffffffffff",
      typ: "ID",
      azp: "wallet",
      subscription: "sub-7",
    },
  },
  Auth0: {
    sources: [
      "auth0.com/docs/secure/tokens/access-tokens/access-token-profiles",
      "auth0.com/docs/secure/tokens/access-tokens/get-access-tokens",
    ],
    iss: "https://operator.eu.auth0.com/",
    header: { typ: "JWT" },
    application: {
      sub: "awZfdIir8YFdGZWkvCejDoUb7SjTDicx@clients",
      aud: "https://network-capabilities.operator.example",
      azp: "awZfdIir8YFdGZWkvCejDoUb7SjTDicx",
      scope: "qos-profiles:read read:patients",
      gty: "client-credentials",
    },
    client: "awZfdIir8YFdGZWkvCejDoUb7SjTDicx",
    person: {
      sub: "auth0|6553da60a54af58e29493993",
      aud: ["https://network-capabilities.operator.example", "https://operator.eu.auth0.com/userinfo"],
      azp: "K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja",
      scope: "openid profile qos-profiles:read",
    },
    subscribed: { "https://operator.example/claims/subscription": "sub-7" },
    withoutScope: { scope: "openid profile", permissions: ["qos-profiles:read"] },
    elsewhere: { aud: "https://example.com/health-api" },
    identity: {
      sub: "auth0|6553da60a54af58e29493993",
      aud: "K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja",
      "https://operator.example/claims/subscription": "sub-7",
    },
  },
  Okta: {
    sources: ["developer.okta.com/docs/reference/api/oidc/#access-token-payload"],
    iss: "https://operator.okta.com/oauth2/aus1example",
    header: {},
    application: {
      ver: 1,
      jti: "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
      aud: "https://network-capabilities.operator.example",
      sub: "nmdP1fcyvdVO11AL7ECm",
      cid: "nmdP1fcyvdVO11AL7ECm",
      scp: ["qos-profiles:read", "flights"],
    },
    client: "nmdP1fcyvdVO11AL7ECm",
    person: {
      ver: 1,
      jti: "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
      aud: "https://network-capabilities.operator.example",
      sub: "00ujmkLgagxeRrAg20g3",
      cid: "nmdP1fcyvdVO11AL7ECm",
      uid: "00ujmkLgagxeRrAg20g3",
      scp: ["openid", "email", "qos-profiles:read"],
    },
    subscribed: { subscription: "sub-7" },
    withoutScope: { scp: ["openid", "flights"], scope: "qos-profiles:read" },
    elsewhere: { aud: "https://api.example.com" },
    identity: { aud: "nmdP1fcyvdVO11AL7ECm", sub: "00ujmkLgagxeRrAg20g3", ver: 1, subscription: "sub-7" },
  },
};

const verifyOf = ({ iss, header }: Vendor, claims: Members) => {
  const payload = { iss, iat: second, exp: second + 600, ...claims };
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

  test(`callerOf accepts the token of an application from ${described}, as 2-legged`, async () => {
    const caller = await verifyOf(vendor, application);

    expect(caller).toMatchObject({ client: `${vendor.iss} ${client}`, expires: second + 600 });
    expect(caller?.scopes).toContain("qos-profiles:read");
    expect(caller).not.toHaveProperty("subscription");
  });

  test(`callerOf accepts the token of a person with a subscription from ${described}, as 3-legged`, async () => {
    const caller = await verifyOf(vendor, { ...person, ...subscribed });

    expect(caller).toMatchObject({ subscription: "sub-7" });
    expect(caller?.scopes).toContain("qos-profiles:read");
  });

  test(`callerOf refuses the token of a person without a subscription from ${described}, and reports it`, async () => {
    const before = reported.length;
    expect(await verifyOf(vendor, person)).toBeUndefined();
    expect(reported.slice(before)).toEqual([vendor.iss]);
  });

  test(`callerOf returns no scope of this service for a token without one from ${described}`, async () => {
    for (const claims of [application, { ...person, ...subscribed }]) {
      const caller = await verifyOf(vendor, { ...claims, ...vendor.withoutScope });
      expect(caller).toBeDefined();
      expect(caller?.scopes).not.toContain("qos-profiles:read");
    }
  });

  test(`callerOf refuses a token for another service from ${described}`, async () => {
    expect(await verifyOf(vendor, { ...application, ...vendor.elsewhere })).toBeUndefined();
    expect(await verifyOf(vendor, { ...person, ...subscribed, ...vendor.elsewhere })).toBeUndefined();
  });

  test(`callerOf refuses an identity token from ${described}`, async () => {
    expect(await verifyOf(vendor, vendor.identity)).toBeUndefined();
  });
});
