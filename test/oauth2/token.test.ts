import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { assertionType, jwtBearer } from "../../functions/oauth2/rules.ts";
import type { ClientRecord } from "../../functions/oauth2/tables.ts";
import { configuration } from "../../infra/variables.ts";
import { logId } from "../../shared/aws/log.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { hashed } from "../../shared/hash.ts";
import { plainDevice } from "../support/device.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import {
  countingServer,
  ellipticKey,
  hmacWith,
  type KeyPair,
  rsaKey,
  signedBy,
  tokenOf,
} from "../support/signed.ts";
import {
  askForToken,
  claimsFor,
  clientCredentials,
  signed,
  storeClient,
  subscribersToken,
} from "./test-client.ts";

const read = "qos-profiles:read";
const identify = "device-identifier:retrieve-identifier";
const purpose = "dpv:FraudPreventionAndDetection";
const both: ClientRecord["grants"] = ["client_credentials", jwtBearer];

const shopKey = ellipticKey("shop-1");
const rsa = rsaKey("shop-2");
const nextKey = { ...rsa, jwk: { ...rsa.jwk, alg: "PS256" } };
const bankKey = ellipticKey("bank-1");
const remoteKey = ellipticKey("remote-1");

const ada: DeviceRecord = {
  ...plainDevice,
  subscription: "line-of-ada",
  phoneNumber: "+34600000201",
  identifierConsent: true,
};
const ben: DeviceRecord = {
  ...plainDevice,
  subscription: "line-of-ben",
  phoneNumber: "+34600000202",
  identifierConsent: false,
};

const longNamed: DeviceRecord = {
  ...plainDevice,
  subscription: "a-line-with-a-name-of-forty-characters--",
  phoneNumber: "+34600000203",
};

let service: OwnService;
/** Serves the keys of one client. */
let remote: Awaited<ReturnType<typeof countingServer>>;

