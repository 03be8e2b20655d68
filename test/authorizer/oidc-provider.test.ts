import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { logId } from "../../shared/aws/log.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { errors } from "../../shared/errors.ts";
import type { Answer } from "../support/client.ts";
import { plainDevice } from "../support/device.ts";
import { type OidcProvider, openOidcProvider, subscriptionClaim } from "../support/oidc-provider.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { rsaKey, signedBy, tokenOf } from "../support/signed.ts";

const path = "/qualityondemand/retrieve-qos-profiles";
/** An issuer whose keys cannot be fetched. */
const dead = "https://dead.example";
const read = "qos-profiles:read";
const identify = "device-identifier:retrieve-identifier";

const ada: DeviceRecord = { ...plainDevice, subscription: "line-of-ada", phoneNumber: "+34600000101" };
const ben: DeviceRecord = {
  ...plainDevice,
  subscription: "line-of-ben",
  phoneNumber: "+34600000102",
  imei: "356938035643809",
};

let provider: OidcProvider;
let service: OwnService;

beforeAll(async () => {
  provider = await openOidcProvider({ ada: ada.subscription, ben: ben.subscription });
  const { issuer, jwks_uri: jwksUri } = await provider.discover();
  const entry = { audience: "network-capabilities", algorithms: ["RS256", "ES256"], subscriptionClaim };
  service = await startOwnService({
    TRUSTED_ISSUERS: JSON.stringify([
      { ...entry, issuer, jwksUri },
      { ...entry, issuer: dead, jwksUri: "http://127.0.0.1:9" },
    ]),
  });
  for (const device of [ada, ben]) await service.putDevice(device);
});
afterAll(async () => {
  await Promise.all([service, provider].map((server) => server.close()));
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
const ofPerson = (person: string, scope = identify) => provider.tokensOfPerson(person, scope);

describe("a token that an application has for itself", () => {
  test("the service accepts the at+jwt of an application, signed with RS256 for our audience", async () => {
    const token = await provider.tokenOfApplication(read);

    expect(decodeProtectedHeader(token)).toEqual({ typ: "at+jwt", alg: "RS256", kid: expect.any(String) });
    expect(decodeJwt(token)).toMatchObject({ aud: "network-capabilities", client_id: "maps", sub: "maps" });
    expect(await statusOfProfiles(token)).toBe(200);
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
});

describe("a token that is not accepted", () => {
  const tokens: Record<string, () => Promise<string>> = {
    "an identity token": async () => {
      const { id_token: token } = await ofPerson("ada", `openid ${read}`);
      return token ?? "";
    },
    "an opaque token": () => provider.tokenOfApplication("", { isForUs: false }),
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

test("a token of an issuer whose keys cannot be fetched costs 503 with Retry-After", async () => {
  const theirs = rsaKey();
  const token = tokenOf({ alg: "RS256", kid: theirs.kid }, { iss: dead }, signedBy(theirs));

  const { status, headers, body } = await ask(token, path, {});

  expect(status).toBe(503);
  expect(body).toEqual({ status: 503, code: "UNAVAILABLE", message: errors.UNAVAILABLE.message });
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
});
