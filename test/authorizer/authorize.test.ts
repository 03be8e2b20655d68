import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { errors } from "../../shared/errors.ts";
import { type Answer, call, claimsOf, tokenWith } from "../support/client.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { countingServer, ellipticKey, rsaKey, signedBy, tokenOf } from "../support/signed.ts";

const path = "/qualityondemand/retrieve-qos-profiles";
const second = Math.floor(Date.now() / 1_000);
const unauthenticated = {
  status: 401,
  code: "UNAUTHENTICATED",
  message: errors.UNAUTHENTICATED.message,
};

const codeOf = ({ body }: Answer) => z.object({ code: z.string() }).parse(body).code;

describe("401 whatever is wrong with the token, always in the same words", () => {
  const changed = async () => {
    const [header, payload, signature = ""] = (await tokenWith()).split(".");
    const flipped = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    return `Bearer ${header}.${payload}.${flipped}`;
  };
  const strangers = () => {
    const key = ellipticKey();
    const header = { alg: "ES256", typ: "at+jwt", kid: key.kid };
    return `Bearer ${tokenOf(header, claimsOf("client"), signedBy(key))}`;
  };
  const authorizations: Record<string, () => Promise<string | undefined> | string | undefined> = {
    "no header": () => undefined,
    "an empty header": () => "",
    "another scheme": async () => `Basic ${await tokenWith()}`,
    "a token without a scheme": () => tokenWith(),
    "a scheme without a token": () => "Bearer",
    "two tokens": async () => `Bearer ${await tokenWith()} ${await tokenWith()}`,
    garbage: () => "Bearer garbage",
    "garbage in three parts": () => "Bearer aaaa.bbbb.cccc",
    "an expired token": async () => `Bearer ${await tokenWith({ exp: second - 60 })}`,
    "a token that was changed": changed,
    "a token of a stranger": strangers,
    "a token for somebody else": async () => `Bearer ${await tokenWith({ aud: "another" })}`,
    "a token without a subject": async () => `Bearer ${await tokenWith({ sub: undefined })}`,
    "a token of another type": async () => `Bearer ${await tokenWith({}, { typ: "JWT" })}`,
    "a token of an unknown issuer": async () =>
      `Bearer ${await tokenWith({ iss: "https://nobody.example" })}`,
  };

  it.each(Object.entries(authorizations))("%s", async (_, authorizationOf) => {
    const authorization = await authorizationOf();
    const correlator = crypto.randomUUID();

    const { status, headers, body } = await call(path, {
      headers: { "x-correlator": correlator, ...(authorization === undefined ? {} : { authorization }) },
      body: {},
    });

    expect(status).toBe(401);
    expect(body).toEqual(unauthenticated);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(headers.get("x-correlator")).toBe(correlator);
    expect(headers.get("content-type")).toContain("application/json");
  });
});

describe("a good token", () => {
  it.each(["Bearer", "bearer", "BEARER", "Bearer  "])("is taken after %j", async (scheme) => {
    const { status } = await call(path, {
      headers: { authorization: `${scheme} ${await tokenWith()}` },
      body: {},
    });
    expect(status).toBe(200);
  });

  it("is taken in a header of any case", async () => {
    const headers = { AUTHORIZATION: `Bearer ${await tokenWith()}` };
    expect(await call(path, { headers, body: {} })).toMatchObject({ status: 200 });
  });

  it("is good for the whole tolerance after its end", async () => {
    const token = await tokenWith({ exp: Math.floor(Date.now() / 1_000) - 1 });
    expect(await call(path, { token, body: {} })).toMatchObject({ status: 200 });
  });

  it.each(["everything", "", "device-identifier:retrieve-identifier"])(
    "with the scope %j alone is not permitted to read QoS profiles: 403",
    async (scope) => {
      const token = await tokenWith({ scope });

      const { status, headers, body } = await call(path, {
        token,
        headers: { "x-correlator": "c-1" },
        body: {},
      });

      expect(status).toBe(403);
      expect(body).toEqual({
        status: 403,
        code: "PERMISSION_DENIED",
        message: "The access token lacks the scope qos-profiles:read.",
      });
      expect(headers.get("x-correlator")).toBe("c-1");
      expect(headers.get("www-authenticate")).toBe(
        'Bearer error="insufficient_scope", scope="qos-profiles:read"',
      );
    },
  );

  it("is told the scope of each operation that it lacks, whichever was asked for first", async () => {
    const token = await tokenWith({ scope: "" });
    const scopes = await Promise.all(
      ["/numberrecycling/check", "/deviceidentifier/retrieve-identifier", "/numberrecycling/check"].map(
        async (asked) => (await call(asked, { token, body: {} })).headers.get("www-authenticate"),
      ),
    );
    expect(scopes).toEqual(
      ["number-recycling:check", "device-identifier:retrieve-identifier", "number-recycling:check"].map(
        (scope) => `Bearer error="insufficient_scope", scope="${scope}"`,
      ),
    );
  });

  it("opens every path of its scope with one answer that is kept, whichever was asked for first", async () => {
    const token = await tokenWith();

    const answers = [
      await call("/qos-profiles/v1/qos-profiles/NOBODY_KNOWS_IT", { token }),
      await call(path, { token, body: {} }),
      await call("/qos-profiles/v1/retrieve-qos-profiles", { token, body: {} }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 200, 200]);
  });
});

