import { expect, test } from "vitest";
import { withUnusual } from "../../../console/answer/unusual.ts";
import type { Densities, Hour } from "../../../console/data/densities.ts";

const day = "2026-11-23";

function hourAt(time: string, basis: Hour["basis"] = "OBSERVED"): Hour {
  const start = new Date(`${time}:00:00Z`);
  const counts = { NO_DATA: 0, LOW_DENSITY: 0, DENSITY_ESTIMATION: 0 };
  return { start, end: start, values: [], counts, people: 0, basis, typicalDay: "Monday" };
}

function marksOf(hours: readonly Hour[]) {
  const densities: Densities = { status: "SUPPORTED_AREA", geohashes: [], coveredShares: [], hours };
  const finding = (code: string, of: number[]) => ({
    code,
    level: "warning" as const,
    hours: of,
    description: `${code} is so.`,
  });
  const quality = [{ day, findings: [finding("PEOPLE_UNUSUAL", [8, 9]), finding("TILES_EMPTY", [9])] }];
  return withUnusual(densities, quality).hours.map(({ unusual }) => unusual);
}

test("the console marks exactly the observed hours of a finding, with every sentence of the hour", () => {
  expect(marksOf([hourAt(`${day}T07`), hourAt(`${day}T08`), hourAt(`${day}T09`, "MIXED")])).toEqual([
    undefined,
    "Unusual: PEOPLE_UNUSUAL is so.",
    "Unusual: PEOPLE_UNUSUAL is so.; TILES_EMPTY is so.",
  ]);
});

test("the console marks no typical hour, and none of another day", () => {
  expect(marksOf([hourAt(`${day}T08`, "TYPICAL"), hourAt("2026-11-22T08")])).toEqual([undefined, undefined]);
});
