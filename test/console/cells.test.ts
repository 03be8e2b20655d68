import ngeohash from "ngeohash";
import { expect, test } from "vitest";
import { boundsOf, cellArea, cellSize, densitiesOf, ringOf } from "../../console/answer/cells.ts";

test("a cell is where its geohash is", () => {
  for (const geohash of ["u", "u05", "u05kq4x", "s00000000000", "zzzzzzz", "0000000"]) {
    const [south, west, north, east] = ngeohash.decode_bbox(geohash);
    const bounds = boundsOf(geohash);
    for (const [name, expected] of Object.entries({ south, west, north, east })) {
      expect(bounds[name as keyof typeof bounds]).toBeCloseTo(expected, 9);
    }
  }
  expect(ringOf("u05kq4x")).toHaveLength(5);
  expect(ringOf("u05kq4x")[0]).toEqual(ringOf("u05kq4x")[4]);
});

test("an answer is read by hour: its counts, and the people of the cells that are published", () => {
  const cells = (pplDensity: number) => [
    {
      geohash: "u05kq4x",
      dataType: "DENSITY_ESTIMATION" as const,
      pplDensity,
      minPplDensity: 1,
      maxPplDensity: 9,
    },
    { geohash: "u05kq4y", dataType: "LOW_DENSITY" as const },
    { geohash: "u05kq4z", dataType: "NO_DATA" as const },
  ];
  const { status, geohashes, hours } = densitiesOf({
    status: "PART_OF_AREA_NOT_SUPPORTED",
    timedPopulationDensityData: [5_000, 10_000].map((density, hour) => ({
      startTime: `2026-11-22T1${hour}:00:00Z`,
      endTime: `2026-11-22T1${hour + 1}:00:00Z`,
      cellPopulationDensityData: cells(density),
    })),
  });

  expect({ status, geohashes }).toEqual({
    status: "PART_OF_AREA_NOT_SUPPORTED",
    geohashes: ["u05kq4x", "u05kq4y", "u05kq4z"],
  });
  expect(hours.map(({ counts }) => counts)).toEqual(
    [1, 2].map(() => ({ DENSITY_ESTIMATION: 1, LOW_DENSITY: 1, NO_DATA: 1 })),
  );
  expect(hours.map(({ people }) => people)).toEqual(
    [5_000, 10_000].map((density) => density * cellArea("u05kq4x")),
  );
  expect(hours[1]?.values[0]).toEqual({ dataType: "DENSITY_ESTIMATION", density: 10_000, min: 1, max: 9 });
  expect(hours[1]?.values[1]).toEqual({ dataType: "LOW_DENSITY" });
});

test("an answer without hours has no cells", () => {
  expect(densitiesOf({ status: "AREA_NOT_SUPPORTED", timedPopulationDensityData: [] })).toEqual({
    status: "AREA_NOT_SUPPORTED",
    geohashes: [],
    hours: [],
  });
});

test("cells of precision 7 are 153 metres wide at the equator, and half as wide at 60 degrees", () => {
  expect(cellSize(7, 0).width).toBeCloseTo(152.9, 0);
  expect(cellSize(7, 60).width).toBeCloseTo(76.4, 0);
  expect(cellSize(7, 60).height).toBeCloseTo(152.9, 0);
});
