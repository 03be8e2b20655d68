import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { answerTo } from "../../functions/population-density/answer/answer-to.ts";
import { bodyOf } from "../../functions/population-density/answer/json.ts";
import { type Box, boxOf, isWithin } from "../../functions/population-density/cover/box.ts";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { askedHours } from "../../functions/population-density/query/intervals.ts";
import type { DensityQuery } from "../../functions/population-density/query/parse.ts";
import { cornersOf } from "../../tools/import/density/box.ts";
import { curveOf } from "../../tools/import/density/population/curve.ts";
import {
  importPopulation,
  type PopulationImport,
  type PopulationImported,
} from "../../tools/import/density/population/import-population.ts";
import { PeopleByCell } from "../../tools/import/density/population/people-by-cell.ts";
import { pixelsOf } from "../../tools/import/density/population/raster.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { bandMetadata, degreesOfWgs84, type GeoTiffTags, geoTiff, type Pixels } from "../support/geotiff.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
afterEach(() => vi.unstubAllEnvs());

async function useEmptyTables(): Promise<void> {
  await useOwnDensityTables();
  for (const name of ["DENSITY_K", "DENSITY_PRECISIONS"]) vi.stubEnv(name, undefined);
}

/** Three columns and two rows of a hundredth of a degree, from 8 E and 47 N. The first row is the north. */
const box: Box = { west: 8, south: 46.98, east: 8.03, north: 47 };
const reading = { box, isNoDataNobody: false, onRemark: () => undefined };
const people = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000];
const southFirst = [4_000, 5_000, 6_000, 1_000, 2_000, 3_000];
const northUp = { pixelScale: [0.01, 0.01, 0], tiePoints: [0, 0, 0, 8, 47, 0] };

async function grid(
  pixels: Pixels | readonly number[],
  tags: Partial<GeoTiffTags>,
  name = "grid.tif",
): Promise<string> {
  const numbers = "BYTES_PER_ELEMENT" in pixels ? pixels : Float32Array.from(pixels);
  const where = tags.transformation === undefined ? northUp : {};
  return await folder.write(name, geoTiff(numbers, { width: 3, ...where, ...tags }));
}

/** The people of each pixel's place, row by row from the north. */
async function peopleByPlace(path: string, isNoDataNobody = false): Promise<number[]> {
  const places: number[] = [];
  for (const [south, north] of [
    [46.99, 47],
    [46.98, 46.99],
  ] as const) {
    for (const [west, east] of [
      [8, 8.01],
      [8.01, 8.02],
      [8.02, 8.03],
    ] as const) {
      const cells = new PeopleByCell({ west, south, east, north }, 7);
      for await (const blocks of pixelsOf(path, { ...reading, isNoDataNobody }))
        for (const block of blocks) cells.add(block);
      places.push(Math.round(cells.people * 1e6) / 1e6);
    }
  }
  return places;
}

const matrix = (a: number, b: number, d: number, e: number, f: number, h: number) => [
  ...[a, b, 0, d],
  ...[e, f, 0, h],
  ...[0, 0, 0, 0],
  ...[0, 0, 0, 1],
];

