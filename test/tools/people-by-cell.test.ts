import fc from "fast-check";
import { cellToLatLng, getPentagons, getResolution, latLngToCell } from "h3-js";
import { describe, expect, test } from "vitest";
import { type Box, boxOf } from "../../functions/population-density/cover/box.ts";
import { areaFromEquator, cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { coverOf, geohashesOf } from "../../functions/population-density/cover/cover.ts";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { cornersOf } from "../../tools/import/density/box.ts";
import { ringOf } from "../../tools/import/density/population/hexagons.ts";
import { clipToRectangles, type PlaneRing } from "../../tools/import/density/population/overlap.ts";
import { PeopleByCell } from "../../tools/import/density/population/people-by-cell.ts";
import type { Place, Ring } from "../../tools/import/density/population/places.ts";
import { runs } from "../support/sample.ts";

/** The people that the cells of a box get from a place, by geohash. */
function spread(place: Place, box: Box, precision: number) {
  const cells = new PeopleByCell(box, precision);
  cells.add(place);
  const polygon = polygonOf(cornersOf(box));
  if (polygon === undefined) throw new Error("the box has no area");
  const byCell = coverOf(polygon, precision).flatMap((tile) => {
    const people = cells.inTile(tile);
    return geohashesOf([tile], precision).map((geohash, at) => ({
      geohash,
      people: people[at] ?? Number.NaN,
    }));
  });
  return { byCell, inside: cells.people, outside: cells.peopleOutside };
}

const sumOf = (byCell: readonly { people: number }[]) => byCell.reduce((sum, { people }) => sum + people, 0);

/** By how much the highest density is above the lowest one. */
function unevenness(byCell: readonly { geohash: string; people: number }[]): number {
  const densities = byCell.map(({ geohash, people }) => people / cellArea(geohash));
  return Math.max(...densities) / Math.min(...densities) - 1;
}

function isWithin(inner: Box, { west, south, east, north }: Box): boolean {
  return inner.west >= west && inner.south >= south && inner.east <= east && inner.north <= north;
}

describe("people of a pixel", () => {
  /** A pixel, and a box a few cells around it. */
  const pixels = fc
    .record({
      precision: fc.integer({ min: 3, max: 8 }),
      west: fc.double({ min: -170, max: 160, noNaN: true }),
      south: fc.double({ min: -89.9, max: 80, noNaN: true }),
      wide: fc.double({ min: 0.1, max: 12, noNaN: true }),
      high: fc.double({ min: 0.1, max: 12, noNaN: true }),
    })
    .map(({ precision, west, south, wide, high }) => {
      const { cellWidth, cellHeight } = gridOf(precision);
      const pixel = {
        west,
        south,
        east: Math.min(west + wide * cellWidth, 180),
        north: Math.min(south + high * cellHeight, 90),
      };
      return { precision, pixel };
    });

  const placeOf = ({ west, south, east, north }: Box, isNorthUp: boolean): Place => ({
    longitudes: Float64Array.of(west, east),
    latitudes: isNorthUp ? Float64Array.of(north, south) : Float64Array.of(south, north),
    people: [1_000],
  });

  test("whole cells of any pixel, 1,000 people → densities equal to 0.1 %, all together 1,000 to 1e-9", () => {
    fc.assert(
      fc.property(pixels, fc.boolean(), ({ precision, pixel }, isNorthUp) => {
        const { byCell, inside, outside } = spread(placeOf(pixel, isNorthUp), pixel, precision);
        expect(Math.abs(sumOf(byCell) / 1_000 - 1)).toBeLessThan(1e-9);
        expect([inside, outside]).toEqual([expect.closeTo(1_000, 6), expect.closeTo(0, 6)]);
        expect(byCell.every(({ people }) => people > 0)).toBe(true);
        const whole = byCell.filter(({ geohash }) => isWithin(boxOf(geohash), pixel));
        if (whole.length > 0) expect(unevenness(whole)).toBeLessThan(1e-3);
      }),
    );
  });

  test("a pixel of 30″ at precision 8, 45 N, 8 E → all of its 1,225 cells have people, whole ones the same density", () => {
    const pixel = { west: 8, south: 45, east: 8 + 1 / 120, north: 45 + 1 / 120 };
    const { byCell } = spread(placeOf(pixel, true), pixel, 8);
    expect(byCell.filter(({ people }) => people > 0)).toHaveLength(1_225);
    const whole = byCell.filter(({ geohash }) => isWithin(boxOf(geohash), pixel));
    expect(unevenness(whole)).toBeLessThan(1e-6);
  });

  test("a box over the western quarter of a pixel of 1,000 people → 250 inside and 750 outside", () => {
    const box = { west: 8, south: 45, east: 8.25, north: 46 };
    const pixel = placeOf({ west: 8, south: 45, east: 9, north: 46 }, true);
    const { byCell, inside, outside } = spread(pixel, box, 5);
    expect([sumOf(byCell), inside, outside]).toEqual(
      [250, 250, 750].map((people) => expect.closeTo(people, 9)),
    );
  });

  test("no data and numbers below 0 are nobody, and a row from the south is where its parallels say", () => {
    const box = { west: 8, south: 45, east: 10, north: 47 };
    const cells = new PeopleByCell(box, 3);
    const northernRow = { west: 8, south: 46, east: 10, north: 47 };
    const north = new PeopleByCell(northernRow, 3);
    const place = {
      longitudes: Float64Array.of(8, 9, 10),
      latitudes: Float64Array.of(45, 46, 47),
      people: [Number.NaN, 5, -1, 7],
    };
    cells.add(place);
    north.add(place);
    expect([cells.people, north.people]).toEqual([12, 7]);
  });
});

describe("people of an H3 cell", () => {
  /** Boxes that together hold a ring: none is across the antimeridian, or wider than half of the globe. */
  function boxesAround({ longitudes, latitudes }: Ring): Box[] {
    const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
    const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
    const halves = [-540, -360, -180, 0, 180, 360];
    return halves
      .map((half) => ({ west: Math.max(west, half), south, east: Math.min(east, half + 180), north, half }))
      .filter((box) => box.west < box.east)
      .map(({ half, ...box }) => {
        const turn = half < -180 ? 360 : half > 0 ? -360 : 0;
        return { ...box, west: box.west + turn, east: box.east + turn };
      });
  }

  /**
   * Expects the share of each cell that H3 itself has in it, at a lattice of points.
   * @returns the number of cells that are in the H3 cell as a whole.
   */
  function expectAsInH3(h3: string, precision: number): number {
    const ring = ringOf(h3);
    const all = boxesAround(ring).map((box) => spread({ ring, people: 1_000 }, box, precision));
    const byCell = summedUp(all.flatMap((each) => each.byCell));
    expect(Math.abs(sumOf(byCell) / 1_000 - 1)).toBeLessThan(1e-9);
    for (const { inside, outside } of all) expect(inside + outside).toBeCloseTo(1_000, 6);
    const density = sumOf(byCell) / areaOnEllipsoid(ring);
    // Looking points up in H3 takes a hundred times as long as spreading people.
    const sample = byCell.filter((_, index) => index % Math.ceil(byCell.length / 200) === 0);
    const errors = sample.map(({ geohash, people }) =>
      Math.abs(people / cellArea(geohash) / density - shareInH3(geohash, h3, lattice)),
    );
    expect(Math.max(...errors)).toBeLessThan(0.2);
    const whole = sample.filter(({ geohash }) => shareInH3(geohash, h3, border) === 1);
    if (whole.length > 0) expect(unevenness(whole)).toBeLessThan(1e-3);
    return whole.length;
  }

  /** The cells of several boxes, those of two boxes once. */
  function summedUp(cells: readonly { geohash: string; people: number }[]) {
    const people = new Map<string, number>();
    for (const cell of cells) people.set(cell.geohash, (people.get(cell.geohash) ?? 0) + cell.people);
    return Array.from(people, ([geohash, sum]) => ({ geohash, people: sum }));
  }

  const eighths = [1, 3, 5, 7, 9, 11, 13, 15].map((sixteenths) => sixteenths / 16);
  const lattice = [0.125, 0.375, 0.625, 0.875].flatMap((x) => eighths.map((y) => ({ x, y })));
  const border = [0, 0.5, 1].flatMap((x) => [0.001, 0.999].map((y) => ({ x, y })));

  /** Which share of a cell is in an H3 cell, of points with the ground's width at their latitude. */
  function shareInH3(geohash: string, h3: string, points: readonly { x: number; y: number }[]): number {
    const { west, south, east, north } = boxOf(geohash);
    const resolution = getResolution(h3);
    let [inside, around] = [0, 0];
    for (const { x, y } of points) {
      const [latitude, longitude] = [south + y * (north - south), west + x * (east - west)];
      const width = Math.cos((latitude * Math.PI) / 180);
      around += width;
      if (latLngToCell(latitude, longitude, resolution) === h3) inside += width;
    }
    return inside / around;
  }

  /** For each resolution, the precision at which an H3 cell is in some dozen cells; near poles in more. */
  const precisions = [2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8];

  /** By adding up thin strips. */
  function areaOnEllipsoid({ longitudes, latitudes }: Ring): number {
    return Math.abs(
      longitudes.reduce((sum, longitude, at) => {
        const next = (at + 1) % longitudes.length;
        const [south, north] = [latitudes[at] ?? 0, latitudes[next] ?? 0];
        const middle = (longitude + (longitudes[next] ?? 0)) / 2;
        return sum + middle * (areaFromEquator(north) - areaFromEquator(south));
      }, 0),
    );
  }

  const anywhere = fc.record({
    latitude: fc.double({ min: -85, max: 85, noNaN: true }),
    longitude: fc.oneof(
      fc.double({ min: -180, max: 180, noNaN: true }),
      fc.double({ min: 179, max: 180, noNaN: true }),
    ),
    resolution: fc.integer({ min: 0, max: 12 }),
  });

  test("cells of any H3 cell of 1,000 people → the share that H3 has there, whole ones equal to 0.1 %, together 1,000 to 1e-9", () => {
    fc.assert(
      fc.property(anywhere, ({ latitude, longitude, resolution }) => {
        const precision = Math.max(2, (precisions[resolution] ?? 8) - (Math.abs(latitude) > 70 ? 1 : 0));
        expectAsInH3(latLngToCell(latitude, longitude, resolution), precision);
      }),
      { numRuns: runs(1_000, 15) },
    );
  });

  test.each([
    ["around the north pole", latLngToCell(90, 0, 3), 4],
    ["around the south pole", latLngToCell(-90, 0, 6), 5],
    ["across the antimeridian", latLngToCell(-17, 180, 5), 6],
    ["that is a pentagon", getPentagons(4)[3] ?? "", 5],
    ["that is a pentagon with ten corners", getPentagons(5)[7] ?? "", 6],
    ["with edges of 1,100 km", latLngToCell(50, 10, 0), 3],
  ])("cells of an H3 cell %s → the share that H3 has there", (_, h3, precision) => {
    expect(expectAsInH3(h3, precision)).toBeGreaterThan(10);
  });

  test("cells of precision 7 in a hexagon 22 km wide, 1,000 people → all have the same density", () => {
    const h3 = latLngToCell(45.76, 4.83, 5);
    const [latitude, longitude] = cellToLatLng(h3);
    const box = {
      west: longitude - 0.03,
      south: latitude - 0.02,
      east: longitude + 0.03,
      north: latitude + 0.02,
    };
    const { byCell, inside, outside } = spread({ ring: ringOf(h3), people: 1_000 }, box, 7);
    expect(inside + outside).toBeCloseTo(1_000, 9);
    const whole = byCell.filter(({ geohash }) => isWithin(boxOf(geohash), box));
    expect(unevenness(whole)).toBeLessThan(1e-3);
  });
});

describe("clipping", () => {
  /** A ring around a point, through a corner in each direction. */
  const rings = fc
    .array(
      fc.record({
        turn: fc.double({ min: 0.01, max: 1, noNaN: true }),
        far: fc.integer({ min: 1, max: 40 }),
      }),
      {
        minLength: 3,
        maxLength: 12,
      },
    )
    .map((corners): PlaneRing => {
      const around = corners.reduce((sum, { turn }) => sum + turn, 0);
      let angle = 0;
      const points = corners.map(({ turn, far }) => {
        angle += (turn / around) * 2 * Math.PI;
        // On a grid, so that corners and edges are often on borders.
        return [Math.round(far * Math.cos(angle)), Math.round(far * Math.sin(angle))] as const;
      });
      return { xs: points.map(([x]) => x), ys: points.map(([, y]) => y) };
    });

  test("a ring and each rectangle between borders → the area that Sutherland and Hodgman's clipping leaves", () => {
    const borders = Float64Array.of(-31, -10, -9.5, 0, 1, 2, 12, 33);
    fc.assert(
      fc.property(rings, ({ xs, ys }) => {
        const found = new Map<string, number>();
        let error = 0;
        clipToRectangles({ xs, ys }, borders, borders, (row, column, area) =>
          found.set(`${row},${column}`, area),
        );
        for (let row = 0; row + 1 < borders.length; row++) {
          for (let column = 0; column + 1 < borders.length; column++) {
            const [west = 0, east = 0] = borders.subarray(column, column + 2);
            const [south = 0, north = 0] = borders.subarray(row, row + 2);
            let piece = xs.map((x, at) => [x, ys[at] ?? 0]);
            piece = cut(piece, ([x = 0]) => x - west);
            piece = cut(piece, ([x = 0]) => east - x);
            piece = cut(piece, ([, y = 0]) => y - south);
            piece = cut(piece, ([, y = 0]) => north - y);
            error = Math.max(error, Math.abs((found.get(`${row},${column}`) ?? 0) - shoelace(piece)));
          }
        }
        expect(error).toBeLessThan(1e-9);
      }),
      { numRuns: 300 },
    );
  });

  type Points = readonly (readonly number[])[];

  /** What of a ring is on one side of a line, on which a distance is 0. */
  function cut(ring: Points, distance: (point: readonly number[]) => number): number[][] {
    return ring.flatMap((to, at) => {
      const from = ring.at(at - 1) ?? to;
      const [before, here] = [distance(from), distance(to)];
      const share = before / (before - here);
      const crossing = from.map((each, axis) => each + share * ((to[axis] ?? 0) - each));
      const crosses = before < 0 !== here < 0;
      return [...(crosses ? [crossing] : []), ...(here < 0 ? [] : [[...to]])];
    });
  }

  function shoelace(ring: Points): number {
    return ring.reduce((sum, [x = 0, y = 0], at) => {
      const [nextX = 0, nextY = 0] = ring[(at + 1) % ring.length] ?? [];
      return sum + (x * nextY - nextX * y) / 2;
    }, 0);
  }
});
