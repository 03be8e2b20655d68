import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { identifiersOf, keysOf } from "../../../shared/devices/keys.ts";
import { type DeviceRecord, deviceRecord } from "../../../shared/devices/record.ts";
import { findDevice, releaseIdentifiers } from "../../../shared/devices/store.ts";
import { subjectOf } from "../../../shared/devices/subject.ts";
import { type Device, device as deviceSchema } from "../../../shared/schemas.ts";
import { useTables } from "../../support/database.ts";
import { plainDevice, storeDevice } from "../../support/device.ts";

const signal = AbortSignal.timeout(600_000);
beforeAll(useTables);

let made = 0;

/** A device nobody else has, with every identifier. */
function someDevice(): DeviceRecord & { phoneNumber: string; ipv6Prefix: string } {
  made += 1;
  const random = Math.floor(Math.random() * 60_000);
  return {
    ...plainDevice,
    subscription: crypto.randomUUID(),
    phoneNumber: `+99${String(Date.now()).slice(-7)}${String(made).padStart(4, "0")}`,
    ipv4Addresses: [
      { publicAddress: `198.51.${made % 256}.7`, publicPort: random, privateAddress: "10.1.2.3" },
    ],
    ipv6Prefix: `2001:db8:${random.toString(16)}:${made.toString(16)}::/64`,
  };
}

async function find(device: Device) {
  const [identifier] = identifiersOf(device);
  return identifier === undefined ? undefined : await findDevice(identifier, signal);
}

const device = { phoneNumber: "+34600000001", ipv6Address: "2001:db8::1" };

test.each([
  ["unknown members alone", { imei: "1" }],
  ["a phone number without +", { phoneNumber: "34600000001" }],
  ["a phone number with a leading zero", { phoneNumber: "+04600000001" }],
  ["a short phone number", { phoneNumber: "+1234" }],
  ["a long phone number", { phoneNumber: "+1234567890123456" }],
  ["a public address alone", { ipv4Address: { publicAddress: "203.0.113.10" } }],
  ["no public address", { ipv4Address: { privateAddress: "10.0.0.10", publicPort: 1 } }],
  ["a mask", { ipv4Address: { publicAddress: "203.0.113.10/32", publicPort: 1 } }],
  ["leading zeros", { ipv4Address: { publicAddress: "203.0.113.010", publicPort: 1 } }],
  ["an IPv6 prefix", { ipv6Address: "2001:db8:1:1::/64" }],
  ["an IPv6 zone", { ipv6Address: "fe80::1%eth0" }],
  ["an IPv4 address as IPv6", { ipv6Address: "203.0.113.10" }],
  ["a malformed IPv6 address", { ipv6Address: "1::2::3" }],
  ["an access identifier without @", { networkAccessIdentifier: "nobody" }],
  ["a malformed access identifier and a good phone number", { ...device, networkAccessIdentifier: "nobody" }],
  ["the port -1", { ipv4Address: { publicAddress: "203.0.113.10", publicPort: -1 } }],
  ["the port 65,536", { ipv4Address: { publicAddress: "203.0.113.10", publicPort: 65_536 } }],
])("a request with a device of %s is refused", (_, sent) => {
  expect(deviceSchema.safeParse(device).success).toBe(true);
  expect(deviceSchema.safeParse(sent).success).toBe(false);
});

test.each([0, 65_535])("a device with the public port %d is accepted", (publicPort) => {
  const sent = { ipv4Address: { publicAddress: "203.0.113.10", publicPort } };
  expect(deviceSchema.safeParse(sent).success).toBe(true);
});

test("a device is looked up by phone number, IPv4 and IPv6 in this order and no access identifier", () => {
  const ipv4Address = { publicAddress: "203.0.113.1", publicPort: 1 };
  const keys = identifiersOf({ ...device, ipv4Address, networkAccessIdentifier: "a@b" }).map(
    ({ key }) => key.split("#")[0],
  );
  expect(keys).toEqual(["phone", "ipv4", "ipv6"]);
  expect(identifiersOf({ networkAccessIdentifier: "a@b" })).toEqual([]);
});