describe("where a pixel is", () => {
  test.each<[string, readonly number[], Partial<GeoTiffTags>]>([
    ["a scale and a tie point", people, {}],
    ["a tie point of pixel 2, 1", people, { tiePoints: [2, 1, 0, 8.02, 46.99, 0] }],
    ["a matrix", people, { transformation: matrix(0.01, 0, 8, 0, -0.01, 47) }],
    [
      "a matrix whose y grows by row: rows from the south",
      southFirst,
      { transformation: matrix(0.01, 0, 8, 0, 0.01, 46.98) },
    ],
    [
      "a y scale below 0: rows from the south",
      southFirst,
      { pixelScale: [0.01, -0.01, 0], tiePoints: [0, 0, 0, 8, 46.98, 0] },
    ],
    [
      "a matrix whose x falls by column: columns from the east",
      [3_000, 2_000, 1_000, 6_000, 5_000, 4_000],
      { transformation: matrix(-0.01, 0, 8.03, 0, -0.01, 47) },
    ],
    [
      "a tie point of the centre of pixel 0, 0 (PixelIsPoint)",
      people,
      { tiePoints: [0, 0, 0, 8.005, 46.995, 0], keys: { ...degreesOfWgs84, 1025: 2 } },
    ],
    [
      "a matrix of centres, with rows from the south (PixelIsPoint)",
      southFirst,
      { transformation: matrix(0.01, 0, 8.005, 0, 0.01, 46.985), keys: { ...degreesOfWgs84, 1025: 2 } },
    ],
    [
      "four tie points that agree with the scale",
      people,
      { tiePoints: [0, 0, 0, 8, 47, 0, 3, 0, 0, 8.03, 47, 0, 0, 2, 0, 8, 46.98, 0, 3, 2, 0, 8.03, 46.98, 0] },
    ],
  ])(
    "a GeoTIFF with %s has 1,000 to 6,000 people in its pixels from the north-west on",
    async (_, pixels, tags) => {
      expect(await peopleByPlace(await grid(pixels, tags))).toEqual(people);
    },
  );

  test.each<[string, Partial<GeoTiffTags>, string]>([
    [
      "a matrix with rotation",
      { transformation: matrix(0.008, 0.006, 8, 0.006, -0.008, 47) },
      "has a ModelTransformation with rotation or shear",
    ],
    [
      "a matrix with shear",
      { transformation: matrix(0.01, 0.002, 8, 0, -0.01, 47) },
      "has a ModelTransformation with rotation or shear",
    ],
    [
      "tie points without a scale",
      { transformation: [], tiePoints: [0, 0, 0, 8, 47, 0, 3, 0, 0, 8.03, 47, 0, 0, 2, 0, 8, 46.98, 0] },
      "has tie points without a ModelPixelScale (ground control points)",
    ],
    [
      "a scale and a matrix that contradict each other",
      { ...northUp, transformation: matrix(0.01, 0, 8, 0, 0.01, 46.98) },
      "has a ModelPixelScale and a ModelTransformation that contradict each other",
    ],
    [
      "tie points that contradict the scale",
      { tiePoints: [0, 0, 0, 8, 47, 0, 3, 0, 0, 8.3, 47, 0] },
      "has tie points that contradict its ModelPixelScale",
    ],
    ["no georeference", { transformation: [] }, "says nowhere where its pixels are"],
    ["no coordinate system", { keys: {} }, "says nowhere that its coordinates are degrees of WGS 84"],
    [
      "metres of UTM",
      { keys: { 1024: 1, 3072: 32_632 } },
      "must be in degrees of WGS 84 (EPSG:4326), and is in EPSG:32632",
    ],
    [
      "degrees of another datum",
      { keys: { 1024: 2, 2048: 4_269 } },
      "must be in degrees of WGS 84 (EPSG:4326), and is in EPSG:4269",
    ],
    [
      "a system of its own",
      { keys: { 1024: 2, 2048: 32_767 } },
      "must be in degrees of WGS 84 (EPSG:4326), and is in a system of its own",
    ],
    [
      "grads",
      { keys: { ...degreesOfWgs84, 2054: 9_105 } },
      "must be in degrees, and has the angular unit EPSG:9105",
    ],
    [
      "degrees from Paris",
      { keys: { ...degreesOfWgs84, 2051: 8_903 } },
      "must count from Greenwich, and has the prime meridian EPSG:8903",
    ],
  ])("a GeoTIFF with %s is refused by name, with a command of gdalwarp", async (_, tags, reason) => {
    const path = await grid(people, tags, "refused.tif");
    const refused = pixelsOf(path, reading).next();
    await expect(refused).rejects.toThrow(`refused.tif: ${reason}`);
    await expect(refused).rejects.toThrow(
      /: gdalwarp .*EPSG:4326 -r (sum|near) .* refused-wgs84\.tif makes a file/,
    );
  });

  test.each<[string, GeoTiffTags, string]>([
    [
      "a palette",
      { width: 4, photometric: 3 },
      "has a palette, whose numbers stand for classes or colours, instead of numbers of people",
    ],
    [
      "a scale of 0",
      { width: 4, metadata: bandMetadata({ scale: 0 }) },
      "has a scale of 0 and an offset of 0",
    ],
    [
      "a no-data tag of letters",
      { width: 4, noData: "none" },
      'has a no-data tag that is no number ("none")',
    ],
  ])(
    "a GeoTIFF with %s is refused, without a command that would let its numbers pass",
    async (_, tags, reason) => {
      const path = await grid(people, tags, "refused.tif");
      const refused = pixelsOf(path, reading).next();
      await expect(refused).rejects.toThrow(`refused.tif: ${reason}`);
      await expect(refused).rejects.not.toThrow("makes a file");
    },
  );

  test("a GeoTIFF that is a page of HTML is refused without the words of a library", async () => {
    const page = await folder.write("page.tif", "<html></html>");
    await expect(pixelsOf(page, reading).next()).rejects.toThrow(
      "page.tif: cannot be read as a GeoTIFF: it is damaged, was not downloaded whole, or is another file",
    );
  });

  test.each([
    [
      "NoDataValue",
      "aux.xml",
      "<PAMDataset><PAMRasterBand><NoDataValue>7</NoDataValue></PAMRasterBand></PAMDataset>",
    ],
    ["mask", "msk", ""],
  ])(
    "a GeoTIFF with a %s in a .%s next to it is refused, with a command that puts it inside",
    async (what, ending, content) => {
      const path = await grid(people, {}, `with-${ending}.tif`);
      await folder.write(`with-${ending}.tif.${ending}`, content);
      await expect(pixelsOf(path, reading).next()).rejects.toThrow(
        `with-${ending}.tif: has a ${what} in with-${ending}.tif.${ending}, which is not read: gdal_translate `,
      );
    },
  );

  test("a GeoTIFF of longitudes from 0 to 360 is refused where the box is west of Greenwich, also partly", async () => {
    const path = await grid(people, { tiePoints: [0, 0, 0, 352, 47, 0] });
    const west = pixelsOf(path, { ...reading, box: { ...box, west: -8, east: -7.98 } }).next();
    await expect(west).rejects.toThrow("of which it has a part 360 degrees further east");
    await expect(west).rejects.toThrow(
      "gdalwarp --config CENTER_LONG 0 -t_srs EPSG:4326 -r near -te -8 46.98 -7.98 47 ",
    );
    const wide = await grid(Array(400).fill(1), {
      width: 200,
      pixelScale: [1.8, 1, 0],
      tiePoints: [0, 0, 0, 0, 47, 0],
    });
    const across = pixelsOf(wide, { ...reading, box: { ...box, west: -8, east: 8 } }).next();
    await expect(across).rejects.toThrow("has longitudes from 0 to 360, and --bbox from -8 to 8");
    const east = pixelsOf(wide, { ...reading, box }).next();
    expect((await east).done).toBe(false);
  });
});

