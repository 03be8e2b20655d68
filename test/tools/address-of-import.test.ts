import { expect, test } from "vitest";
import { cellCount } from "../../console/data/area.ts";
import { readAddress } from "../../console/request/address.ts";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { addressOfImport } from "../../tools/console/address-of-import.ts";

const limits = { precisions: [3, 4, 5, 6, 7], syncLimit: 10_000, asyncLimit: 100_000 };
const page = "http://127.0.0.1:3000";
/** A Monday. */
const now = new Date("2026-11-23T13:20:00Z");
/** 32 cells of precision 7. */
const district = boxOf("spey61");
const counted = { box: district, precision: 7, isTypical: false };
const newest = (start: string, hours: number) => ({ start: new Date(start), hours });

/** What the page reads in the address of an import. */
function shown(extent: Parameters<typeof addressOfImport>[1]) {
  const address = addressOfImport(page, extent, limits, now) ?? "";
  expect(address.startsWith(`${page}/#`)).toBe(true);
  const { state, unread } = readAddress(new URL(address).hash);
  expect(unread).toEqual([]);
  return state;
}

test.each([
  ["those of an observed day from its first", newest("2026-11-20T06:00Z", 5), false, "2026-11-20T06:00Z", 5],
  ["those of today that are over", newest("2026-11-23T00:00Z", 24), false, "2026-11-23T00:00Z", 13],
  ["the next ones of a typical weekday", newest("2026-01-08T00:00Z", 24), true, "2026-11-26T00:00Z", 24],
  ["the next 24 of a typical week", undefined, true, "2026-11-23T14:00Z", 24],
])(
  "the address of an import shows the imported area and, of its hours, %s",
  (_, hours, isTypical, from, count) => {
    const state = shown({ ...counted, isTypical, newest: hours });

    expect(state).toMatchObject({ from: new Date(from), hours: count, precision: 7 });
    expect(state.areas?.map((area) => cellCount(area, 7))).toEqual([32]);
  },
);

test("at 13:50 the address of an import of typical hours begins at 15:00, more than a quarter of an hour ahead", () => {
  const late = new Date("2026-11-23T13:50:00Z");
  const address = addressOfImport(page, { ...counted, isTypical: true }, limits, late) ?? "";
  expect(readAddress(new URL(address).hash).state).toMatchObject({ from: new Date("2026-11-23T15:00Z") });
});

test("the address of an import of a country shows it at the finest precision that one answer can have", () => {
  const {
    areas: [area] = [],
    precision = 0,
    hours = 0,
  } = shown({
    ...counted,
    box: { west: -5, south: 42, east: 8, north: 51 },
    newest: newest("2026-11-20T00:00Z", 24),
  });

  if (area === undefined) throw new Error("the address has no area");
  const slots = (precision: number) => cellCount(area, precision) * hours;
  expect(slots(precision)).toBeLessThanOrEqual(limits.syncLimit);
  expect(slots(precision + 1)).toBeGreaterThan(limits.syncLimit);
});

test("an import has no address on the map for days outside the three months that can be asked for", () => {
  for (const start of ["2026-08-22T00:00Z", "2026-11-23T13:00Z", "2031-01-01T00:00Z"]) {
    expect(addressOfImport(page, { ...counted, newest: newest(start, 24) }, limits, now)).toBeUndefined();
  }
});
