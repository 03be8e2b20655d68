import { parse } from "csv-parse/sync";
import fc from "fast-check";
import ngeohash from "ngeohash";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Basis, basisList } from "../../../functions/population-density/answer/basis.ts";
import { formats } from "../../../functions/population-density/answer/formats.ts";
import { geoJsonOf } from "../../../functions/population-density/answer/geojson.ts";
import { type Answer, type BodyWriter, bodyOf } from "../../../functions/population-density/answer/json.ts";
import {
  csvOf,
  csvWithPointsOf,
  csvWithWktOf,
  hourlyGeoJsonOf,
  ndjsonOf,
} from "../../../functions/population-density/answer/line-formats.ts";
import type { Tile } from "../../../functions/population-density/cover/cover.ts";
import { densityFormats } from "../../../functions/population-density/format-schemas.ts";
import { maxDensity, TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";
import { alphabet, answers, collect, estimate, everyCell, fullTiles, hourOf } from "../../support/answers.ts";
import { isWhole, runs } from "../../support/sample.ts";

const maxChunkBytes = 65_536;

async function textOf(write: BodyWriter, answer: Answer): Promise<string> {
  return Buffer.concat(await collect(write(answer))).toString();
}

/** One cell in one hour, as every format tells it. */
const slot = z.strictObject({
  geohash: z.string(),
  startTime: z.string(),
  endTime: z.string(),
  dataType: z.string(),
  pplDensity: z.number().optional(),
  minPplDensity: z.number().optional(),
  maxPplDensity: z.number().optional(),
  basis: z.string().optional(),
  coveredShare: z.number(),
});
type Slot = z.infer<typeof slot>;

const json = z.object({
  timedPopulationDensityData: z.array(
    z.object({
      startTime: z.string(),
      endTime: z.string(),
      cellPopulationDensityData: z.array(
        slot.omit({ startTime: true, endTime: true, basis: true, coveredShare: true }),
      ),
    }),
  ),
});

/** The slots of JSON, with the basis and the share that only the other formats have. */
async function slotsOfJson(answer: Answer): Promise<Slot[]> {
  const { timedPopulationDensityData } = json.parse(JSON.parse(await textOf(bodyOf, answer)));
  const tiles = answer.tiles.flatMap(({ cells }, tile) => Array.from(cells, () => tile));
  const slots = timedPopulationDensityData.flatMap(
    ({ startTime, endTime, cellPopulationDensityData }, hour) =>
      cellPopulationDensityData.map((cell, index) => {
        const basis = answer.basisOf(tiles[index] ?? -1, hour);
        return { ...cell, startTime, endTime, ...(basis === undefined ? {} : { basis }) };
      }),
  );
  const shares = await sharesOf(answer);
  return slots.map((each, index) => ({ ...each, coveredShare: shares[index] ?? Number.NaN }));
}

/** The share of each cell in each hour, hour by hour, with four digits. */
async function sharesOf({ tiles, hours, openHour }: Answer): Promise<number[]> {
  const ofHours = hours.map(async (_, hour) => {
    const ofTiles = tiles.map(async ({ cells }, tile) => {
      const opened = await openHour(tile, hour);
      return Array.from(cells, (cell) => Number((opened?.share(cell) ?? 0).toPrecision(4)));
    });
    return await Promise.all(ofTiles);
  });
  return (await Promise.all(ofHours)).flat(2);
}

async function recordsOf(write: BodyWriter, answer: Answer): Promise<Record<string, string>[]> {
  return parse(await textOf(write, answer), { columns: true, record_delimiter: "\r\n" });
}

function slotOf(record: Readonly<Record<string, string>>): Slot {
  return slot.parse(Object.fromEntries(Object.entries(record).flatMap((entry) => entryOf(...entry))));
}

async function slotsOfCsv(answer: Answer): Promise<Slot[]> {
  return (await recordsOf(csvOf, answer)).map(slotOf);
}

/** The slots of CSV with points, each at the centre of its cell. */
async function slotsOfCsvWithPoints(answer: Answer): Promise<Slot[]> {
  return (await recordsOf(csvWithPointsOf, answer)).map(({ latitude, longitude, ...record }) => {
    const [south, west, north, east] = ngeohash.decode_bbox(record.geohash ?? "");
    expect([Number(latitude), Number(longitude)]).toEqual([(south + north) / 2, (west + east) / 2]);
    return slotOf(record);
  });
}

/** The slots of CSV with WKT, each with the rectangle of its cell. */
async function slotsOfCsvWithWkt(answer: Answer): Promise<Slot[]> {
  return (await recordsOf(csvWithWktOf, answer)).map(({ wkt, ...record }) => {
    const corners = ringOf(record.geohash ?? "").map(([longitude, latitude]) => `${longitude} ${latitude}`);
    expect(wkt).toBe(`POLYGON ((${corners.join()}))`);
    return slotOf(record);
  });
}

/** The corners of a cell, longitude first, counterclockwise from the south-west. */
function ringOf(geohash: string): [number, number][] {
  const [south, west, north, east] = ngeohash.decode_bbox(geohash);
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

const hourlyFeatures = z.strictObject({
  type: z.literal("FeatureCollection"),
  status: z.string(),
  features: z.array(
    z.strictObject({
      type: z.literal("Feature"),
      geometry: z.strictObject({ type: z.literal("Polygon"), coordinates: z.unknown() }),
      properties: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    }),
  ),
});

/** The slots of GeoJSON with a feature for each, which is drawn as its cell. */
async function slotsOfHourlyGeoJson(answer: Answer): Promise<Slot[]> {
  const { status, features } = hourlyFeatures.parse(JSON.parse(await textOf(hourlyGeoJsonOf, answer)));
  expect(status).toBe(answer.status);
  return features.map(({ geometry, properties }) => {
    const known = Object.entries(properties).filter(([, value]) => value !== null);
    const found = slot.parse(Object.fromEntries(known));
    expect(geometry.coordinates).toEqual([ringOf(found.geohash)]);
    return found;
  });
}

function entryOf(column: string, value: string): [string, string | number][] {
  if (value === "") return [];
  const isNumber = /^(?:(?:ppl|minPpl|maxPpl)Density|coveredShare)$/.test(column);
  return [[column, isNumber ? Number(value) : value]];
}

async function slotsOfNdjson(answer: Answer): Promise<Slot[]> {
  const lines = (await textOf(ndjsonOf, answer)).split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => slot.parse(JSON.parse(line)));
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

const large: Answer = {
  ...first,
  tiles: fullTiles(6),
  hours: Array.from({ length: 169 }, (_, hour) => 494_000 + hour),
  openHour: (tile, hour) => largeHours[(tile + hour) % largeHours.length],
};
const largeSlots = fc.sample(estimate, { numRuns: 300, seed: 1 });
const aFifthOf = ({ geohash, cells }: Tile) => ({
  geohash,
  cells: cells.filter((_, index) => index % 5 === 0),
});
const largeHours = [hourOf([...largeSlots, "LOW_DENSITY", undefined]), undefined, hourOf(largeSlots)];

/** Expects the slots of JSON in every format row by row or feature by feature. */
async function expectSlotsOfJson(answer: Answer): Promise<void> {
  const expected = await slotsOfJson(answer);
  for (const decode of [
    slotsOfCsv,
    slotsOfCsvWithPoints,
    slotsOfCsvWithWkt,
    slotsOfNdjson,
    slotsOfHourlyGeoJson,
  ])
    expect(await decode(answer)).toEqual(expected);
}

const writers: readonly (readonly [string, BodyWriter])[] = [
  ["application/json", bodyOf],
  ["application/geo+json", geoJsonOf],
  ["hourly application/geo+json", hourlyGeoJsonOf],
  ["text/csv", csvOf],
  ["text/csv with points", csvWithPointsOf],
  ["text/csv with WKT", csvWithWktOf],
  ["application/x-ndjson", ndjsonOf],
];

describe("every format", () => {
  test("every format decodes to the numbers of the JSON body", async () => {
    await fc.assert(fc.asyncProperty(answers, expectSlotsOfJson), { numRuns: runs(200, 25) });
  });

  test("every format lists every cell of every precision by its own geohash", async () => {
    for (let precision = 1; precision <= 12; precision++) {
      const geohash = "u05kpq1z8x".slice(0, Math.max(0, precision - 2));
      // Each cell is in that of some precision.
      const step = runs(7, 11);
      const cells = everyCell.filter((cell) =>
        precision === 1 ? cell < 32 : cell % step === precision % step,
      );
      await expectSlotsOfJson({ ...first, precision, tiles: [{ geohash, cells }] });
      await assertSameBytes({ ...first, precision, tiles: [{ geohash, cells }] });
    }
  });

  test.each(Object.entries(formats))(
    "the %s body matches its schema in the OpenAPI document",
    async (name, { writerOf }) => {
      const schema = densityFormats[name as keyof typeof densityFormats];
      for (const choices of [{}, { geometry: "WKT", featuresPer: "HOUR" }] as const) {
        const text = await textOf(writerOf(choices), first);
        const value = name === "application/geo+json" ? JSON.parse(text) : text;
        expect(z.safeParse(schema, value).error).toBeUndefined();
      }
      expect(Object.keys(densityFormats)).toEqual(Object.keys(formats));
    },
  );

  test.each(writers)(
    "the %s body comes in chunks of at most 64 KiB that reuse returned buffers",
    async (_, write) => {
      const answer = isWhole ? large : { ...large, tiles: large.tiles.slice(0, 3).map(aFifthOf) };
      const whole = Buffer.concat(await collect(write(answer)));
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
      expect(longest).toBeLessThanOrEqual(maxChunkBytes);
      expect(memories.size).toBeLessThan(whole.length / maxChunkBytes / 2);
    },
    180_000,
  );

  test.each(writers)("the %s body ends with the error of a tile that cannot be opened", async (_, write) => {
    const broken: Answer = {
      ...large,
      openHour: (tile) => (tile < 2 ? undefined : Promise.reject(new Error("not there"))),
    };
    await expect(collect(write(broken))).rejects.toThrow("not there");
  });
});

/** How the last row of each chunk but the last one begins. */
async function* cutRowsOf(write: BodyWriter): AsyncGenerator<string> {
  let before: string | undefined;
  for await (const chunk of write({ ...large, hours: large.hours.slice(0, 3) })) {
    if (before !== undefined) yield before;
    before = String(chunk).split("\n").at(-1) ?? "";
  }
}

describe("CSV", () => {
  test.each(writers.filter(([name]) => name.startsWith("text/csv")))(
    "a %s body that is cut after any chunk ends in a row without its last value",
    async (_, write) => {
      let count = 0;
      for await (const row of cutRowsOf(write)) {
        expect(row).not.toBe("");
        const fromGeohash = row.slice(row.indexOf("u05k"));
        expect(fromGeohash.split(",").length).toBeLessThan(9);
        count++;
      }
      expect(count).toBeGreaterThan(10);
    },
  );

  test("a CSV body has a header and a row for each cell in each hour", async () => {
    const times = ["2026-11-20T22:00:00Z,2026-11-20T23:00:00Z", "2026-11-20T23:00:00Z,2026-11-21T00:00:00Z"];
    expect((await textOf(csvOf, first)).split("\r\n")).toEqual([
      "geohash,startTime,endTime,dataType,pplDensity,minPplDensity,maxPplDensity,coveredShare,basis",
      `u05kpnq,${times[0]},DENSITY_ESTIMATION,12,9,15,0.25,OBSERVED`,
      `u05kpnr,${times[0]},LOW_DENSITY,,,,0.003215,OBSERVED`,
      `u05kpns,${times[0]},NO_DATA,,,,0,OBSERVED`,
      `u05kpnq,${times[1]},DENSITY_ESTIMATION,2,1,${maxDensity},1,TYPICAL`,
      `u05kpnr,${times[1]},DENSITY_ESTIMATION,2,1,${maxDensity},1,TYPICAL`,
      `u05kpns,${times[1]},DENSITY_ESTIMATION,2,1,${maxDensity},1,TYPICAL`,
      "",
    ]);
  });

  test("a CSV body of an unsupported area has only the header", async () => {
    const text = await textOf(csvOf, { ...first, tiles: [], hours: [] });
    expect(text).toMatch(/^geohash,.*\r\n$/);
  });
});

describe("NDJSON", () => {
  test("an NDJSON body that is cut after any chunk ends in a line that is not JSON", async () => {
    let count = 0;
    for await (const row of cutRowsOf(ndjsonOf)) {
      expect(row).not.toBe("");
      expect(() => JSON.parse(row)).toThrow(SyntaxError);
      count++;
    }
    expect(count).toBeGreaterThan(10);
  });
});

/** The same as objects, made of `TileHour`'s values and `ngeohash`'s boxes. */
async function geoJsonObjectOf({
  status,
  precision,
  tiles,
  hours,
  openHour,
  basisOf,
}: Answer): Promise<object> {
  const timeOf = (hour: number) => new Date(hour * 3_600_000).toISOString().replace(".000", "");
  const intervals = hours.map((hour) => ({ startTime: timeOf(hour), endTime: timeOf(hour + 1) }));
  const [startTime, endTime] = [intervals.at(0)?.startTime, intervals.at(-1)?.endTime];
  const features: object[] = [];
  for (const [index, { geohash, cells }] of tiles.entries()) {
    if (hours.length === 0) break;
    const opened = await Promise.all(hours.map((_, hour) => openHour(index, hour)));
    for (const cell of cells) {
      const id = geohash + (precision === 1 ? "" : alphabet[cell >> 5]) + alphabet[cell & 31];
      const estimates = opened.map((hour) => (hour?.kind(cell) === "DENSITY_ESTIMATION" ? hour : undefined));
      features.push({
        type: "Feature",
        id,
        geometry: {
          type: "Polygon",
          coordinates: [ringOf(id)],
        },
        properties: {
          geohash: id,
          startTime,
          endTime,
          basis: hours.map((_, hour) => basisOf(index, hour) ?? null),
          dataType: opened.map((hour) => hour?.kind(cell) ?? "NO_DATA"),
          pplDensity: estimates.map((hour) => hour?.value(cell) ?? null),
          minPplDensity: estimates.map((hour) => hour?.minimum(cell) ?? null),
          maxPplDensity: estimates.map((hour) => hour?.maximum(cell) ?? null),
          coveredShare: opened.map((hour) => Number((hour?.share(cell) ?? 0).toPrecision(4))),
        },
      });
    }
  }
  return { type: "FeatureCollection", status, intervals, features };
}

/** Whether a cell is at a corner of its tile, so that its box has two of the tile's sides. */
function isCorner(cell: number): boolean {
  return [0b00000_00000, 0b01010_10101, 0b10101_01010, 0b11111_11111].includes(cell);
}

async function assertSameBytes(answer: Answer): Promise<void> {
  const expected = JSON.stringify(await geoJsonObjectOf(answer));
  // Compared as one: the difference of two long texts takes minutes to be shown.
  expect((await textOf(geoJsonOf, answer)) === expected).toBe(true);
}

test.each([
  [[], ["NONE"]],
  [["OOO"], ["OBSERVED;hours=3"]],
  [
    ["OOTT", "OTT-"],
    ["OBSERVED;hours=1", "MIXED;hours=1", "TYPICAL;hours=2"],
  ],
  [["--O"], ["NONE;hours=2", "OBSERVED;hours=1"]],
])("basisList of tiles with the hours %j returns %j", (bases, expected) => {
  const letters: Readonly<Record<string, Basis>> = { O: "OBSERVED", T: "TYPICAL" };
  const tiles = bases.map(() => ({ geohash: "u05kp", cells: everyCell }));
  const hours = Array.from(bases[0] ?? "", (_, hour) => hour);
  const list = basisList({ tiles, hours, basisOf: (tile, hour) => letters[bases[tile]?.[hour] ?? ""] });
  expect(list).toBe(expected.join(", "));
});

describe("GeoJSON", () => {
  test("a GeoJSON body has the bytes of JSON.stringify", async () => {
    await fc.assert(fc.asyncProperty(answers, assertSameBytes), { numRuns: runs(200, 40) });
  });

  test("a GeoJSON body has the bytes of JSON.stringify for every density and range", async () => {
    const codesPerTile = 1_024;
    const ranges = Array.from({ length: 64 }, (_, index) => {
      const hour = new TileHour();
      for (let cell = 0; cell < codesPerTile; cell++) {
        hour.codes[cell] = index * codesPerTile + cell;
        hour.below[cell] = (index + cell) % 256;
        hour.above[cell] = (3 * index + cell) % 256;
      }
      return hour;
    });
    const hours = ranges.map((_, hour) => 494_000 + hour);
    const tiles = [{ geohash: "u05kp", cells: everyCell }];
    await assertSameBytes({ ...first, tiles, hours, openHour: (_, hour) => ranges[hour] });
  });

  test("a GeoJSON body has the bytes of JSON.stringify at equator, prime meridian, poles and antimeridian", async () => {
    for (let precision = 2; precision <= 12; precision++) {
      const geohashes = [
        "s",
        "7zzzzzzzzz",
        "ebpbpbpbpb",
        "kpbpbpbpbp",
        "0",
        "zzzzzzzzzz",
        "bpbpbpbpbp",
        "pbpbpbpbpb",
      ];
      const tiles = geohashes.map((geohash) => ({
        geohash: geohash.padEnd(precision - 2, "0").slice(0, precision - 2),
        cells: isWhole
          ? everyCell
          : everyCell.filter((cell) => cell % 11 === precision % 11 || isCorner(cell)),
      }));
      await assertSameBytes({ ...first, precision, tiles });
    }
  });

  test("a GeoJSON body of more hours than fit into a chunk is refused before the first byte", async () => {
    const hours = Array.from({ length: 600 }, (_, hour) => hour);
    await expect(geoJsonOf({ ...large, hours }).next()).rejects.toThrow(RangeError);
  });
});
