import { describe, expect, test } from "vitest";
import { call, tokenWith } from "../support/client.ts";

const path = "/qualityondemand/retrieve-qos-profiles";
const alias = "/qos-profiles/v1/retrieve-qos-profiles";

async function retrieve(body: unknown, claims: Record<string, unknown> = {}, at = path) {
  return await call(at, {
    method: "POST",
    body,
    token: await tokenWith(claims),
    headers: { "x-correlator": "qos-1" },
  });
}

async function names(body: unknown, claims: Record<string, unknown> = {}): Promise<string[]> {
  const answer = await retrieve(body, claims);
  expect(answer.status).toBe(200);
  return (answer.body as { name: string }[]).map(({ name }) => name);
}

const unrestricted = [
  "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  "QOS_E",
  "QOS_L",
  "QOS_LEGACY",
  "QOS_M",
  "QOS_NIGHTLY",
  "QOS_S",
  "QOS_VOICE",
];
const ofFirst = ["QOS_E", "QOS_L", "QOS_M", "QOS_RESTRICTED", "QOS_S"];
const inSpain = unrestricted.filter((name) => name !== "QOS_VOICE");

describe("200", () => {
  test("POST /retrieve-qos-profiles and its alias list unrestricted profiles of every status by name", async () => {
    expect(await names({})).toEqual(unrestricted);
    expect(await retrieve({}, {}, alias)).toMatchObject({ status: 200 });
  });

  test("POST /retrieve-qos-profiles returns profiles that meet all criteria, or an empty list", async () => {
    expect(await names({ status: "DEPRECATED" })).toEqual(["QOS_LEGACY"]);
    expect(await names({ name: "QOS_LEGACY", status: "DEPRECATED" })).toEqual(["QOS_LEGACY"]);
    expect(await names({ name: "QOS_LEGACY", status: "ACTIVE" })).toEqual([]);
    expect(await names({ name: "QOS_RESTRICTED" })).toEqual([]);
  });

  test.each([
    ["phone number", { phoneNumber: "+34600000001" }, ofFirst],
    [
      "the first identifier, for any second one",
      { phoneNumber: "+34600000001", ipv6Address: "2001:db8:2:2::1" },
      ofFirst,
    ],
    ["a device without a list, abroad", { phoneNumber: "+34600000002" }, unrestricted],
    ["a device without a list, in Spain", { phoneNumber: "+34600000005" }, inSpain],
    ["a device that may use none", { phoneNumber: "+34600000003" }, []],
  ])(
    "POST /retrieve-qos-profiles returns the profiles of a device found by %s",
    async (_, device, expected) => {
      expect(await names({ device })).toEqual(expected);
    },
  );

  test("POST /retrieve-qos-profiles returns what is available to the subject of a 3-legged token", async () => {
    expect(await names({}, { subscription: "s-0001" })).toEqual(ofFirst);
    expect(await names({ name: "QOS_E" }, { subscription: "s-0001" })).toEqual(["QOS_E"]);
    expect(await names({}, { subscription: "s-0003" })).toEqual([]);
  });
});

const ipv4 = (address: Record<string, unknown>) => ({ device: { ipv4Address: address } });

describe("400", () => {
  test.each([-1, 65_536, 1e300])(
    "POST /retrieve-qos-profiles returns 400 OUT_OF_RANGE for port %d",
    async (publicPort) => {
      const answer = await retrieve(ipv4({ publicAddress: "203.0.113.10", publicPort }));
      expect(answer).toMatchObject({ status: 400, body: { status: 400, code: "OUT_OF_RANGE" } });
    },
  );

  test.each([0, 65_535])("POST /retrieve-qos-profiles accepts port %d", async (publicPort) => {
    const answer = await retrieve(ipv4({ publicAddress: "203.0.113.10", publicPort }));
    expect(answer).toMatchObject({ status: 404, body: { code: "IDENTIFIER_NOT_FOUND" } });
  });
});