describe("which pixels have data", () => {
  const none = Number.NaN;
  test.each<[string, Pixels, Partial<GeoTiffTags>, readonly number[]]>([
    [
      "the largest Float32, whose text is not its exact decimal",
      Float32Array.of(1, 2, 3, 4, 5, 3.4028234663852886e38),
      { noData: "3.40282346638529e+38" },
      [1, 2, 3, 4, 5, none],
    ],
    [
      "a Float32 that has no exact decimal",
      Float32Array.of(1, 2, 3, 4, 5, 0.1),
      { noData: "0.1" },
      [1, 2, 3, 4, 5, none],
    ],
    ["nan", Float64Array.of(1, none, 3, 4, 5, 6), { noData: "nan" }, [1, none, 3, 4, 5, 6]],
    ["0", Uint8Array.of(1, 0, 3, 4, 5, 6), { noData: "0" }, [1, none, 3, 4, 5, 6]],
    ["-32768 of Int16", Int16Array.of(-32_768, 2, 3, 4, 5, 6), { noData: "-32768" }, [none, 2, 3, 4, 5, 6]],
    ["65535 of UInt16", Uint16Array.of(65_535, 2, 3, 4, 5, 6), { noData: "6.5535e4" }, [none, 2, 3, 4, 5, 6]],
    [
      "4294967295 of UInt32",
      Uint32Array.of(4_294_967_295, 2, 3, 4, 5, 6),
      { noData: "4294967295" },
      [none, 2, 3, 4, 5, 6],
    ],
    [
      "-9999, which no Byte has",
      Uint8Array.of(241, 2, 3, 4, 5, 6),
      { noData: "-9999" },
      [241, 2, 3, 4, 5, 6],
    ],
    [
      "NaN and numbers below 0 without a tag",
      Float32Array.of(none, -1, 3, 4, 5, 6),
      {},
      [none, none, 3, 4, 5, 6],
    ],
    [
      "10 before the scale of 0.1 and the offset of 2",
      Int32Array.of(10, 20, 30, 40, 50, 60),
      { noData: "10", metadata: bandMetadata({ scale: 0.1, offset: 2 }) },
      [none, 4, 5, 6, 7, 8],
    ],
    [
      "1 before the scale of 10",
      Int8Array.of(1, 2, 3, 4, 5, 10),
      { noData: "10", metadata: bandMetadata({ scale: 10 }) },
      [10, 20, 30, 40, 50, none],
    ],
  ])("pixels of a GeoTIFF without data are those with %s", async (_, pixels, tags, expected) => {
    const { value } = await pixelsOf(await grid(pixels, tags), reading).next();
    const found = (value as { people: ArrayLike<number> }[])[0]?.people ?? [];
    expect(Array.from(found, (each) => Math.round(each * 1e9) / 1e9)).toEqual(expected);
  });

  test("ncs import population prints how a GeoTIFF was understood, and how many pixels have no data for which reason", async () => {
    await useEmptyTables();
    const path = await grid([1_000, -2, Number.NaN, 4_000, -99_999, -99_999], {
      noData: "-99999",
      metadata: bandMetadata({ scale: 0.5 }),
    });
    const { remarks, people: inBox } = await importGrid(path, { isDryRun: true });
    expect(inBox).toBeCloseTo(2_500, 6);
    expect(remarks.slice(0, 2)).toEqual([
      "3 × 2 pixels of 0.01 × 0.01 degrees from 8 to 8.03 E and 46.98 to 47 N, the first row is in the north, " +
        "ModelPixelScale of the pixels' corners (PixelIsArea); Float32, times 0.5, no-data value -99999",
      "4 of 6 pixels in the box have no data: 2 with the no-data value, 1 with NaN, 1 with a number below 0",
    ]);
    expect(remarks[2]).toMatch(
      /^covers 2 km²; the largest density is 2,365 people per km² in cell u0m[0-9a-z]{4}$/,
    );
  });
});

