import { createPrivateKey } from "node:crypto";
import {
  calculateJwkThumbprint,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  SignJWT,
} from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { logId } from "../../shared/aws/log.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { errors } from "../../shared/errors.ts";
import { type Answer, claimsOf } from "../support/client.ts";
import { plainDevice } from "../support/device.ts";
import { type OidcProvider, openOidcProvider, subscriptionClaim } from "../support/oidc-provider.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { countingServer, rsaKey, signedBy, tokenOf } from "../support/signed.ts";

const path = "/qualityondemand/retrieve-qos-profiles";
const read = "qos-profiles:read";
const identify = "device-identifier:retrieve-identifier";
const requestsPerDay = 12;

const ada: DeviceRecord = { ...plainDevice, subscription: "line-of-ada", phoneNumber: "+34600000101" };
const ben: DeviceRecord = {
  ...plainDevice,
  subscription: "line-of-ben",
  phoneNumber: "+34600000102",
  imei: "356938035643809",
};

/** The key of two issuers whose tokens the test signs itself. */
const issuerKey = rsaKey();
const audience = "operator-audience";
const live = "https://live.example";
/** Another one, with the same keys; its entry says that all of its tokens are for applications. */
const machines = "https://machines.example";
/** An issuer whose keys cannot be fetched. */
const dead = "https://dead.example";
/** Serves the keys of `live`. */
let jwks: Awaited<ReturnType<typeof countingServer>>;

let provider: OidcProvider;
let service: OwnService;

beforeAll(async () => {
  const options = {
    applications: ["maps"],
    apps: ["wallet", "shared"],
    subscriptions: { ada: ada.subscription, ben: ben.subscription },
  };
  provider = await openOidcProvider(options);
  jwks = await countingServer((_, response) => response.end(JSON.stringify({ keys: [issuerKey.jwk] })));
  const nobody = await countingServer(() => {});
  await nobody.close();
  const { issuer, jwks_uri: jwksUri } = await provider.discover();
  const common = { audience: "network-capabilities", algorithms: ["RS256", "ES256"], subscriptionClaim };
  const ofTests = { audience, algorithms: ["RS256"], subscriptionClaim: "line" };
  service = await startOwnService({
    DAILY_QUOTA: String(requestsPerDay),
    TRUSTED_ISSUERS: JSON.stringify([
      { ...common, issuer, jwksUri },
      { ...ofTests, issuer: live, jwksUri: jwks.url },
      { ...ofTests, issuer: machines, jwksUri: jwks.url, applicationsOnly: true },
      { ...ofTests, issuer: dead, jwksUri: nobody.url },
    ]),
  });
  for (const device of [ada, ben]) await service.putDevice(device);
});
afterAll(async () => {
  await Promise.all([service, provider, jwks].map((server) => server.close()));
});

const answered = z.looseObject({ imei: z.string().optional(), code: z.string().optional() });

