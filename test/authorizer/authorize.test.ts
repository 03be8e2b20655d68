import { describe, expect, test } from "vitest";
import { errors } from "../../shared/errors.ts";
import { call, tokenWith } from "../support/client.ts";

const path = "/qualityondemand/retrieve-qos-profiles";
const second = Math.floor(Date.now() / 1_000);
const unauthenticated = {
  status: 401,
  code: "UNAUTHENTICATED",
  message: errors.UNAUTHENTICATED.message,
};

describe("a token that is not accepted", () => {
  const authorizations: Record<string, () => Promise<string | undefined> | string | undefined> = {
    "a request without an Authorization header": () => undefined,
    "an empty Authorization header": () => "",
    "a token after the scheme Basic": async () => `Basic ${await tokenWith()}`,
    "a token without a scheme": () => tokenWith(),
    "a scheme without a token": () => "Bearer",
    "two tokens": async () => `Bearer ${await tokenWith()} ${await tokenWith()}`,
    "text that is no token": () => "Bearer garbage",
    "three parts that are no token": () => "Bearer aaaa.bbbb.cccc",
    "an expired token": async () => `Bearer ${await tokenWith({ exp: second - 60 })}`,
  };

  test.each(Object.entries(authorizations))(
    "POST /retrieve-qos-profiles answers 401 UNAUTHENTICATED to %s",
    async (_, authorizationOf) => {
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
    },
  );
});

describe("a token that is accepted", () => {
  test.each(["Bearer", "bearer", "BEARER", "Bearer  "])(
    "POST /retrieve-qos-profiles answers 200 to a token after the scheme %j",
    async (scheme) => {
      const { status } = await call(path, {
        headers: { authorization: `${scheme} ${await tokenWith()}` },
        body: {},
      });
      expect(status).toBe(200);
    },
  );

  test("POST /retrieve-qos-profiles answers 200 to a token in a header named AUTHORIZATION", async () => {
    const headers = { AUTHORIZATION: `Bearer ${await tokenWith()}` };
    expect(await call(path, { headers, body: {} })).toMatchObject({ status: 200 });
  });

  test("POST /retrieve-qos-profiles answers 200 to a token that expired a second ago", async () => {
    const token = await tokenWith({ exp: Math.floor(Date.now() / 1_000) - 1 });
    expect(await call(path, { token, body: {} })).toMatchObject({ status: 200 });
  });

  test.each(["everything", "", "device-identifier:retrieve-identifier"])(
    "POST /retrieve-qos-profiles answers 403 and names qos-profiles:read to a token with the scope %j",
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

  test("a token opens every path of its scope, in any order of requests", async () => {
    const token = await tokenWith();

    const answers = [
      await call("/qos-profiles/v1/qos-profiles/NOBODY_KNOWS_IT", { token }),
      await call(path, { token, body: {} }),
      await call("/qos-profiles/v1/retrieve-qos-profiles", { token, body: {} }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 200, 200]);
  });
});