/** Imports a grid into the box. */
async function importGrid(
  file: string,
  changed: Partial<PopulationImport> = {},
): Promise<PopulationImported> {
  return await importPopulation({
    file,
    kind: "geotiff",
    box,
    noData: "uncovered",
    curve: await curveOf("flat"),
    curveName: "flat",
    precision: 7,
    provenance: { source: "A test", licence: "CC0-1.0" },
    publishing: { threshold: 10, precisions: [7] },
    isDryRun: false,
    ...changed,
  });
}

/** What callers are answered of the cells that share area with an area: by their geohashes. */
async function answered(
  area: Box,
  precision = 7,
): Promise<Map<string, { dataType: string; pplDensity?: number }>> {
  const polygon = polygonOf(cornersOf(area));
  if (polygon === undefined) throw new Error("a box is a polygon");
  const now = new Date("2026-11-20T00:00:00Z");
  const asked = askedHours({ first: Date.parse("2026-11-23T08:00:00Z") / 3_600_000, count: 1 }, now);
  const chunks: Buffer[] = [];
  const query = { polygon, asked, precision } as DensityQuery;
  for await (const chunk of bodyOf(await answerTo(query, AbortSignal.timeout(60_000))))
    chunks.push(Buffer.from(chunk));
  const { timedPopulationDensityData } = JSON.parse(Buffer.concat(chunks).toString());
  const [{ cellPopulationDensityData } = { cellPopulationDensityData: [] }] = timedPopulationDensityData;
  return new Map(
    cellPopulationDensityData.map(({ geohash, ...cell }: { geohash: string }) => [geohash, cell] as const),
  );
}

