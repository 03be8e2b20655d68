import { describe, expect, test } from "vitest";
import { call, tokenWith } from "../support/client.ts";

const path = "/qualityondemand/qos-profiles";
const alias = "/qos-profiles/v1/qos-profiles";

async function get(name: string, claims: Record<string, unknown> = {}, at = path) {
  return await call(`${at}/${name}`, {
    token: await tokenWith(claims),
    headers: { "x-correlator": "name-1" },
  });
}

const notFound = { status: 404, body: { status: 404, code: "NOT_FOUND" } };

describe("200", () => {
  test("GET /qos-profiles/{name} and its alias return 200 with the profile", async () => {
    const expected = {
      status: 200,
      body: { name: "QOS_VOICE", countryAvailability: [{ countryName: "FR", networks: ["20801"] }] },
    };
    expect(await get("QOS_VOICE")).toMatchObject(expected);
    expect(await get("QOS_VOICE", {}, alias)).toMatchObject(expected);
  });

  test("the alias of GET /qos-profiles/{name} names service classes as CAMARA's release does", async () => {
    expect(await get("QOS_VOICE")).toMatchObject({ body: { serviceClass: "vendor_voice" } });
    expect(await get("QOS_VOICE", {}, alias)).toMatchObject({ body: { serviceClass: "microsoft_voice" } });
    expect(await get("QOS_E", {}, alias)).toMatchObject({ body: { serviceClass: "real_time_interactive" } });
  });

  test("GET /qos-profiles/{name} returns restricted and inactive profiles to a 2-legged token", async () => {
    expect(await get("QOS_RESTRICTED")).toMatchObject({ status: 200, body: { name: "QOS_RESTRICTED" } });
    expect((await get("QOS_RESTRICTED")).body).not.toHaveProperty("restricted");
    expect(await get("QOS_NIGHTLY")).toMatchObject({ status: 200, body: { status: "INACTIVE" } });
  });
});

describe("400 INVALID_ARGUMENT", () => {
  test.each(["ab", "a".repeat(257), "QOS%20E", "QOS%E", "%FF%FE%FD", "QOS%2FE", "caf%C3%A9"])(
    "GET /qos-profiles/%s returns 400 INVALID_ARGUMENT",
    async (name) => {
      const answer = await get(name);
      expect(answer).toMatchObject({ status: 400, body: { status: 400, code: "INVALID_ARGUMENT" } });
      expect(answer.headers.get("x-correlator")).toBe("name-1");
    },
  );
});

describe("404 NOT_FOUND", () => {
  test("GET /qos-profiles/{name} returns the same 404 for an unavailable as for an unknown profile", async () => {
    const unavailable = await get("QOS_VOICE", { subscription: "s-0001" });
    const absent = await get("QOS_UNKNOWN", { subscription: "s-0001" });
    expect(unavailable).toMatchObject(notFound);
    expect(unavailable.body).toEqual(absent.body);
    expect(await get("QOS_E", { subscription: "s-0004" })).toMatchObject(notFound);
    expect(await get("QOS_E", { subscription: crypto.randomUUID() })).toMatchObject(notFound);
  });
});
