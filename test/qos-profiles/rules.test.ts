import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { durationUnits, rateUnits } from "../../functions/qos-profiles/contract.ts";
import { contradictionIn, isAvailableTo, isListed } from "../../functions/qos-profiles/rules.ts";
import type { QosProfileRecord } from "../../functions/qos-profiles/tables.ts";
import { plainDevice as device } from "../support/device.ts";

const profile: QosProfileRecord = { name: "QOS_E", status: "ACTIVE" };

describe("availability to a device", () => {
  test("a QoS profile is available by a device's own list alone, restricted or not, in any country", () => {
    const listed = { ...device, qosProfiles: ["QOS_E"] };
    const elsewhere = { ...profile, restricted: true, countryAvailability: [{ countryName: "FR" }] };

    expect(isAvailableTo(listed, elsewhere)).toBe(true);
    expect(isAvailableTo(listed, { ...profile, name: "QOS_S" })).toBe(false);
    expect(isAvailableTo({ ...device, qosProfiles: [] }, profile)).toBe(false);
  });

  test("a restricted QoS profile is not available to a device without a list", () => {
    expect(isAvailableTo(device, { ...profile, restricted: true })).toBe(false);
    expect(isAvailableTo(device, { ...profile, restricted: false })).toBe(true);
  });

  test.each([
    ["no countries", true, undefined],
    ["the country", true, [{ countryName: "ES" }]],
    ["the country and the network", true, [{ countryName: "ES", networks: ["21401", "21407"] }]],
    ["the country with other networks", false, [{ countryName: "ES", networks: ["21401"] }]],
    ["the country with an empty list of networks", false, [{ countryName: "ES", networks: [] }]],
    ["another country with the same network", false, [{ countryName: "FR", networks: ["21407"] }]],
    ["an empty list of countries", false, []],
    ["one of two entries", true, [{ countryName: "FR" }, { countryName: "ES" }]],
  ])("a QoS profile with %s is available to a device: %s", (_, available, countryAvailability) => {
    const restricted = countryAvailability === undefined ? profile : { ...profile, countryAvailability };
    expect(isAvailableTo(device, restricted)).toBe(available);
  });

  test("no QoS profile is available to a device that the service does not apply to", () => {
    const listed = { ...device, qosProfiles: ["QOS_E"], notApplicable: ["qos-profiles"] };
    expect(isAvailableTo(listed, profile)).toBe(false);
    expect(isAvailableTo({ ...device, notApplicable: ["number-recycling"] }, profile)).toBe(true);
  });
});

describe("listing", () => {
  test("profiles of every status are listed without a device, except restricted ones", () => {
    const list = isListed(undefined, {});
    expect(
      ["ACTIVE", "INACTIVE", "DEPRECATED"].map((status) => list({ name: "x", status } as QosProfileRecord)),
    ).toEqual([true, true, true]);
    expect(list({ ...profile, restricted: true })).toBe(false);
  });

  test("two criteria together list the intersection of what each lists alone", () => {
    const names = fc.constantFrom("QOS_E", "QOS_S", "QOS_M");
    const statuses = fc.constantFrom("ACTIVE" as const, "INACTIVE" as const, "DEPRECATED" as const);
    const records = fc.record({ name: names, status: statuses, restricted: fc.boolean() });
    fc.assert(
      fc.property(
        names,
        statuses,
        records,
        fc.constantFrom(undefined, device),
        (name, status, record, subject) => {
          const both = isListed(subject, { name, status })(record);
          expect(both).toBe(isListed(subject, { name })(record) && isListed(subject, { status })(record));
          if (both) expect([record.name, record.status]).toEqual([name, status]);
        },
      ),
    );
  });
});

describe("rates and durations of a profile", () => {
  const rate = fc.record({
    value: fc.integer({ min: 0, max: 1024 }),
    unit: fc.constantFrom(...(Object.keys(rateUnits) as (keyof typeof rateUnits)[])),
  });
  const duration = fc.record({
    value: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    unit: fc.constantFrom(...(Object.keys(durationUnits) as (keyof typeof durationUnits)[])),
  });

  test("an import finds a minimum above its maximum in any units", () => {
    fc.assert(
      fc.property(rate, rate, (less, more) => {
        const exceeds = BigInt(less.value) * rateUnits[less.unit] > BigInt(more.value) * rateUnits[more.unit];
        const found = contradictionIn({ ...profile, targetMinUpstreamRate: less, maxUpstreamRate: more });
        expect(found).toBe(exceeds ? "targetMinUpstreamRate" : undefined);
      }),
    );
    fc.assert(
      fc.property(duration, duration, (less, more) => {
        const exceeds =
          BigInt(less.value) * durationUnits[less.unit] > BigInt(more.value) * durationUnits[more.unit];
        const found = contradictionIn({ ...profile, minDuration: less, maxDuration: more });
        expect(found).toBe(exceeds ? "minDuration" : undefined);
      }),
    );
  });

  test.each([
    [
      { maxDownstreamRate: { value: 2, unit: "Mbps" }, maxDownstreamBurstRate: { value: 1, unit: "Mbps" } },
      "maxDownstreamRate",
    ],
    [{ minDuration: { value: 1, unit: "Days" }, maxDuration: { value: 24, unit: "Hours" } }, undefined],
    [{ minDuration: { value: 25, unit: "Hours" }, maxDuration: { value: 1, unit: "Days" } }, "minDuration"],
    [{ minDuration: { value: 25 }, maxDuration: { value: 1, unit: "Days" } }, undefined],
    [{}, undefined],
  ] as const)("an import of a profile with %j finds %s", (members, found) => {
    expect(contradictionIn({ ...profile, ...members })).toBe(found);
  });
});