beforeAll(async () => {
  remote = await countingServer(({ url }, response) => {
    response.writeHead(url === "/down" ? 503 : 200).end(JSON.stringify({ keys: [remoteKey.jwk] }));
  });
  service = await startOwnService({ SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535" }, { isIssuer: true });
  const scopes = [read, identify];
  const purposes = [purpose, "dpv:Marketing"];
  await storeClient(service, { clientId: "shop", keys: [shopKey, nextKey], scopes, purposes, grants: both });
  await storeClient(service, {
    clientId: "bank",
    keys: [bankKey],
    scopes: [read],
    grants: ["client_credentials"],
  });
  const others = { scopes: [read], grants: both };
  await storeClient(service, { ...others, clientId: "remote", jwksUri: `${remote.url}/keys` });
  await storeClient(service, { ...others, clientId: "down", jwksUri: `${remote.url}/down` });
  await storeClient(service, { ...others, clientId: "inside", jwksUri: "http://169.254.169.254/keys" });
  for (const device of [ada, ben, longNamed]) await service.putDevice(device);
});
afterAll(async () => {
  await Promise.all([service, remote].map((server) => server?.close()));
});

const ofShop = (changed: Readonly<Record<string, unknown>> = {}) => claimsFor(service, "shop", changed);
const withAssertion = async (assertion: string, scope: string | undefined = read) =>
  await askForToken(service, clientCredentials(assertion, scope));
const asShop = async (changed: Readonly<Record<string, unknown>> = {}, scope: string | undefined = read) =>
  await withAssertion(await signed(shopKey, ofShop(changed)), scope);
const forSubscriber = async (changed: Readonly<Record<string, unknown>> = {}) =>
  await askForToken(
    service,
    subscribersToken(
      await signed(
        shopKey,
        ofShop({ sub: `tel:${ada.phoneNumber}`, scope: `${read} ${purpose}`, ...changed }),
      ),
    ),
  );

const invalidClient = { status: 401, body: { error: "invalid_client", code: "INVALID_CLIENT" } };
const invalidGrant = { status: 400, body: { error: "invalid_grant" } };
const invalidScope = { status: 400, body: { error: "invalid_scope" } };

async function useToken(token: string | undefined, path: string, body: object = {}) {
  return await service.call(path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}
const profiles = "/qualityondemand/retrieve-qos-profiles";
const identifier = "/deviceidentifier/retrieve-identifier";

describe("client_credentials", () => {
  test("POST /oauth2/token gives a client a 2-legged token that the API accepts, not to be cached", async () => {
    const { status, headers, body } = await asShop({}, `${read} ${purpose}`);

    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.any(String),
        token_type: "Bearer",
        expires_in: 3_600,
        scope: `${read} ${purpose}`,
      },
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("pragma")).toBe("no-cache");
    expect(decodeJwt(body.access_token ?? "")).toMatchObject({
      iss: service.url,
      sub: "shop",
      client_id: "shop",
      scope: `${read} ${purpose}`,
    });
    expect(decodeJwt(body.access_token ?? "")).not.toHaveProperty("subscription");
    expect(await useToken(body.access_token, profiles)).toMatchObject({ status: 200 });
    expect(await useToken(body.access_token, identifier)).toMatchObject({ status: 403 });
  });

  test("POST /oauth2/token accepts each key of a client, with its kid or without one", async () => {
    for (const key of [shopKey, nextKey]) {
      expect(await withAssertion(await signed(key, ofShop()))).toMatchObject({ status: 200 });
      expect(await withAssertion(await signed(key, ofShop(), { kid: undefined }))).toMatchObject({
        status: 200,
      });
    }
  });

  test("POST /oauth2/token accepts its own address as the audience", async () => {
    expect(await asShop({ aud: `${service.url}/oauth2/token` })).toMatchObject({ status: 200 });
  });

  test("POST /oauth2/token needs a scope, and gives none that the client does not have", async () => {
    expect(await withAssertion(await signed(shopKey, ofShop()), "")).toMatchObject(invalidScope);
    expect(await asShop({}, `${read} number-recycling:check`)).toMatchObject(invalidScope);
    // The scope of its other grant does not count here.
    expect(await asShop({ scope: read }, "")).toMatchObject(invalidScope);
  });

  test("POST /oauth2/token needs a client assertion, and takes no other authentication", async () => {
    const { client_assertion: _, ...none } = clientCredentials("", read);
    expect(await askForToken(service, none)).toMatchObject(invalidClient);
    const valid = clientCredentials(await signed(shopKey, ofShop()), read);
    expect(await askForToken(service, { ...valid, client_secret: "guess" })).toMatchObject(invalidClient);
    const basic = await askForToken(service, valid, { authorization: "Basic c2hvcDpndWVzcw==" });
    expect(basic).toMatchObject(invalidClient);
    const challengeIn = ({ headers }: typeof basic) =>
      headers.get("www-authenticate") ?? headers.get("x-amzn-remapped-www-authenticate");
    expect(challengeIn(basic)).toBe('Basic realm="clients"');
    expect(challengeIn(await askForToken(service, none))).toBeNull();
    expect(await askForToken(service, { ...valid, client_assertion_type: "other" })).toMatchObject(
      invalidClient,
    );
    expect(await askForToken(service, { ...valid, client_id: "bank" })).toMatchObject(invalidClient);
    // None of these has used the assertion.
    expect(await askForToken(service, { ...valid, client_id: "shop" })).toMatchObject({ status: 200 });
  });
});

describe("the quota of a client", () => {
  beforeAll(async () => {
    const scopes = [read, identify];
    // Three requests are left to each of them today.
    const dayCount = Number(configuration.DAILY_QUOTA.default) - 3;
    const soon = Date.now() + 60_000;
    const counted = { day: Math.floor(soon / 86_400_000), minute: Math.floor(soon / 60_000), minuteCount: 0 };
    for (const clientId of ["limited", "other", "replayed"]) {
      const keys = [clientId === "limited" ? shopKey : bankKey];
      await storeClient(service, { clientId, keys, scopes, purposes: [purpose], grants: both });
      await service.put("quotas", { caller: hashed(clientId), ...counted, dayCount });
    }
  });

  const ask = async (key: KeyPair, claims: Readonly<Record<string, unknown>> = {}) =>
    await askForToken(
      service,
      subscribersToken(
        await signed(
          key,
          claimsFor(service, "limited", { sub: "tel:+34600009999", scope: `${read} ${purpose}`, ...claims }),
        ),
      ),
    );

  test("POST /oauth2/token counts a verified assertion for its client, and returns 429 before it uses the assertion up", async () => {
    for (const left of ["2", "1", "0"]) {
      const answer = await ask(shopKey);
      expect(answer).toMatchObject(invalidGrant);
      expect(answer.headers.get("x-ratelimit-remaining")).toBe(left);
      // Not verified, so it counts for nobody.
      const forged = await ask(bankKey);
      expect(forged).toMatchObject(invalidGrant);
      expect(forged.headers.get("x-ratelimit-remaining")).toBeNull();
    }
    const jti = crypto.randomUUID();
    for (let repeated = 0; repeated < 2; repeated++) {
      const over = await ask(shopKey, { jti });
      expect(over).toMatchObject({
        status: 429,
        body: { code: "QUOTA_EXCEEDED", error: "temporarily_unavailable" },
      });
      expect(over.headers.get("x-ratelimit-remaining")).toBe("0");
      expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await ask(bankKey, { iss: "other" })).toMatchObject(invalidGrant);
  });

  test("POST /oauth2/token counts a request with two assertions once, together with the client's other requests", async () => {
    const authenticated = claimsFor(service, "other");
    const grant = { sub: "tel:+34600009999", scope: `${read} ${purpose}` };
    const answer = await askForToken(service, {
      ...subscribersToken(await signed(bankKey, claimsFor(service, "other", grant))),
      client_assertion_type: assertionType,
      client_assertion: await signed(bankKey, authenticated),
    });
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("1");
  });

  test("POST /oauth2/token counts an assertion that is sent again ten times once, so its client still gets a token", async () => {
    const send = (assertion: string) => askForToken(service, clientCredentials(assertion, read));
    const used = await signed(bankKey, claimsFor(service, "replayed"));
    expect(await send(used)).toMatchObject({ status: 200 });

    for (let repeated = 0; repeated < 10; repeated++) {
      const { status, body, headers } = await send(used);
      expect({ status, body }).toMatchObject({ status: 401, body: { error: "invalid_client" } });
      expect(headers.get("x-ratelimit-remaining")).toBeNull();
    }

    const next = await send(await signed(bankKey, claimsFor(service, "replayed")));
    expect(next.status).toBe(200);
    expect(next.headers.get("x-ratelimit-remaining")).toBe("1");
  });
});

describe("an attack with an assertion", () => {
  test("POST /oauth2/token accepts an assertion once, also of many at the same time", async () => {
    const assertion = await signed(shopKey, ofShop());
    const answers = await Promise.all(Array.from({ length: 6 }, () => withAssertion(assertion)));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401]);
    expect(await withAssertion(assertion)).toMatchObject(invalidClient);
  });

  test("POST /oauth2/token accepts a jti once for each client, also in another assertion", async () => {
    const jti = crypto.randomUUID();
    expect(await asShop({ jti })).toMatchObject({ status: 200 });
    expect(await asShop({ jti, exp: Math.floor(Date.now() / 1_000) + 100 })).toMatchObject(invalidClient);
    const ofBank = await signed(bankKey, claimsFor(service, "bank", { jti }));
    expect(await withAssertion(ofBank)).toMatchObject({ status: 200 });
  });

  test.each([
    ["aud", ["a", "b"], "one text, not several"],
    ["jti", undefined, "text of 1 to 256 characters"],
    ["exp", "1790000000", "a number of seconds"],
  ])(
    "POST /oauth2/token says that the %s of an assertion must not be %j, alike of a known client and an unknown one",
    async (claim, value, form) => {
      for (const iss of ["shop", "nobody"])
        expect(await asShop({ iss, [claim]: value })).toMatchObject({
          status: 401,
          body: { error_description: `The ${claim} of the assertion must be ${form}.` },
        });
    },
  );

  const own = ellipticKey("own");
  const byShop = (changed: Readonly<Record<string, unknown>>) => () => signed(shopKey, ofShop(changed));
  /** @param changed claims that are counted from the second at which the assertion is made. */
  const byShopAt = (changed: (now: number) => Readonly<Record<string, number>>) => () =>
    byShop(changed(Math.floor(Date.now() / 1_000)))();
  const unsigned = (alg: string, bytes: number) => () =>
    tokenOf({ alg, kid: shopKey.kid }, ofShop(), () => Buffer.alloc(bytes));
  const byHmac = (secret: string) => () =>
    tokenOf({ alg: "HS256", kid: shopKey.kid }, ofShop(), hmacWith(secret));
  const byOwnKey = (header: () => object) => () =>
    tokenOf({ alg: "ES256", ...header() }, ofShop(), signedBy(own));
  const refused: Record<string, () => Promise<string> | string> = {
    "that expired 10 s ago": byShopAt((now) => ({ exp: now - 10 })),
    "that never expires": byShop({ exp: undefined }),
    "that begins in a minute": byShopAt((now) => ({ nbf: now + 60 })),
    "without a jti": byShop({ jti: undefined }),
    "with an empty jti": byShop({ jti: "" }),
    "without an audience": byShop({ aud: undefined }),
    "for another's token endpoint": byShop({ aud: "https://other.example/oauth2/token" }),
    "about another client": byShop({ sub: "bank" }),
    "of another client": byShop({ iss: "bank" }),
    "of a client with a name of 300 characters": byShop({ iss: "i".repeat(300) }),
    "signed with another client's key": () => signed(bankKey, ofShop()),
    "signed with another client's key under the kid of its own": () =>
      signed({ ...bankKey, kid: shopKey.kid }, ofShop()),
    "of the algorithm none": unsigned("none", 0),
    "without a signature": unsigned("ES256", 0),
    "with a signature of zeros": unsigned("ES256", 64),
    "signed with HS256 and the public key as its secret": byHmac(JSON.stringify(shopKey.jwk)),
    "signed with the key in its header": byOwnKey(() => ({ jwk: own.jwk })),
    "signed with a key at an address in its header": byOwnKey(() => ({ jku: `${remote.url}/keys` })),
    "signed with a certificate at an address in its header": byOwnKey(() => ({ x5u: remote.url })),
    "with a critical header member that is not known": () =>
      tokenOf({ alg: "ES256", crit: ["exp"], exp: 1 }, ofShop(), signedBy(shopKey)),
    "that is a letter": () => "x",
    "that is two dots": () => "..",
    "of three parts that are no JSON": () => "a.b.c",
    "with an empty header": () => tokenOf({}, {}, () => Buffer.alloc(1)),
  };
  test.each(Object.entries(refused))(
    "POST /oauth2/token answers 401 invalid_client to an assertion %s",
    async (_, make) => {
      expect(await withAssertion(await make())).toMatchObject(invalidClient);
    },
  );

  test("POST /oauth2/token answers 400 invalid_request to an assertion of more than 8 KiB", async () => {
    const large = await asShop({ more: "x".repeat(8_192) });
    expect(large).toMatchObject({ status: 400, body: { error: "invalid_request" } });
  });

  test("POST /oauth2/token answers an unknown client as one with another key", async () => {
    const unknown = await withAssertion(await signed(shopKey, claimsFor(service, "nobody")));
    const wrong = await withAssertion(await signed(bankKey, ofShop()));
    expect(unknown).toMatchObject(invalidClient);
    expect(unknown.body).toEqual(wrong.body);
  });
});

