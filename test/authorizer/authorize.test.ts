import { describe, expect, it } from "vitest";
import { errors } from "../../shared/errors.ts";
import { call, claimsOf, tokenWith } from "../support/client.ts";
import { ellipticKey, signedBy, tokenOf } from "../support/signed.ts";

const path = "/qualityondemand/retrieve-qos-profiles";
const second = Math.floor(Date.now() / 1_000);
const unauthenticated = {
  status: 401,
  code: "UNAUTHENTICATED",
  message: errors.UNAUTHENTICATED.message,
};

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
