import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { crowdIn } from "../../tools/import/density/population/crowd.ts";
import { PeopleByCell } from "../../tools/import/density/population/people-by-cell.ts";
import { pixelsOf } from "../../tools/import/density/population/raster.ts";
import { bandMetadata, degreesOfWgs84, type GeoTiffTags, geoTiff } from "../support/geotiff.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const { PATH = "" } = process.env;
const isThere = ["gdalwarp", "gdal_translate"].every((name) =>
  PATH.split(delimiter).some((folder) => existsSync(join(folder, name))),
);
if (!isThere) console.warn("GDAL is not installed: what its gdalwarp makes of refused grids is not tested");

const run = promisify(execFile);
const folder = useOwnFolder();
const people = Float32Array.from({ length: 16 }, (_, pixel) => 1_000 * (pixel + 1));
const all = 136_000;
const box: Box = { west: 3.9, south: 44.9, east: 4.2, north: 45.2 };
const northUp = { pixelScale: [0.01, 0.01, 0], tiePoints: [0, 0, 0, 4, 45.04, 0] };
const rotated = [0.008, 0.006, 0, 4, 0.006, -0.008, 0, 45.04, 0, 0, 0, 0, 0, 0, 0, 1];

/** The people of a grid in a box, and how many of its pixels have no data. */
async function read(path: string, area = box): Promise<{ people: number; noData: number }> {
  const cells = new PeopleByCell(area, 6);
  let noData = 0;
  for await (const blocks of pixelsOf(path, {
    box: area,
    isNoDataNobody: false,
    onRemark: () => undefined,
  })) {
    for (const block of blocks) {
      const crowd = crowdIn(block);
      if (crowd !== undefined) throw new Error(crowd);
      cells.add(block);
      for (const here of Array.from(block.people)) if (Number.isNaN(here)) noData++;
    }
  }
  return { people: Math.round(cells.people), noData };
}

/** Runs the command that the refusal of a grid names. @returns the path of what it makes. */
async function warped(path: string, area = box): Promise<string> {
  const { message } = await read(path, area).then(
    () => new Error("was not refused"),
    (error: Error) => error,
  );
  const [command = "", made = ""] = /gdal(?:warp|_translate) .* (\S+-wgs84\.tif)(?= makes)/.exec(message) ?? [
    message,
  ];
  await run("sh", ["-c", command], { cwd: folder.path });
  return join(folder.path, made);
}