describe("jwt-bearer", () => {
  test("POST /oauth2/token gives a 3-legged token of the number's subscription, and no refresh token", async () => {
    const { status, body } = await forSubscriber({ scope: `${identify} ${purpose}` });

    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.any(String),
        token_type: "Bearer",
        expires_in: 3_600,
        scope: `${identify} ${purpose}`,
      },
    });
    const claims = decodeJwt(body.access_token ?? "");
    expect(claims).toMatchObject({ client_id: "shop", sub: claims.subscription });
    for (const name of [ada.subscription, "34600000201"]) expect(JSON.stringify(claims)).not.toContain(name);
    expect(await useToken(body.access_token, identifier)).toMatchObject({
      status: 200,
      body: { imei: ada.imei },
    });
    expect(
      await useToken(body.access_token, identifier, { device: { phoneNumber: ben.phoneNumber } }),
    ).toMatchObject({
      status: 422,
    });
  });

  test("POST /oauth2/token names a subscriber otherwise in every token, of one length for all subscribers", async () => {
    const tokens = [{}, {}, { sub: `tel:${ben.phoneNumber}` }, { sub: `tel:${longNamed.phoneNumber}` }];
    const subjects = [];
    for (const changed of tokens) {
      const { body } = await forSubscriber(changed);
      subjects.push(decodeJwt(body.access_token ?? "").sub ?? "");
    }
    expect(new Set(subjects).size).toBe(tokens.length);
    expect(new Set(subjects.map((subject) => subject.length)).size).toBe(1);
  });

  test("POST /oauth2/token accepts an assertion about a subscriber once", async () => {
    const jti = crypto.randomUUID();
    expect(await forSubscriber({ jti })).toMatchObject({ status: 200 });
    expect(await forSubscriber({ jti })).toMatchObject(invalidGrant);
  });

  test("POST /oauth2/token takes client authentication with the assertion only of the same client", async () => {
    const about = { sub: `tel:${ada.phoneNumber}`, scope: `${read} ${purpose}` };
    const grant = async () => subscribersToken(await signed(shopKey, ofShop(about)));
    const of = (client_assertion: string) => ({ client_assertion_type: assertionType, client_assertion });
    const ofBank = of(await signed(bankKey, claimsFor(service, "bank")));
    const own = of(await signed(shopKey, ofShop()));

    expect(await askForToken(service, { ...(await grant()), ...own })).toMatchObject({ status: 200 });
    expect(await askForToken(service, { ...(await grant()), ...ofBank })).toMatchObject(invalidClient);
    expect(await askForToken(service, { ...(await grant()), client_secret: "guess" })).toMatchObject(
      invalidClient,
    );
  });

  test("POST /oauth2/token refuses a scope with the assertion that is not the assertion's", async () => {
    const about = { sub: `tel:${ada.phoneNumber}`, scope: `${read} ${purpose}` };
    const grant = subscribersToken(await signed(shopKey, ofShop(about)));
    expect(await askForToken(service, { ...grant, scope: `${identify} ${purpose}` })).toMatchObject(
      invalidScope,
    );
  });
});

