import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AssertionClaims,
  algorithmOf,
  grantedScope,
  jwtBearer,
  needsConsent,
  phoneNumberOf,
  problemIn,
} from "../../functions/oauth2/rules.ts";
import type { ClientRecord } from "../../functions/oauth2/tables.ts";

const now = new Date("2026-11-23T12:00:00Z");
const seconds = now.getTime() / 1_000;
const audiences = ["https://issuer.test", "https://issuer.test/oauth2/token"];

const claims: AssertionClaims = {
  iss: "shop",
  sub: "shop",
  aud: "https://issuer.test",
  exp: seconds + 60,
  iat: seconds,
  jti: "1",
};
const problem = (changed: Partial<AssertionClaims>) => problemIn({ ...claims, ...changed }, audiences, now);

describe("problemIn", () => {
  test("the token endpoint accepts the issuer or its token endpoint as the one audience", () => {
    for (const audience of audiences) {
      expect(problem({ aud: audience })).toBeUndefined();
      expect(problem({ aud: [audience] })).toBeUndefined();
    }
  });

  test("the token endpoint refuses every other audience", () => {
    for (const aud of ["", "https://other.test", "https://issuer.test/", "HTTPS://ISSUER.TEST"]) {
      expect(problem({ aud })).toMatch(/aud/);
    }
  });

  test("the token endpoint accepts an expiry of at most 300 seconds, and 5 for clocks, after iat and now", () => {
    fc.assert(
      fc.property(fc.integer({ min: -600, max: 5 }), fc.integer({ min: 1, max: 10_000 }), (age, left) => {
        const isShort = left - Math.min(age, 0) <= 305;
        expect(problem({ iat: seconds + age, exp: seconds + left }) === undefined).toBe(isShort);
      }),
    );
  });

  test("the token endpoint refuses a lifetime above 300 seconds without iat", () => {
    const { iat: _, ...others } = claims;
    expect(problemIn({ ...others, exp: seconds + 305 }, audiences, now)).toBeUndefined();
    expect(problemIn({ ...others, exp: seconds + 306 }, audiences, now)).toMatch(/expire/);
  });

  test("the token endpoint refuses an iat ahead, a far-future expiry and an infinite one", () => {
    expect(problem({ iat: seconds + 6 })).toMatch(/iat/);
    expect(problem({ exp: seconds + 86_400 * 365 })).toMatch(/expire/);
    expect(problem({ exp: Number.POSITIVE_INFINITY })).toMatch(/expire/);
  });
});

test("the token endpoint knows no symmetric algorithm and not none", () => {
  for (const alg of ["HS256", "none", "None", "", undefined, "RS1", "ES512"]) {
    expect(algorithmOf(alg)).toBeUndefined();
  }
});

const client: ClientRecord = {
  clientId: "shop",
  scopes: ["a:read", "b:read"],
  grants: ["client_credentials", jwtBearer],
  purposes: ["dpv:FraudPreventionAndDetection", "dpv:Marketing"],
};
const granted = (asked: string | undefined, grant: ClientRecord["grants"][number] = "client_credentials") =>
  grantedScope(asked, client, grant);

describe("grantedScope", () => {
  test("the token endpoint grants what was asked for, each word once", () => {
    expect(granted("a:read  a:read dpv:Marketing")).toEqual({
      scope: "a:read dpv:Marketing",
      scopes: ["a:read"],
      purpose: "dpv:Marketing",
    });
  });

  test("the token endpoint refuses a missing scope, a purpose alone, and a scope the client does not have", () => {
    for (const asked of [undefined, "", " ", "dpv:Marketing", "c:read", "a:read c:read", "a:read\tb:read"]) {
      expect(granted(asked)).toEqual({ problem: expect.any(String) });
    }
  });

  test("the token endpoint refuses a second purpose and a purpose the client does not have", () => {
    expect(granted("a:read dpv:Marketing dpv:FraudPreventionAndDetection")).toHaveProperty("problem");
    expect(granted("a:read dpv:Sell")).toHaveProperty("problem");
  });

  test("the token endpoint needs a purpose for a subscriber's token alone", () => {
    expect(granted("a:read", jwtBearer)).toHaveProperty("problem");
    expect(granted("a:read dpv:Marketing", jwtBearer)).toHaveProperty("purpose", "dpv:Marketing");
    expect(granted("a:read")).toHaveProperty("purpose", undefined);
  });
});

test("the token endpoint reads tel: and an E.164 number alone", () => {
  expect(phoneNumberOf("tel:+34600000001")).toBe("+34600000001");
  for (const subject of ["+34600000001", "tel:34600000001", "tel:+34 600", "TEL:+34600000001", "shop"]) {
    expect(phoneNumberOf(subject)).toBeUndefined();
  }
});

test("the token endpoint is true of scopes of device identifiers alone", () => {
  expect(needsConsent(["qos-profiles:read", "device-identifier:retrieve-identifier"])).toBe(true);
  expect(needsConsent(["qos-profiles:read"])).toBe(false);
});
