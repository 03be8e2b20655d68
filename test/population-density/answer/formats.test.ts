import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Basis, basisList } from "../../../functions/population-density/answer/basis.ts";
import { geoJsonOf } from "../../../functions/population-density/answer/geojson.ts";
import { type Answer, type BodyWriter, bodyOf } from "../../../functions/population-density/answer/json.ts";
import {
  csvOf,
  csvWithPointsOf,
  csvWithWktOf,
  hourlyGeoJsonOf,
  ndjsonOf,
} from "../../../functions/population-density/answer/line-formats.ts";
import { maxDensity, TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";
import { answers, collect, estimate, everyCell, fullTiles, hourOf } from "../../support/answers.ts";
import { isWhole, runs } from "../../support/sample.ts";
import {
  type PlainFormat,
  plainCsv,
  plainCsvWithPoints,
  plainCsvWithWkt,
  plainGeoJson,
  plainHourlyGeoJson,
  plainJson,
  plainNdjson,
} from "./plain-formats.ts";

const writers: readonly (readonly [string, BodyWriter, PlainFormat])[] = [
  ["application/json", bodyOf, plainJson],
  ["application/geo+json", geoJsonOf, plainGeoJson],
  ["hourly application/geo+json", hourlyGeoJsonOf, plainHourlyGeoJson],
  ["text/csv", csvOf, plainCsv],
  ["text/csv with points", csvWithPointsOf, plainCsvWithPoints],
  ["text/csv with WKT", csvWithWktOf, plainCsvWithWkt],
  ["application/x-ndjson", ndjsonOf, plainNdjson],
];

async function textOf(write: BodyWriter, answer: Answer): Promise<string> {
  return Buffer.concat(await collect(write(answer))).toString();
}

const first: Answer = {
  status: "PART_OF_AREA_NOT_SUPPORTED",
  precision: 7,
  tiles: [{ geohash: "u05kp", cells: Uint16Array.of(662, 663, 664) }],
  hours: [Date.UTC(2026, 10, 20, 22) / 3_600_000, Date.UTC(2026, 10, 20, 23) / 3_600_000],
  openHour: (_, hour) => {
    const opened = new TileHour();
    opened.setEstimate(662, 12 + hour, 9, 15);
    opened.setSuppressed(663);
    opened.setShare(662, 0.25);
    opened.setShare(663, 0.003215);
    return hour === 0 ? opened : hourOf([[1, 2, maxDensity]]);
  },
  basisOf: (_, hour) => (hour === 0 ? "OBSERVED" : "TYPICAL"),
};

const largeSlots = fc.sample(estimate, { numRuns: 300, seed: 1 });
const largeHours = [hourOf([...largeSlots, "LOW_DENSITY", undefined]), undefined, hourOf(largeSlots)];
const large: Answer = {
  ...first,
  tiles: fullTiles(6),
  hours: Array.from({ length: 169 }, (_, hour) => 494_000 + hour),
  openHour: (tile, hour) => largeHours[(tile + hour) % largeHours.length],
};

describe.each(writers)("a body of %s", (name, write, plain) => {
  // Long texts are compared as one: their difference takes minutes to be shown.
  const isPlain = async (answer: Answer) => (await textOf(write, answer)) === (await plain(answer));

  test(`${name}: any answer has the bytes that a plain writer gives`, async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        expect(await textOf(write, answer)).toBe(await plain(answer));
      }),
      { numRuns: runs(200, 40) },
    );
  });

  test(`${name}: every cell of precisions 1 to 12 has its own geohash and place, at poles and antimeridian too`, async () => {
    const places = "u05kpq1z8x 7zzzzzzzzz ebpbpbpbpb kpbpbpbpbp 0000000000 zzzzzzzzzz bpbpbpbpbp pbpbpbpbpb";
    for (let precision = 1; precision <= 12; precision++) {
      // Each cell is in the sample of some precision.
      const step = runs(1, 11);
      const cells = everyCell.filter((cell) =>
        precision === 1 ? cell < 32 : cell % step === precision % step || isCorner(cell),
      );
      const names = places.split(" ").map((place) => place.slice(0, Math.max(0, precision - 2)));
      const tiles = [...new Set(names)].map((geohash) => ({ geohash, cells }));
      expect([precision, await isPlain({ ...first, precision, tiles })]).toEqual([precision, true]);
    }
  });

  test(`${name}: densities and ranges of all sizes are written as the stored codes have them`, async () => {
    const step = runs(1, 8);
    const ranges = Array.from({ length: 64 / step }, (_, index) => {
      const hour = new TileHour();
      for (const cell of everyCell) {
        hour.codes[cell] = step * (index * everyCell.length + cell);
        hour.below[cell] = (index + cell) % 256;
        hour.above[cell] = (3 * index + cell) % 256;
      }
      return hour;
    });
    const hours = ranges.map((_, hour) => 494_000 + hour);
    const tiles = [{ geohash: "u05kp", cells: everyCell }];
    expect(await isPlain({ ...first, tiles, hours, openHour: (_, hour) => ranges[hour] })).toBe(true);
  });

  test(`${name}: a large answer comes in chunks of at most 64 KiB that reuse returned buffers`, async () => {
    const answer = { ...large, ...aPartOf(large) };
    const whole = Buffer.from(await plain(answer));
    const bufferPool: Buffer[] = [];
    const memories = new Set<ArrayBufferLike>();
    let at = 0;
    let longest = 0;
    for await (const chunk of write(answer, bufferPool)) {
      if (!whole.subarray(at, at + chunk.length).equals(chunk)) break;
      at += chunk.length;
      longest = Math.max(longest, chunk.length);
      memories.add(chunk.buffer);
      bufferPool.push(chunk);
    }
    expect(at).toBe(whole.length);
    expect(longest).toBeLessThanOrEqual(65_536);
    expect(memories.size).toBeLessThan(whole.length / 65_536 / 2);
  });

  test(`${name}: a tile that cannot be opened ends the body with its error`, async () => {
    const openHour: Answer["openHour"] = (tile) => (tile < 2 ? undefined : Promise.reject(new Error("gone")));
    await expect(collect(write({ ...large, openHour }))).rejects.toThrow("gone");
  });
});