describe("a client with a jwksUri", () => {
  test("POST /oauth2/token accepts a key that the client's address serves", async () => {
    const assertion = await signed(remoteKey, claimsFor(service, "remote"));
    expect(await withAssertion(assertion)).toMatchObject({ status: 200 });
  });

  test("POST /oauth2/token answers 503 with Retry-After to a client whose address fails, and serves others", async () => {
    const { status, headers, body } = await withAssertion(
      await signed(remoteKey, claimsFor(service, "down")),
    );

    expect({ status, body }).toMatchObject({
      status: 503,
      body: { code: "UNAVAILABLE", error: "temporarily_unavailable" },
    });
    expect(headers.get("retry-after")).toBe("5");
    expect(await asShop()).toMatchObject({ status: 200 });
  });

  test("POST /oauth2/token refuses a client whose address is not public, and tells the operator", async () => {
    const assertion = await signed(remoteKey, claimsFor(service, "inside"));
    expect(await withAssertion(assertion)).toMatchObject(invalidClient);
    expect(service.output()).toContain(logId("CLIENT_KEYS_UNREACHABLE"));
  });
});

describe("a request that is not one of OAuth 2", () => {
  test("POST /oauth2/token refuses unknown grants, missing ones and repeated parameters", async () => {
    const grants = ["password", "authorization_code", "refresh_token", "CLIENT_CREDENTIALS"];
    for (const grant_type of grants) {
      expect(await askForToken(service, { grant_type })).toMatchObject({
        status: 400,
        body: { error: "unsupported_grant_type" },
      });
    }
    for (const form of [
      "",
      "a=b",
      "grant_type=",
      "grant_type=client_credentials&grant_type=client_credentials",
      "{}",
    ]) {
      const { status, headers, body } = await askForToken(service, form);
      expect({ status, body }).toMatchObject({ status: 400, body: { error: "invalid_request" } });
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("pragma")).toBe("no-cache");
      expect(body.error_description).toMatch(/^[ !#-[\]-~]+$/);
    }
  });

  test("POST /oauth2/token sends no challenge that a client would take for one of a resource", async () => {
    const { headers } = await withAssertion("x");
    expect(headers.get("www-authenticate")).toBeNull();
  });
});

test("the log has the purpose of each token, and neither number, client, jti nor assertion", async () => {
  const claims = ofShop({ sub: `tel:${ada.phoneNumber}`, scope: `${read} ${purpose}` });
  const assertion = await signed(shopKey, claims);
  const { body } = await askForToken(service, subscribersToken(assertion), { "x-correlator": "purpose-1" });
  const lines = service
    .output()
    .split("\n")
    .filter((line) => line.includes(logId("TOKEN_ISSUED")) && line.includes("purpose-1"))
    .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));

  expect(lines).toEqual([expect.objectContaining({ purpose, grant: jwtBearer })]);
  for (const secret of ["34600000201", "shop-1", String(claims.jti), assertion, body.access_token ?? "?"]) {
    expect(service.output()).not.toContain(secret);
  }
});