describe.skipIf(!isThere)("grids by GDAL", () => {
  test.each<[string, GeoTiffTags]>([
    ["a rotated grid", { width: 4, transformation: rotated }],
    [
      "a rotated grid of centres (PixelIsPoint)",
      { width: 4, transformation: rotated, keys: { ...degreesOfWgs84, 1025: 2 } },
    ],
    [
      "a rotated grid with a scale of 0.5",
      { width: 4, transformation: rotated, metadata: bandMetadata({ scale: 0.5 }) },
    ],
    [
      "ground control points",
      {
        width: 4,
        tiePoints: [
          0, 0, 0, 4, 45.04, 0, 4, 0, 0, 4.04, 45.05, 0, 0, 4, 0, 4, 45, 0, 4, 4, 0, 4.04, 45.01, 0,
        ],
      },
    ],
    [
      "metres of UTM",
      {
        width: 4,
        pixelScale: [1_000, 1_000, 0],
        tiePoints: [0, 0, 0, 579_000, 4_988_000, 0],
        keys: { 1024: 1, 3072: 32_631 },
      },
    ],
    ["a grid without a coordinate system", { width: 4, ...northUp, keys: {} }],
  ])("of %s, the gdalwarp that the refusal names makes a file with the same people", async (name, tags) => {
    const path = await folder.write(`${name.replace(/\W/g, "-")}.tif`, geoTiff(people, tags));
    const made = await read(await warped(path));
    expect(made.people / (tags.metadata === undefined ? all : all / 2)).toBeCloseTo(1, 4);
  });

  test.each([
    ["", "ends before its pixels do: it is damaged, or was not downloaded whole"],
    ["compressed ", "ends before its pixels do: it is damaged, or was not downloaded whole"],
  ])("a %sgrid of which seven tenths were downloaded is refused", async (compressed, reason) => {
    const path = await folder.write("plain.tif", geoTiff(people, { width: 4, ...northUp }));
    const made = join(folder.path, "whole.tif");
    const options = compressed === "" ? [] : ["-co", "COMPRESS=DEFLATE"];
    await run("gdal_translate", ["-q", "-outsize", "200", "200", "-r", "bilinear", ...options, path, made]);
    const whole = readFileSync(made);
    const cut = await folder.write("cut.tif", whole.subarray(0, 0.7 * whole.length));
    await expect(read(cut)).rejects.toThrow(reason);
  });

  test.each([
    ["DEFLATE", "damaged.tif: cannot be read as a GeoTIFF: it is damaged"],
    // One that unpacks to another size than its block has.
    ["LZW", "damaged.tif: cannot be read as a GeoTIFF: it is damaged"],
    // Blocks without a sum of their bytes may still be numbers, which no city has.
    ["ZSTD", "Was the no-data value lost?"],
  ])("a grid with %s of which 40 bytes are damaged is refused", async (compression, reason) => {
    const noise = Float32Array.from({ length: 40_000 }, (_, pixel) => 1 + ((pixel * 7_919) % 8_191));
    const path = await folder.write("noise.tif", geoTiff(noise, { width: 200, ...northUp }));
    const made = join(folder.path, "made.tif");
    await run("gdal_translate", ["-q", "-co", `COMPRESS=${compression}`, path, made]);
    const bytes = readFileSync(made);
    const middle = Math.floor(bytes.length / 2);
    for (let at = middle; at < middle + 40; at++) bytes[at] = (bytes[at] as number) ^ 0x55;
    const damaged = await folder.write("damaged.tif", bytes);
    await expect(read(damaged, { west: 4, south: 43, east: 6, north: 46 })).rejects.toThrow(reason);
  });

  test("of a grid of another datum, gdalwarp makes a file with the same people and the same pixel without data", async () => {
    const tags = { width: 4, ...northUp, noData: "6000", keys: { 1024: 2, 2048: 4_258 } };
    const path = await folder.write("etrs89.tif", geoTiff(people, tags));
    expect(await read(await warped(path))).toEqual({ people: all - 6_000, noData: 1 });
  });

  test.each([
    ["UInt16 from the most significant byte on", ["-ot", "UInt16", "-co", "ENDIANNESS=BIG"]],
    ["Float64", ["-ot", "Float64"]],
  ])("of %s behind the predictor 2, gdal_translate makes a file with the same people", async (_, options) => {
    const path = await folder.write("plain.tif", geoTiff(people, { width: 4, ...northUp }));
    const made = join(folder.path, "predicted.tif");
    await run("gdal_translate", [
      "-q",
      ...options,
      "-co",
      "COMPRESS=DEFLATE",
      "-co",
      "PREDICTOR=2",
      path,
      made,
    ]);
    expect(await read(await warped(made))).toEqual({ people: all, noData: 0 });
  });

  test("of a grid with its scale and no-data value in an .aux.xml, gdal_translate makes a file that has both", async () => {
    const path = await folder.write("sidecar.tif", geoTiff(people, { width: 4, ...northUp }));
    const band = '<PAMRasterBand band="1"><NoDataValue>16000</NoDataValue><Scale>0.5</Scale></PAMRasterBand>';
    await folder.write("sidecar.tif.aux.xml", `<PAMDataset>${band}</PAMDataset>`);
    expect(await read(await warped(path))).toEqual({ people: (all - 16_000) / 2, noData: 1 });
  });

  test("of a grid of longitudes from 0 to 360 and a box across Greenwich, gdalwarp makes a file with the same pixels", async () => {
    const world = Float32Array.from({ length: 360 * 4 }, (_, pixel) => 1 + (pixel % 360));
    const tags = { width: 360, pixelScale: [1, 1, 0], tiePoints: [0, 0, 0, 0, 47, 0] };
    const path = await folder.write("world.tif", geoTiff(world, tags));
    const area = { west: -2, south: 44, east: 2, north: 46 };
    const made = await read(await warped(path, area), area);
    expect(made).toEqual({ people: 2 * (359 + 360 + 1 + 2), noData: 0 });
  });

  test.each([
    ["as a BigTIFF", ["-co", "BIGTIFF=YES"]],
    [
      "in compressed tiles with a predictor",
      ["-co", "TILED=YES", "-co", "COMPRESS=DEFLATE", "-co", "PREDICTOR=3"],
    ],
    ["as big-endian numbers", ["-co", "ENDIANNESS=BIG"]],
    ["as UInt16", ["-ot", "UInt16"]],
    ["as Float64 in strips of one row", ["-ot", "Float64", "-co", "BLOCKYSIZE=1"]],
    ["with ZSTD", ["-co", "COMPRESS=ZSTD"]],
    ["with its pixels as points", ["-mo", "AREA_OR_POINT=Point"]],
    ["in two bands", ["-b", "1", "-b", "1"]],
  ])("a grid written by GDAL %s has 136,000 people in the same pixels", async (_, options) => {
    const path = await folder.write("plain.tif", geoTiff(people, { width: 4, ...northUp }));
    const made = join(folder.path, "translated.tif");
    await run("gdal_translate", ["-q", ...options, path, made]);
    expect(await read(made)).toEqual({ people: all, noData: 0 });
    const southEast = { west: 4.03, south: 45, east: 4.04, north: 45.01 };
    expect(await read(made, southEast)).toEqual({ people: 16_000, noData: 0 });
  });

  test.each([
    [
      "an internal mask",
      ["--config", "GDAL_TIFF_INTERNAL_MASK", "YES", "-a_nodata", "none", "-mask", "mask"],
      "gdal_translate",
    ],
    ["an alpha band", ["-dstalpha"], "gdalwarp"],
  ])("a grid with %s has no data where that hides a pixel", async (_, options, program) => {
    const hidden = Float32Array.from(people);
    hidden[15] = -1;
    const path = await folder.write("hidden.tif", geoTiff(hidden, { width: 4, ...northUp, noData: "-1" }));
    const made = join(folder.path, `${program}.tif`);
    await run(program, ["-q", ...options, path, made]);
    expect(await read(made)).toEqual({ people: 120_000, noData: 1 });
  });
});