async function ask(token: string, path: string, body: object): Promise<Answer> {
  return await service.call(path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}

/** The status, and what the answer says in a word: the device's IMEI or the code of the refusal. */
async function identifierWith(token: string, body: object = {}): Promise<readonly (number | string)[]> {
  const answer = await ask(token, "/deviceidentifier/retrieve-identifier", body);
  const { imei, code } = answered.parse(answer.body);
  return [answer.status, imei ?? code ?? ""];
}

async function statusOfProfiles(token: string): Promise<number> {
  return (await ask(token, path, {})).status;
}

/** The lines of the log that tell an operator why a person's token was refused. */
function refusalsLogged(): Readonly<Record<string, unknown>>[] {
  const lines = service
    .output()
    .split("\n")
    .filter((line) => line.includes(logId("TOKEN_WITHOUT_SUBSCRIPTION")));
  return lines.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
}

const deviceOf = ({ phoneNumber }: DeviceRecord) => ({ device: { phoneNumber } });
const ofMaps = (scope: string) => provider.tokenOfApplication({ client: "maps", scope });
const ofPerson = (person: string, scope = identify) =>
  provider.tokensOfPerson({ client: "wallet", person, scope });

describe("a token that an application has for itself", () => {
  test("the service accepts the at+jwt of an application, signed with RS256 for our audience", async () => {
    const token = await ofMaps(read);

    expect(decodeProtectedHeader(token)).toEqual({ typ: "at+jwt", alg: "RS256", kid: expect.any(String) });
    expect(decodeJwt(token)).toMatchObject({ aud: "network-capabilities", client_id: "maps", sub: "maps" });
    expect(await statusOfProfiles(token)).toBe(200);
  });

  test("POST /retrieve-identifier answers a 2-legged token with any device that it names, and 422 without one", async () => {
    expect(await identifierWith(await ofMaps(identify))).toEqual([422, "MISSING_IDENTIFIER"]);
    expect(await identifierWith(await ofMaps(identify), deviceOf(ada))).toEqual([200, ada.imei]);
    expect(await identifierWith(await ofMaps(identify), deviceOf(ben))).toEqual([200, ben.imei]);
  });

  test("a token opens the operations of its scopes and no others", async () => {
    const both = await ofMaps(`${read} ${identify}`);

    expect(await identifierWith(await ofMaps(read), deviceOf(ada))).toEqual([403, "PERMISSION_DENIED"]);
    expect(await statusOfProfiles(await ofMaps(identify))).toBe(403);
    expect(await statusOfProfiles(both)).toBe(200);
    expect(await identifierWith(both, deviceOf(ada))).toEqual([200, ada.imei]);
    expect(await statusOfProfiles(await ofMaps(""))).toBe(403);
  });
});

describe("a token for which a person signed in and agreed", () => {
  test("POST /retrieve-identifier answers a person's at+jwt, signed with ES256, with the device of the person's subscription", async () => {
    const { access_token: token } = await ofPerson("ada");

    expect(decodeProtectedHeader(token)).toEqual({ typ: "at+jwt", alg: "ES256", kid: expect.any(String) });
    expect(decodeJwt(token)).toMatchObject({
      sub: "ada",
      client_id: "wallet",
      [subscriptionClaim]: ada.subscription,
    });
    expect(await identifierWith(token)).toEqual([200, ada.imei]);
    expect(await identifierWith((await ofPerson("ben")).access_token)).toEqual([200, ben.imei]);
  });

  test("POST /retrieve-identifier answers 422 to a person's token with any device, the person's own included", async () => {
    const unnecessary = [422, "UNNECESSARY_IDENTIFIER"];
    expect(await identifierWith((await ofPerson("ada")).access_token, deviceOf(ada))).toEqual(unnecessary);
    expect(await identifierWith((await ofPerson("ada")).access_token, deviceOf(ben))).toEqual(unnecessary);
  });

  test("POST /retrieve-identifier answers 401 to a person's token without a subscription, and logs only the issuer", async () => {
    const { access_token: token } = await ofPerson("carol");
    expect(decodeJwt(token)).toMatchObject({ sub: "carol", client_id: "wallet", scope: identify });
    const before = refusalsLogged();

    expect(await identifierWith(token, deviceOf(ben))).toEqual([401, "UNAUTHENTICATED"]);
    expect(await identifierWith(token)).toEqual([401, "UNAUTHENTICATED"]);
    await expect.poll(() => refusalsLogged().length - before.length).toBe(2);
    const [line = {}] = refusalsLogged().slice(-1);
    expect(line).toMatchObject({ level: "WARN", issuer: provider.issuer });
    expect(JSON.stringify(line)).not.toMatch(/carol|wallet|device-identifier/);
    expect(JSON.stringify(line)).not.toContain(token);
  });

  test("the daily quota counts a person's requests for the application, not for the person", async () => {
    const statuses: number[] = [];
    for (let request = 0; request <= requestsPerDay; request++) {
      const person = ["ada", "ben"][request % 2] ?? "";
      const wanted = { client: "shared", person, scope: read };
      statuses.push(await statusOfProfiles((await provider.tokensOfPerson(wanted)).access_token));
    }
    expect(statuses).toEqual([...Array.from({ length: requestsPerDay }, () => 200), 429]);
  });
});

describe("a token that is not accepted", () => {
  const provesPossession = async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const jwk = await exportJWK(publicKey);
    const dpop = (htm: string, htu: string) =>
      new SignJWT({ htm, htu, jti: crypto.randomUUID() })
        .setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk })
        .setIssuedAt()
        .sign(privateKey);
    return { dpop, thumbprint: await calculateJwkThumbprint(jwk) };
  };
  const tokens: Record<string, () => Promise<string>> = {
    "an identity token": async () => {
      const { id_token: token } = await ofPerson("ada", `openid ${read}`);
      return token ?? "";
    },
    "an opaque token": async () => provider.tokenOfApplication({ client: "maps", scope: "", resource: "" }),
    "a token that is bound to a key, without a proof of the key": async () => {
      const { dpop, thumbprint } = await provesPossession();
      const token = await provider.tokenOfApplication({ client: "maps", scope: read, dpop });
      expect(decodeJwt(token)).toMatchObject({ cnf: { jkt: thumbprint } });
      return token;
    },
  };
  test.each(Object.entries(tokens))(
    "POST /retrieve-qos-profiles answers 401 UNAUTHENTICATED to %s",
    async (_, tokenOf) => {
      const token = await tokenOf();
      expect(token).not.toBe("");
      const { status, headers, body } = await ask(token, path, {});

      expect(status).toBe(401);
      expect(body).toEqual({ status: 401, code: "UNAUTHENTICATED", message: errors.UNAUTHENTICATED.message });
      expect(headers.get("www-authenticate")).toBe("Bearer");
    },
  );
});

