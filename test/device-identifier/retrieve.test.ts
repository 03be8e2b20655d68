import { describe, expect, test } from "vitest";
import { call, tokenWith } from "../support/client.ts";

const path = "/deviceidentifier/retrieve-identifier";
const alias = "/device-identifier/v0.3/retrieve-identifier";

async function retrieve(body: unknown, claims: Record<string, unknown> = {}, at = path) {
  const token = await tokenWith({ scope: "device-identifier:retrieve-identifier", ...claims });
  return await call(at, { method: "POST", body, token, headers: { "x-correlator": "imei-1" } });
}

const refused = (status: number, code: string) => ({ status, body: { status, code } });
const phone = { phoneNumber: "+34600000001" };
const ipv4 = { ipv4Address: { publicAddress: "203.0.113.10", publicPort: 59_765 } };
const ipv6 = { ipv6Address: "2001:db8:1:1::77" };
const ofAnother = { ipv6Address: "2001:db8:2:2::1" };
const unknown = { ipv6Address: "2001:db8:ffff::1" };
const reserved = { networkAccessIdentifier: "1@example.com" };

const first = {
  lastChecked: "2026-02-20T10:41:38.657Z",
  imei: "490154203237518",
  imeisv: "4901542032375101",
  tac: "49015420",
  model: "3110",
  manufacturer: "Nokia",
};

describe("200", () => {
  test.each([
    ["a phone number", phone],
    ["an IPv4 address and port", ipv4],
    ["an IPv6 address", ipv6],
  ])("by %s: exactly the device, without the identifier", async (_, device) => {
    const answer = await retrieve({ device });
    expect(answer).toMatchObject({ status: 200, body: first });
    expect(Object.keys(answer.body as object).sort()).toEqual(Object.keys(first).sort());
    expect(answer.headers.get("x-correlator")).toBe("imei-1");
  });

  test("both addresses answer", async () => {
    expect(await retrieve({ device: phone }, {}, alias)).toMatchObject({ status: 200, body: first });
  });

  test.each([
    ["a phone number beside an address", { ...ipv6, ...phone }, phone],
    ["an IPv4 address beside an IPv6 address", { ...ipv6, ...ipv4 }, ipv4],
    ["all of them", { ...reserved, ...ipv6, ...ipv4, ...phone }, phone],
    ["one beside a reserved one", { ...phone, ...reserved }, phone],
    ["a known one beside an unknown one", { ...phone, ...unknown }, phone],
  ])("of several identifiers the one used comes back as it was sent: %s", async (_, device, used) => {
    expect((await retrieve({ device })).body).toEqual({ device: used, ...first });
  });

  test("a 3-legged token asks about its subject, consent given or not", async () => {
    expect((await retrieve({}, { subscription: "s-0001" })).body).toEqual(first);
    expect(await retrieve({}, { subscription: "s-0005" })).toMatchObject({
      status: 200,
      body: { model: "Pixel 9" },
    });
  });
});

describe("400", () => {
  test.each([
    ["no identifier in the device", { device: {} }],
    ["null as device", { device: null }],
    ["a malformed phone number", { device: { phoneNumber: "1" } }],
    ["a malformed access identifier", { device: { networkAccessIdentifier: "nobody" } }],
    [
      "a malformed access identifier beside a good one",
      { device: { ...phone, networkAccessIdentifier: "nobody" } },
    ],
    ["a public address alone", { device: { ipv4Address: { publicAddress: "203.0.113.10" } } }],
    ["a malformed IPv6 address", { device: { ipv6Address: "1::2::3" } }],
    ["an array", []],
  ])("INVALID_ARGUMENT: %s", async (_, body) => {
    expect(await retrieve(body)).toMatchObject(refused(400, "INVALID_ARGUMENT"));
  });

  test("INVALID_ARGUMENT: identifiers of different devices, before consent and applicability", async () => {
    for (const device of [
      { ...phone, ...ofAnother },
      { phoneNumber: "+34600000005", ...ofAnother },
      { phoneNumber: "+34600000004", ...ofAnother },
    ]) {
      expect(await retrieve({ device })).toMatchObject(refused(400, "INVALID_ARGUMENT"));
    }
  });

  test("OUT_OF_RANGE: a port", async () => {
    const device = { ipv4Address: { publicAddress: "203.0.113.10", publicPort: 65_536 } };
    expect(await retrieve({ device })).toMatchObject(refused(400, "OUT_OF_RANGE"));
  });
});

describe("401 and 403", () => {
  test("UNAUTHENTICATED without a token, PERMISSION_DENIED with one of another scope", async () => {
    expect(await call(path, { body: {} })).toMatchObject(refused(401, "UNAUTHENTICATED"));
    expect(await retrieve({}, { scope: "qos-profiles:read" })).toMatchObject(
      refused(403, "PERMISSION_DENIED"),
    );
  });

  test("PERMISSION_DENIED: a subscriber who did not consent, with a 2-legged token", async () => {
    const answer = await retrieve({ device: { phoneNumber: "+34600000005" } });
    expect(answer).toMatchObject(refused(403, "PERMISSION_DENIED"));
    expect(answer.body).toMatchObject({ message: "The subscriber has not consented to this." });
  });
});

describe("404 IDENTIFIER_NOT_FOUND", () => {
  test("an unknown identifier, also beside a known one that comes later", async () => {
    for (const device of [unknown, { phoneNumber: "+34699999999", ...ipv6 }]) {
      expect(await retrieve({ device })).toMatchObject(refused(404, "IDENTIFIER_NOT_FOUND"));
    }
  });

  test("a token of a subscription that is gone", async () => {
    expect(await retrieve({}, { subscription: crypto.randomUUID() })).toMatchObject(
      refused(404, "IDENTIFIER_NOT_FOUND"),
    );
  });
});

describe("422", () => {
  test("MISSING_IDENTIFIER: a 2-legged token and no device", async () => {
    expect(await retrieve({})).toMatchObject(refused(422, "MISSING_IDENTIFIER"));
  });

  test("UNNECESSARY_IDENTIFIER: a 3-legged token and any identifier", async () => {
    for (const device of [phone, reserved]) {
      expect(await retrieve({ device }, { subscription: "s-0001" })).toMatchObject(
        refused(422, "UNNECESSARY_IDENTIFIER"),
      );
    }
  });

  test("UNSUPPORTED_IDENTIFIER: an access identifier alone", async () => {
    expect(await retrieve({ device: reserved })).toMatchObject(refused(422, "UNSUPPORTED_IDENTIFIER"));
  });

  test("SERVICE_NOT_APPLICABLE: a device outside the service, by identifier and by token", async () => {
    const notApplicable = refused(422, "SERVICE_NOT_APPLICABLE");
    expect(await retrieve({ device: { phoneNumber: "+34600000004" } })).toMatchObject(notApplicable);
    expect(await retrieve({}, { subscription: "s-0004" })).toMatchObject(notApplicable);
  });
});
