import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { hourFromNow, rectangle } from "../support/areas.ts";
import { tokenWith } from "../support/client.ts";
import { number, query, time } from "../support/duckdb.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const folder = useOwnFolder();

const request = {
  area: { areaType: "POLYGON", boundary: rectangle(0.02, 0.02) },
  startTime: hourFromNow(1).toISOString(),
  endTime: hourFromNow(4).toISOString(),
};

/** Writes the densities of the request to a file by `ncs density`. */
async function written(name: string, ...options: string[]): Promise<string> {
  const file = join(folder.path, name);
  const token = await tokenWith({ scope: "population-density-data:read" });
  const common = ["--url", sharedService.url, "--token", token, "--out", file];
  const { code, stderr } = await runNcs(["density", JSON.stringify(request), ...common, ...options]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("SUPPORTED_AREA") });
  return file;
}

const features = z.array(
  z.object({
    geometry: z.object({ coordinates: z.array(z.array(z.tuple([z.number(), z.number()]))) }),
    properties: z.looseObject({ geohash: z.string(), pplDensity: z.nullable(z.int()) }),
  }),
);

/** The cells and hours of the request, as GeoJSON has them. */
async function expectedRows() {
  const collection = z
    .object({ features })
    .parse(JSON.parse(readFileSync(await written("expected.geojson"), "utf8")));
  return collection.features.map(({ geometry, properties }) => {
    const corners = geometry.coordinates[0]?.map((corner) => corner.join(" ")) ?? [];
    return { ...properties, text: `POLYGON ((${corners.join(", ")}))` };
  });
}

const wellKnownText = (geometry: string) => `ST_AsText(${geometry}) AS text`;

test("DuckDB reads the GeoParquet of ncs density with the cells, hours and numbers of its GeoJSON", async () => {
  const file = await written("lyon.parquet");
  const rows = await query(
    `SELECT geohash, ${time("startTime")}, ${time("endTime")}, dataType, ${number("pplDensity")},
      ${number("minPplDensity")}, ${number("maxPplDensity")}, coveredShare, basis, ${wellKnownText("geometry")} FROM '${file}'`,
  );
  const expected = await expectedRows();
  expect(expected.length).toBeGreaterThan(500);
  expect(rows).toEqual(expected);
  expect(
    await query(`SELECT typeof(geometry) AS type, typeof(startTime) AS time FROM '${file}' LIMIT 1`),
  ).toEqual([{ type: "GEOMETRY('OGC:CRS84')", time: "TIMESTAMP WITH TIME ZONE" }]);
});

test("DuckDB reads the CSV of ncs density with WKT as the numbers and rectangles of its cells", async () => {
  const file = await written("lyon.csv", "--geometry", "WKT");
  const rows = await query(
    `SELECT geohash, ${number("pplDensity")}, ${wellKnownText("wkt::GEOMETRY")} FROM read_csv('${file}')`,
  );
  const expected = await expectedRows();
  expect(rows).toEqual(expected.map(({ geohash, pplDensity, text }) => ({ geohash, pplDensity, text })));
});

test("GDAL reads the GeoJSON and the CSV of ncs density with geometry and times", async ({ skip }) => {
  const ogrinfo = (...args: string[]) => execFileSync("ogrinfo", args, { encoding: "utf8" });
  try {
    ogrinfo("--version");
  } catch {
    skip("ogrinfo of gdal-bin is not installed");
  }
  const rows = await expectedRows();
  const geojson = ogrinfo("-so", "-al", await written("gdal.geojson"));
  expect(geojson).toContain("Geometry: Polygon");
  expect(geojson).toContain(`Feature Count: ${rows.length}`);
  expect(geojson).toMatch(/startTime: DateTime[\s\S]*pplDensity: Integer /);
  const openOptions = ["X_POSSIBLE_NAMES=longitude", "Y_POSSIBLE_NAMES=latitude", "AUTODETECT_TYPE=YES"];
  const points = await written("points.csv", "--geometry", "POINT");
  const csv = ogrinfo("-so", "-al", ...openOptions.flatMap((option) => ["-oo", option]), points);
  expect(csv).toContain("Geometry: Point");
  expect(csv).toContain(`Feature Count: ${rows.length}`);
  const extent = /Extent: \(([\d.]+), ([\d.]+)\) - \(([\d.]+), ([\d.]+)\)/.exec(csv)?.slice(1).map(Number);
  const centres = rows.map(({ geohash }) => boxOf(geohash)).map((box) => (box.west + box.east) / 2);
  expect(extent?.[0]).toBeCloseTo(Math.min(...centres), 5);
});