describe("the provider's keys", () => {
  test("the service accepts a new token while the provider is down", async () => {
    const [known, more] = [await ofMaps(read), await ofMaps(read)];
    expect(await statusOfProfiles(known)).toBe(200);
    provider.setDown(true);
    try {
      expect(await statusOfProfiles(more)).toBe(200);
    } finally {
      provider.setDown(false);
    }
  });

  test("the service accepts tokens of a new key after a rotation, and those of the old key meanwhile", async () => {
    const old = await Promise.all([ofMaps(read), ofMaps(read)]);
    provider.rotate();
    const fresh = await ofMaps(read);
    expect(decodeProtectedHeader(fresh).kid).not.toBe(decodeProtectedHeader(old[0]).kid);

    expect(await statusOfProfiles(old[0])).toBe(200);
    await expect.poll(() => statusOfProfiles(fresh), { timeout: 20_000, interval: 2_000 }).toBe(200);
    expect(await statusOfProfiles(old[1])).toBe(200);
  }, 30_000);
});

describe("issuers whose tokens the test signs itself", () => {
  const theirToken = (iss: string, claims: object = {}) => {
    const application = crypto.randomUUID();
    const payload = {
      iss,
      aud: audience,
      sub: application,
      azp: application,
      scope: "qos-profiles:read",
      exp: Math.floor(Date.now() / 1_000) + 600,
    };
    return tokenOf(
      { alg: "RS256", typ: "JWT", kid: issuerKey.kid },
      { ...payload, ...claims },
      signedBy(issuerKey),
    );
  };
  const retrieve = (token: string, body: object = {}) =>
    service.call(path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "x-correlator": "c-2" },
      body: JSON.stringify(body),
    });
  const codeOf = ({ body }: Answer) => answered.parse(body).code;
  const device = { phoneNumber: "+34600000099" };

  test("POST /retrieve-qos-profiles answers 200 to another issuer's token whose subject is its client, as 2-legged", async () => {
    expect(await retrieve(theirToken(live))).toMatchObject({ status: 200, body: [] });
    // A 2-legged token may name a device; this one nobody knows.
    expect(codeOf(await retrieve(theirToken(live), { device }))).toBe("IDENTIFIER_NOT_FOUND");
  });

  test("POST /retrieve-qos-profiles answers 401 to any other subject, unless the issuer has applications only", async () => {
    const claims = { sub: "service-account-1" };

    expect(await retrieve(theirToken(live, claims), { device })).toMatchObject({ status: 401 });
    expect(codeOf(await retrieve(theirToken(machines, claims), { device }))).toBe("IDENTIFIER_NOT_FOUND");
    expect(codeOf(await retrieve(theirToken(machines, { ...claims, line: "sub-7" }), { device }))).toBe(
      "UNNECESSARY_IDENTIFIER",
    );
  });

  test("the authorizer fetches an issuer's keys once for many tokens", async () => {
    const before = jwks.requests();
    for (let call = 0; call < 5; call++) await retrieve(theirToken(live));
    // Each execution environment has a memory of its own.
    expect(jwks.requests() - before).toBeLessThanOrEqual(1);
  });

  test("POST /retrieve-qos-profiles answers 503 with Retry-After, not 401, when an issuer's keys cannot be fetched", async () => {
    const { status, headers, body } = await retrieve(theirToken(dead));

    expect(status).toBe(503);
    expect(body).toEqual({ status: 503, code: "UNAVAILABLE", message: errors.UNAVAILABLE.message });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(headers.get("x-correlator")).toBe("c-2");
  });

  test("POST /retrieve-qos-profiles answers 200 to our token while another issuer's keys cannot be fetched", async () => {
    const { kid, ...jwk } = await service.signingKey();
    const signer = { kid, jwk, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
    const ours = () => tokenOf({ alg: "ES256", typ: "at+jwt", kid }, claimsOf("client"), signedBy(signer));

    const answers = await Promise.all([retrieve(theirToken(dead)), retrieve(ours()), retrieve(ours())]);

    expect(answers.map(({ status }) => status)).toEqual([503, 200, 200]);
  });
});
