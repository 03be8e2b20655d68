import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areInconsistent, equipmentNumbers } from "../../functions/device-identifier/rules.ts";
import { plainDevice as device } from "../support/device.ts";

test("equipmentNumbers returns an IMEI, IMEISV and TAC that agree, the check digit left out of the IMEISV", () => {
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

describe("identifiers", () => {
  const other = { ...device, subscription: "s-2" };

  test.each([
    ["one device", false, [device]],
    ["one subscription twice", false, [device, { ...device }]],
    ["two subscriptions", true, [device, other]],
    ["a known and an unknown device", false, [device, undefined]],
    ["one subscription twice and another", true, [device, device, other]],
    ["unknown devices", false, [undefined, undefined]],
  ])("areInconsistent for identifiers of %s is %s", (_, inconsistent, found) => {
    expect(areInconsistent(found)).toBe(inconsistent);
  });
});
