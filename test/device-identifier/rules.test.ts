import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areInconsistent, equipmentNumbers } from "../../functions/device-identifier/rules.ts";
import { plainDevice as device } from "../support/device.ts";

test("the numbers of a device agree: one serial, one type, the check digit left out of the version", () => {
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
    ["one", [device], false],
    ["two of one subscription", [device, { ...device }], false],
    ["two of different subscriptions", [device, other], true],
    ["a known one and an unknown one", [device, undefined], false],
    ["two of one and a third of another", [device, device, other], true],
    ["none that is known", [undefined, undefined], false],
  ])("%s", (_, found, inconsistent) => {
    expect(areInconsistent(found)).toBe(inconsistent);
  });
});
