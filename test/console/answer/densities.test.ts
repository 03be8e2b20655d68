import { expect, test } from "vitest";
import { cellArea } from "../../../console/answer/cells.ts";
import { parseDensities } from "../../../console/answer/densities.ts";

const published = {
  geohash: "u05kq4x",
  dataType: "DENSITY_ESTIMATION",
  minPplDensity: 1,
  maxPplDensity: 9,
} as const;
const suppressed = { geohash: "u05kq4y", dataType: "LOW_DENSITY" } as const;
const unknown = { geohash: "u05kq4z", dataType: "NO_DATA" } as const;

/** An answer of two hours, in which the published cell has 5,000 and 10,000 people per km². */
const body = {
  status: "PART_OF_AREA_NOT_SUPPORTED",
  timedPopulationDensityData: [5_000, 10_000].map((pplDensity, hour) => ({
    startTime: `2026-11-22T1${hour}:00:00Z`,
    endTime: `2026-11-22T1${hour + 1}:00:00Z`,
    cellPopulationDensityData: [{ ...published, pplDensity }, suppressed, unknown],
  })),
};

test("parseDensities returns status, cells and times of an answer", () => {
  const { status, geohashes, hours } = parseDensities({ body, bases: [] });

  expect(status).toBe("PART_OF_AREA_NOT_SUPPORTED");
  expect(geohashes).toEqual(["u05kq4x", "u05kq4y", "u05kq4z"]);
  expect(hours.map(({ start, end }) => [start, end])).toEqual([
    [new Date("2026-11-22T10:00:00Z"), new Date("2026-11-22T11:00:00Z")],
    [new Date("2026-11-22T11:00:00Z"), new Date("2026-11-22T12:00:00Z")],
  ]);
});

test("parseDensities counts the cells of each kind by hour", () => {
  const counts = parseDensities({ body, bases: [] }).hours.map((hour) => hour.counts);

  const each = { DENSITY_ESTIMATION: 1, LOW_DENSITY: 1, NO_DATA: 1 };
  expect(counts).toEqual([each, each]);
});

test("parseDensities sums the people of published cells by hour, as density times area", () => {
  const people = parseDensities({ body, bases: [] }).hours.map((hour) => hour.people);

  expect(people).toEqual([5_000 * cellArea("u05kq4x"), 10_000 * cellArea("u05kq4x")]);
});

test("parseDensities gives a published cell its range, and a suppressed one no number", () => {
  const [, second] = parseDensities({ body, bases: [] }).hours;

  expect(second?.values[0]).toEqual({ dataType: "DENSITY_ESTIMATION", density: 10_000, min: 1, max: 9 });
  expect(second?.values[1]).toEqual({ dataType: "LOW_DENSITY" });
});

test("parseDensities returns no cells for an answer without hours", () => {
  const body = { status: "AREA_NOT_SUPPORTED", timedPopulationDensityData: [] };

  expect(parseDensities({ body, bases: ["NONE"] })).toEqual({
    status: "AREA_NOT_SUPPORTED",
    geohashes: [],
    hours: [],
  });
});

test("parseDensities merges the answers for several areas: a shared cell counts once, an uncovered area has none", () => {
  const neighbour = { ...published, geohash: "u05kq50" };
  const other = {
    status: "SUPPORTED_AREA",
    timedPopulationDensityData: body.timedPopulationDensityData.map((hour) => ({
      ...hour,
      cellPopulationDensityData: [suppressed, { ...neighbour, pplDensity: 100 }],
    })),
  };
  const uncovered = { status: "AREA_NOT_SUPPORTED", timedPopulationDensityData: [] };

  const { status, geohashes, hours } = parseDensities(
    { body: uncovered, bases: ["NONE"] },
    { body, bases: ["OBSERVED", "OBSERVED"] },
    { body: other, bases: ["OBSERVED", "TYPICAL"] },
  );

  expect(status).toBe("PART_OF_AREA_NOT_SUPPORTED");
  expect(geohashes).toEqual(["u05kq4x", "u05kq4y", "u05kq4z", "u05kq50"]);
  expect(hours.map((hour) => hour.counts)).toEqual(
    [0, 1].map(() => ({ DENSITY_ESTIMATION: 2, LOW_DENSITY: 1, NO_DATA: 1 })),
  );
  expect(hours.map(({ basis }) => basis)).toEqual(["OBSERVED", "MIXED"]);
});