/** The middle of the pixel in the south-east, some cells from its edges. */
const southEast: Box = { west: 8.023, south: 46.983, east: 8.027, north: 46.987 };
/** East of the grid. */
const beyond: Box = { west: 8.033, south: 46.983, east: 8.037, north: 46.987 };
const withoutSouthEast = [1_000, 2_000, 3_000, 4_000, 5_000, -1];

/** What the cells in an area are answered to have; nothing if the whole box and what is east of it are not covered. */
async function kindsIn(area: Box): Promise<string[]> {
  const cells = [...(await answered({ ...box, east: 8.04 }))];
  return [
    ...new Set(cells.flatMap(([cell, { dataType }]) => (isWithin(boxOf(cell), area) ? [dataType] : []))),
  ];
}

describe("what a GeoTIFF covers", () => {
  beforeEach(useEmptyTables);

  test("callers are answered NO_DATA where a GeoTIFF has no data or ends, and LOW_DENSITY where nobody lives", async () => {
    const wide = { ...box, east: 8.04 };
    await importGrid(await grid([1_000, 2_000, 3_000, 4_000, 0, -1], {}), { box: wide });
    expect(await kindsIn(southEast)).toEqual(["NO_DATA"]);
    expect(await kindsIn(beyond)).toEqual(["NO_DATA"]);
    expect(await kindsIn({ ...southEast, west: 8.013, east: 8.017 })).toEqual(["LOW_DENSITY"]);
    // A cell is covered if any of it has data: the people of all pixels are in some cell.
    const cells = await answered(wide);
    const sum = [...cells].reduce(
      (all, [geohash, { pplDensity = 0 }]) => all + pplDensity * cellArea(geohash),
      0,
    );
    // But for a few cells of fewer than ten people at the edges.
    expect(sum / 10_000).toBeCloseTo(1, 1);
  });

  test("with --no-data nobody, the pixels of a GeoTIFF without data are covered, and what is beyond its edge is not", async () => {
    await importGrid(await grid(withoutSouthEast, {}), { box: { ...box, east: 8.04 }, noData: "nobody" });
    expect(await kindsIn(southEast)).toEqual(["LOW_DENSITY"]);
    expect(await kindsIn(beyond)).toEqual(["NO_DATA"]);
  });

  test("a coarser cell of which half has data has the density of its people by the whole area, and its covered share", async () => {
    const publishing = { threshold: 10, precisions: [5] };
    await importGrid(await grid([-1, -1, -1, 4_000, 5_000, 6_000], {}), { publishing });
    const cells = await answered(box, 5);
    const sum = [...cells].reduce(
      (all, [geohash, { pplDensity = 0 }]) => all + pplDensity * cellArea(geohash),
      0,
    );
    expect(sum / 15_000).toBeCloseTo(1, 1);
  });

  test("importing again with less coverage says what stays covered, and the same coverage again says nothing", async () => {
    await importGrid(await grid(people, {}, "all.tif"));
    const less = await grid(withoutSouthEast, {}, "less.tif");
    const { remarks } = await importGrid(less, { isDryRun: true });
    const left = remarks.find((remark) => remark.includes("stay covered"));
    expect(left).toMatch(/^1 km² in the box stay covered, as earlier imports left them/);
    expect((await importGrid(less)).remarks).toContain(left);
    expect(await kindsIn(southEast)).toEqual(["DENSITY_ESTIMATION"]);
    const again = await importGrid(await grid(people, {}, "all.tif"), { isDryRun: true });
    expect(again.remarks.join()).not.toContain("stay covered");
  });

  test("ncs import population says at the finest precision that is published what stays covered", async () => {
    const publishing = { threshold: 10, precisions: [5, 6] };
    await importGrid(await grid(people, {}, "all.tif"), { publishing });
    const south = await grid([1_000, 2_000, 3_000, -1, -1, -1], {}, "north.tif");
    const { remarks } = await importGrid(south, { publishing, isDryRun: true });
    expect(remarks.at(-1)).toMatch(/^3.1 km² in the box stay covered/);
  });
});

