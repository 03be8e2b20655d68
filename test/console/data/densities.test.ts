import { expect, test } from "vitest";
import { type Basis, basisText } from "../../../console/data/basis.ts";
import { cellArea } from "../../../console/data/cells.ts";
import { changeFrom, type DensityBody, parseDensities } from "../../../console/data/densities.ts";

const week = { timeZone: "Europe/Paris", holidays: ["2026-11-23"] };
const none = [null, null];
const geometry = { type: "Polygon", coordinates: [] } as const;

/** A cell in two hours. */
function cell(geohash: string, values: object) {
  const numbers = { pplDensity: none, minPplDensity: none, maxPplDensity: none, coveredShare: [1, 1] };
  return { type: "Feature", geometry, properties: { geohash, ...numbers, ...values } };
}

const suppressed = cell("u05kq4y", { dataType: ["LOW_DENSITY", "LOW_DENSITY"] });

/** The two hours from 22:00 UTC on a Sunday, the second of which is on the Monday in Paris. */
const intervals = [22, 23].map((hour) => ({
  startTime: `2026-11-22T${hour}:00:00Z`,
  endTime: new Date(Date.UTC(2026, 10, 22, hour + 1)).toISOString(),
}));

function bodyOf(status: string, hours: readonly object[], ...features: readonly object[]) {
  return { type: "FeatureCollection", status, intervals: hours, features } as unknown as DensityBody;
}

/** A quarter of its published cell is covered; that has 5,000 and 10,000 people per km². */
const body = bodyOf(
  "PART_OF_AREA_NOT_SUPPORTED",
  intervals,
  cell("u05kq4x", {
    dataType: ["DENSITY_ESTIMATION", "DENSITY_ESTIMATION"],
    pplDensity: [5_000, 10_000],
    minPplDensity: [1, 1],
    maxPplDensity: [9, 9],
    coveredShare: [0, 0.25],
  }),
  suppressed,
  cell("u05kq4z", { dataType: ["NO_DATA", "NO_DATA"], coveredShare: [0, 0] }),
);
const parsed = (bases: readonly Basis[] = []) => parseDensities([{ body, bases }], week);

test("parseDensities returns status, cells and times of an answer", () => {
  const { status, geohashes, hours } = parsed();

  expect(status).toBe("PART_OF_AREA_NOT_SUPPORTED");
  expect(geohashes).toEqual(["u05kq4x", "u05kq4y", "u05kq4z"]);
  expect(hours.map(({ start, end }) => [start, end])).toEqual([
    [new Date("2026-11-22T22:00:00Z"), new Date("2026-11-22T23:00:00Z")],
    [new Date("2026-11-22T23:00:00Z"), new Date("2026-11-23T00:00:00Z")],
  ]);
});

test("parseDensities counts the cells of each kind by hour", () => {
  const counts = parsed().hours.map((hour) => hour.counts);

  const each = { DENSITY_ESTIMATION: 1, LOW_DENSITY: 1, NO_DATA: 1 };
  expect(counts).toEqual([each, each]);
});

test("parseDensities sums the people of published cells by hour, as density times area", () => {
  const people = parsed().hours.map((hour) => hour.people);

  expect(people).toEqual([5_000 * cellArea("u05kq4x"), 10_000 * cellArea("u05kq4x")]);
});

test("parseDensities gives a published cell its range, and a suppressed one no number", () => {
  const [, second] = parsed().hours;

  expect(second?.values[0]).toEqual({ dataType: "DENSITY_ESTIMATION", density: 10_000, min: 1, max: 9 });
  expect(second?.values[1]).toEqual({ dataType: "LOW_DENSITY" });
});

test("an hour has more people than another in the cells that are published in both, and in no others", () => {
  const disappearing = cell("u05kq50", {
    dataType: ["DENSITY_ESTIMATION", "LOW_DENSITY"],
    pplDensity: [7, null],
  });
  const { hours } = parseDensities(
    [{ body: { ...body, features: [...body.features, disappearing] } as unknown as DensityBody, bases: [] }],
    week,
  );
  const [first, second] = hours;

  expect(first && second && changeFrom(first, second, [2, 2, 2, 2])).toEqual({ people: 10_000, cells: 1 });
});

test("parseDensities keeps the share of a cell that is covered", () => {
  expect(parsed().coveredShares).toEqual([0.25, 1, 0]);
});

test("parseDensities names the day of the typical week by the zone and the holidays of the data", () => {
  expect(parsed(["TYPICAL", "TYPICAL"]).hours.map((hour) => basisText(hour))).toEqual([
    "typical Sunday",
    "typical Sunday (holiday)",
  ]);
});

test("parseDensities returns no cells for an answer without hours", () => {
  const uncovered = bodyOf("AREA_NOT_SUPPORTED", []);

  expect(parseDensities([{ body: uncovered, bases: ["NONE"] }], week)).toEqual({
    status: "AREA_NOT_SUPPORTED",
    geohashes: [],
    coveredShares: [],
    hours: [],
  });
});

test("parseDensities merges the answers for several areas: a shared cell counts once, an uncovered area has none", () => {
  const neighbour = cell("u05kq50", {
    dataType: ["DENSITY_ESTIMATION", "DENSITY_ESTIMATION"],
    pplDensity: [100, 100],
  });
  const other = bodyOf("SUPPORTED_AREA", intervals, suppressed, neighbour);
  const uncovered = bodyOf("AREA_NOT_SUPPORTED", []);

  const { status, geohashes, hours } = parseDensities(
    [
      { body: uncovered, bases: ["NONE"] },
      { body, bases: ["OBSERVED", "OBSERVED"] },
      { body: other, bases: ["OBSERVED", "TYPICAL"] },
    ],
    week,
  );

  expect(status).toBe("PART_OF_AREA_NOT_SUPPORTED");
  expect(geohashes).toEqual(["u05kq4x", "u05kq4y", "u05kq4z", "u05kq50"]);
  expect(hours.map((hour) => hour.counts)).toEqual(
    [0, 1].map(() => ({ DENSITY_ESTIMATION: 2, LOW_DENSITY: 1, NO_DATA: 1 })),
  );
  expect(hours.map(({ basis }) => basis)).toEqual(["OBSERVED", "MIXED"]);
});