test("a device is looked up by the same key for every address of a /64, however it is written", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
      const long = groups.map((group) => group.toString(16).padStart(4, "0")).join(":");
      const sameNetwork = [...groups.slice(0, 4), 1, 2, 3, 4].map((group) => group.toString(16)).join(":");
      const shortened = new URL(`http://[${long}]`).hostname.slice(1, -1).toUpperCase();
      const keyOf = (ipv6Address: string) => identifiersOf({ ipv6Address })[0]?.key;
      expect(keyOf(shortened)).toBe(keyOf(long));
      expect(keyOf(sameNetwork)).toBe(keyOf(long));
    }),
  );
});

describe("request subject", () => {
  const caller = { client: "c", scopes: [], expires: 0 };
  const phone = { phoneNumber: "+34600000001" };
  const identifierOnly = { networkAccessIdentifier: "a@b" };

  test.each([
    ["2-legged, nothing sent", caller, undefined, undefined],
    ["2-legged, a phone number", caller, phone, { identifier: { key: "phone#+34600000001", device: phone } }],
    ["2-legged, an access identifier alone", caller, identifierOnly, { refused: "UNSUPPORTED_IDENTIFIER" }],
    [
      "3-legged, nothing sent",
      { ...caller, subscription: "s" },
      undefined,
      { identifier: { key: "subscription#s", device: {} } },
    ],
    [
      "3-legged, a phone number",
      { ...caller, subscription: "s" },
      phone,
      { refused: "UNNECESSARY_IDENTIFIER" },
    ],
    [
      "3-legged, an access identifier alone",
      { ...caller, subscription: "s" },
      identifierOnly,
      { refused: "UNNECESSARY_IDENTIFIER" },
    ],
  ])("the subject of a request is resolved for %s", (_, token, device, subject) => {
    expect(subjectOf(token, device && identifiersOf(device))).toEqual(subject);
  });
});

describe("stored devices", () => {
  test("a device is found by each of its identifiers", async () => {
    const device = someDevice();
    await storeDevice(device);
    const [address] = device.ipv4Addresses;
    if (address?.publicPort === undefined || address.privateAddress === undefined)
      throw new Error("an address is expected");
    const { publicAddress, publicPort, privateAddress } = address;

    for (const sent of [
      { phoneNumber: device.phoneNumber },
      { ipv4Address: { publicAddress, publicPort } },
      { ipv4Address: { publicAddress, privateAddress } },
      { ipv4Address: { publicAddress, publicPort, privateAddress } },
      { ipv6Address: device.ipv6Prefix.replace("::/64", ":1:2:3:4") },
    ]) {
      expect(await find(sent)).toEqual(device);
    }
    expect(
      await find({ ipv4Address: { publicAddress, publicPort, privateAddress: "10.9.9.9" } }),
    ).toBeUndefined();
  });

  test("a device without NAT is found by its address, from any port", async () => {
    const publicAddress = `192.0.2.${(made % 250) + 1}`;
    const device = { ...someDevice(), ipv4Addresses: [{ publicAddress, privateAddress: publicAddress }] };
    await storeDevice(device);
    expect(
      await find({ ipv4Address: { publicAddress, privateAddress: publicAddress, publicPort: 12_345 } }),
    ).toEqual(device);
  });

  test("an import frees the identifiers that a device gives up for another", async () => {
    const before = someDevice();
    await storeDevice(before);
    const after = { ...someDevice(), subscription: before.subscription };
    const next = { ...someDevice(), phoneNumber: before.phoneNumber };

    await releaseIdentifiers(after, signal);
    await storeDevice(after);
    await storeDevice(next);

    expect(await find({ phoneNumber: before.phoneNumber })).toEqual(next);
    expect(await find({ phoneNumber: after.phoneNumber })).toEqual(after);
  });

  test("a device is stored under different keys", () => {
    const keys = keysOf(someDevice());
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("a device record", () => {
  test("an IMEI is accepted with exactly one of ten check digits", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{14}$/), (digits) => {
        const right = "0123456789"
          .split("")
          .filter((last) => deviceRecord.shape.imei.safeParse(digits + last).success);
        expect(right).toHaveLength(1);
      }),
    );
    expect(deviceRecord.shape.imei.safeParse("490154203237518").success).toBe(true);
  });

  test.each(["2001:db8::/48", "2001:db8::1/64", "2001:db8:1:1::", "203.0.113.0/24", "x", "fe80::%1/64"])(
    "an import refuses the IPv6 prefix %s, which is no /64 without host bits",
    (prefix) => {
      expect(deviceRecord.shape.ipv6Prefix.safeParse(prefix).success).toBe(false);
    },
  );
});
