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
    "a token after the scheme Basic": async () => `Basic ${await tokenWith()}`,
    "two tokens": async () => `Bearer ${await tokenWith()} ${await tokenWith()}`,
    "text that is no token": () => "Bearer garbage",
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
});
