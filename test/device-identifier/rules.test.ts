import fc from "fast-check";
import { expect, test } from "vitest";
import { equipmentNumbers, ppidOf, subscriptionsOf } from "../../functions/device-identifier/rules.ts";
import { plainDevice as device } from "../support/device.ts";

test("a device is answered with an IMEI, IMEISV and TAC that agree, with no check digit in the IMEISV", () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
  fc.assert(
    fc.property(digits(15), digits(2), (imei, softwareVersion) => {
      const numbers = equipmentNumbers({ ...device, imei, softwareVersion });
      expect(numbers.imei).toBe(imei);
      expect(numbers.imeisv).toMatch(/^[0-9]{16}$/);
      expect(numbers.imeisv.slice(0, 14)).toBe(imei.slice(0, 14));
      expect(numbers.imeisv.endsWith(softwareVersion)).toBe(true);
      expect([imei, numbers.imeisv].every((number) => number.startsWith(numbers.tac))).toBe(true);
      expect(numbers.tac).toHaveLength(8);
    }),
  );
});

test("a pseudonym of a device is the HMAC-SHA-256 of the IMEI and the client by the key, in hexadecimal", () => {
  // printf '490154203237518 shop' | openssl dgst -sha256 -mac HMAC -macopt hexkey:6b6579
  expect(ppidOf("490154203237518", "shop", "a2V5")).toBe(
    "e3997df3dced6bd099a7edbecc1af43ceb444f931b925edc68560ffbab4406d9",
  );
});

test("a pseudonym of a device differs for each key, each client and each device", () => {
  const pairs = [
    ["490154203237518", "shop", "a2V5"],
    ["490154203237518", "shop", "b3RoZXI"],
    ["490154203237518", "bank", "a2V5"],
    ["356938035643809", "shop", "a2V5"],
  ] as const;
  expect(new Set(pairs.map(([imei, client, key]) => ppidOf(imei, client, key))).size).toBe(pairs.length);
});

test("a request names each subscription of some devices once", () => {
  const other = { ...device, subscription: "s-2" };
  expect(subscriptionsOf([device, { ...device }])).toEqual(["s-1"]);
  expect(subscriptionsOf([device, device, other])).toEqual(["s-1", "s-2"]);
});