/** Whether a cell is at a corner of its tile, so that its box has two of the tile's sides. */
function isCorner(cell: number): boolean {
  return [0b00000_00000, 0b01010_10101, 0b10101_01010, 0b11111_11111].includes(cell);
}

/** Every fifth cell of some tiles, so that it has many chunks; all hours when long tests run whole. */
function aPartOf({ tiles, hours }: Answer): Pick<Answer, "hours" | "tiles"> {
  const everyFifth = (cells: Uint16Array) => cells.filter((_, index) => index % 5 === 0);
  return {
    tiles: tiles.slice(0, 3).map(({ geohash, cells }) => ({ geohash, cells: everyFifth(cells) })),
    hours: isWhole ? hours : hours.slice(0, 30),
  };
}

test("a JSON body of a failed operation has its id and a statusInfo of 140,000 characters", async () => {
  const failed: Answer = {
    ...first,
    operationId: 'é "1"',
    status: "OPERATION_NOT_COMPLETED",
    statusInfo: "€\n".repeat(70_000),
    hours: [],
  };
  expect((await textOf(bodyOf, failed)) === (await plainJson(failed))).toBe(true);
});

test.each(writers.filter(([name]) => /csv|ndjson/.test(name)))(
  "a %s body that is cut after any chunk ends in a row without its last value",
  async (name, write) => {
    const chunks = await collect(write({ ...large, hours: large.hours.slice(0, 3) }));
    const rows = chunks.slice(0, -1).map((chunk) => String(chunk).split("\n").at(-1) ?? "");
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) {
      expect(row).not.toBe("");
      if (name.includes("ndjson")) expect(() => JSON.parse(row)).toThrow(SyntaxError);
      else expect(row.slice(row.indexOf("u05k")).split(",").length).toBeLessThan(9);
    }
  },
);

test("a GeoJSON body of 600 hours, more than fit into a chunk, is refused before the first byte", async () => {
  const hours = Array.from({ length: 600 }, (_, hour) => hour);
  await expect(geoJsonOf({ ...large, hours }).next()).rejects.toThrow(RangeError);
});

test.each([
  [[], ["NONE"]],
  [["OOO"], ["OBSERVED;hours=3"]],
  [
    ["OOTT", "OTT-"],
    ["OBSERVED;hours=1", "MIXED;hours=1", "TYPICAL;hours=2"],
  ],
  [["--O"], ["NONE;hours=2", "OBSERVED;hours=1"]],
])("x-density-basis of tiles with the hours %j is %j", (bases, expected) => {
  const letters: Readonly<Record<string, Basis>> = { O: "OBSERVED", T: "TYPICAL" };
  const tiles = bases.map(() => ({ geohash: "u05kp", cells: everyCell }));
  const hours = Array.from(bases[0] ?? "", (_, hour) => hour);
  const list = basisList({ tiles, hours, basisOf: (tile, hour) => letters[bases[tile]?.[hour] ?? ""] });
  expect(list).toBe(expected.join(", "));
});

describe("the chunks of a JSON body", () => {
  const hour = hourOf([[1_000, 2_000, 3_000], "LOW_DENSITY"]);
  const uniform: Answer = { ...first, tiles: fullTiles(12), hours: [0, 1, 2], openHour: () => hour };

  test("a JSON body comes in chunks of 65,024 to 65,536 bytes, and overwrites none that was not returned", async () => {
    const [copies, chunks]: [Buffer[], Buffer[]] = [[], []];
    for await (const chunk of bodyOf(uniform)) {
      chunks.push(chunk);
      copies.push(Buffer.from(chunk));
    }
    const lengths = chunks.slice(0, -1).map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(65_536);
    expect(Math.min(...lengths)).toBeGreaterThan(65_536 - 512);
    expect(Buffer.concat(chunks).equals(Buffer.concat(copies))).toBe(true);
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(chunks.length);
  });

  test("a JSON body opens each tile only when the chunks before it were read", async () => {
    const opened: string[] = [];
    const body = bodyOf({
      ...uniform,
      openHour: (tile, hourIndex) => {
        opened.push(`${hourIndex}:${tile}`);
        return hour;
      },
    });
    await body.next();
    expect(opened).toEqual(["0:0"]);
    await collect(body);
    expect(opened).toEqual([0, 1, 2].flatMap((at) => uniform.tiles.map((_, tile) => `${at}:${tile}`)));
  });
});