describe("other trusted issuers", () => {
  const key = rsaKey();
  const audience = "operator-audience";
  const live = "https://live.example";
  const dead = "https://dead.example";
  let jwks: Awaited<ReturnType<typeof countingServer>>;
  let service: OwnService;

  beforeAll(async () => {
    jwks = await countingServer((_, response) => response.end(JSON.stringify({ keys: [key.jwk] })));
    const closed = await countingServer(() => {});
    await closed.close();
    const common = { audience, algorithms: ["RS256"], subscriptionClaim: "line" };
    service = await startOwnService({
      TRUSTED_ISSUERS: JSON.stringify([
        { ...common, issuer: live, jwksUri: jwks.url },
        { ...common, issuer: dead, jwksUri: closed.url },
      ]),
    });
  });
  afterAll(async () => {
    await service.close();
    await jwks.close();
  });

  const theirToken = (iss: string, claims: object = {}) => {
    const payload = {
      iss,
      aud: audience,
      sub: crypto.randomUUID(),
      scope: "qos-profiles:read",
      exp: second + 600,
    };
    return tokenOf({ alg: "RS256", typ: "JWT", kid: key.kid }, { ...payload, ...claims }, signedBy(key));
  };
  const retrieve = (token: string, body: object = {}) =>
    service.call(path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "x-correlator": "c-2" },
      body: JSON.stringify(body),
    });
  const device = { phoneNumber: "+34600000099" };

  it("200 with a token of a live one, which is 2-legged without the claim of the subscription", async () => {
    expect(await retrieve(theirToken(live))).toMatchObject({ status: 200, body: [] });
    // A 2-legged token may name a device; this one nobody knows.
    expect(codeOf(await retrieve(theirToken(live), { device }))).toBe("IDENTIFIER_NOT_FOUND");
  });

  it("200 with a token that the claim makes 3-legged: it speaks for its subscription and no other", async () => {
    const subscription = crypto.randomUUID();
    const record = {
      subscription,
      ipv4Addresses: [],
      country: "ES",
      network: "21401",
      imei: "490154203237518",
    };
    const equipment = { softwareVersion: "01", model: "M", manufacturer: "F", identifierConsent: true };
    const lastChecked = "2026-11-01T00:00:00Z";
    const identifier = `subscription#${subscription}`;
    await service.put("devices", { identifier, ...record, ...equipment, lastChecked });

    expect(await retrieve(theirToken(live, { line: subscription }))).toMatchObject({ status: 200, body: [] });
    expect(codeOf(await retrieve(theirToken(live, { line: subscription }), { device }))).toBe(
      "UNNECESSARY_IDENTIFIER",
    );
  });

  it("401 with a token of a live one that is not for us, or that it did not sign", async () => {
    const header = { alg: "RS256", typ: "JWT", kid: key.kid };
    const payload = { iss: live, aud: audience, sub: "s", exp: second + 600 };
    const forged = tokenOf(header, payload, signedBy(rsaKey()));

    expect(await retrieve(theirToken(live, { aud: "network-capabilities" }))).toMatchObject({ status: 401 });
    expect(await retrieve(forged)).toMatchObject({ status: 401 });
  });

  it("fetches the keys of a live one once for many tokens", async () => {
    const before = jwks.requests();
    for (let call = 0; call < 5; call++) await retrieve(theirToken(live));
    // Each execution environment has a memory of its own.
    expect(jwks.requests() - before).toBeLessThanOrEqual(1);
  });

  it("503 with Retry-After, not 401, when the keys of one cannot be fetched", async () => {
    const { status, headers, body } = await retrieve(theirToken(dead));

    expect(status).toBe(503);
    expect(body).toEqual({ status: 503, code: "UNAVAILABLE", message: errors.UNAVAILABLE.message });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(headers.get("x-correlator")).toBe("c-2");
  });

  it("200 with a token of ours while the keys of another issuer cannot be fetched", async () => {
    const { kid, ...jwk } = await service.signingKey();
    const { createPrivateKey } = await import("node:crypto");
    const signer = { kid, jwk, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
    const ours = () => tokenOf({ alg: "ES256", typ: "at+jwt", kid }, claimsOf("client"), signedBy(signer));

    const answers = await Promise.all([retrieve(theirToken(dead)), retrieve(ours()), retrieve(ours())]);

    expect(answers.map(({ status }) => status)).toEqual([503, 200, 200]);
  });
});