describe("what is no number of people", () => {
  beforeEach(useEmptyTables);

  test.each<[string, readonly number[], string]>([
    [
      "the largest Float32 whose no-data tag was lost",
      [1, 2, 3, 4, 5, 3.4028234663852886e38],
      "pixel 2, 1 (column and row from 0) at 8.025 E, 46.985 N has 3.40e+38 people, more than 5,000,000 per km²",
    ],
    ["an infinite number", [1, Number.POSITIVE_INFINITY, 3, 4, 5, 6], "pixel 1, 0 (column and row from 0)"],
    [
      "an infinite number below 0",
      [1, 2, 3, 4, Number.NEGATIVE_INFINITY, 6],
      "pixel 1, 1 (column and row from 0) at 8.015 E, 46.985 N has an infinite number of people (-Infinity). Was the no-data",
    ],
    ["2147483647 as a Float32", [1, 2, 3, 2_147_483_648, 5, 6], "Was the no-data value lost?"],
  ])("a GeoTIFF with %s is refused before anything is stored", async (_, pixels, reason) => {
    await expect(importGrid(await grid(pixels, {}, "lost.tif"))).rejects.toThrow(reason);
    expect(await kindsIn(box)).toEqual([]);
  });

  test("a pixel of -Infinity is refused with --no-data nobody too, and is without data where that is the no-data value", async () => {
    const pixels = [1, 2, 3, Number.NEGATIVE_INFINITY, 5, 6];
    const nobody = importGrid(await grid(pixels, {}, "lost.tif"), { noData: "nobody", isDryRun: true });
    await expect(nobody).rejects.toThrow("lost.tif: pixel 0, 1 (column and row from 0)");
    const { remarks } = await importGrid(await grid(pixels, { noData: "-inf" }), { isDryRun: true });
    expect(remarks[1]).toBe("1 of 6 pixels in the box has no data: 1 with the no-data value");
  });

  test("a pixel with 4,000,000 people per km² is read", async () => {
    const squareKm = 0.8455;
    const { people: inBox } = await importGrid(await grid([0, 0, 0, 0, 0, 4e6 * squareKm], {}), {
      isDryRun: true,
    });
    expect(inBox).toBeCloseTo(4e6 * squareKm, -1);
  });

  test.each([
    [
      "an H3 cell with 6,000,000 people per km²",
      "h3",
      "h3,people\n881f8e2c1bfffff,5000000\n",
      "line 2: the H3 cell at ",
    ],
    [
      "a point with 1,000,000,001 people",
      "points",
      "lat,lon,people\n46.99,8.01,1000000000\n46.99,8.01,1000000001\n",
      "line 3: the point at 8.01 E, 46.99 N has 1,000,000,001 people: at most 1,000,000,000 are read",
    ],
  ] as const)("%s is refused", async (_, kind, content, reason) => {
    const path = await folder.write(`${kind}.csv`, content);
    const everywhere = { west: 5, south: 45, east: 10, north: 48 };
    const publishing = { threshold: 10, precisions: [5] };
    const wanted = { kind, noData: undefined, box: everywhere, precision: 5, publishing } as const;
    await expect(importGrid(path, wanted)).rejects.toThrow(`${kind}.csv: ${reason}`);
  });
});
