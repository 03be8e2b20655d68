import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { csvOf, ndjsonOf } from "../../functions/population-density/answer/line-formats.ts";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { geohashAt, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { importDensity } from "../../tools/import/density/import-density.ts";
import { collect, fullTiles, hourOf } from "../support/answers.ts";
import { hoursToCome, rectangle } from "../support/areas.ts";
import { tokenWith } from "../support/client.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { number, query, time } from "../support/duckdb.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const folder = useOwnFolder();

const request = {
  area: { areaType: "POLYGON", boundary: rectangle(0.02, 0.02) },
  ...hoursToCome(3),
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

test.each([
  ["9e1", "9e2", "1e1"],
  ["0012345", "9012345"],
])(
  "DuckDB reads geohashes that look like numbers, %s and %s, as the text that they are",
  async (...cells) => {
    const file = await folder.write(
      "numbers.csv",
      `geohash,pplDensity,wkt\n${cells.map((cell) => `${cell},1,POINT (1 2)\n`).join("")}`,
    );
    const [statement = ""] = /SELECT geohash, wkt[^`]*/.exec(await readFile("docs/files.md", "utf8")) ?? [];
    const rows = await query(statement.replace("lyon.csv", file));
    expect(rows).toEqual(cells.map((geohash) => expect.objectContaining({ geohash })));
  },
);

/** The statement of docs/files.md that sums a file of this name. */
async function sumOf(name: string): Promise<string> {
  const statements = (await readFile("docs/files.md", "utf8")).matchAll(/`(SELECT sum[^`]*)`/g);
  return Array.from(statements, ([, statement = ""]) => statement).find((one) => one.includes(name)) ?? "";
}

test.each([
  ["lyon.csv", csvOf],
  ["lyon.ndjson", ndjsonOf],
])(
  "DuckDB sums %s as docs/files.md shows: none if all is suppressed, else what comes late",
  async (name, write) => {
    const answer = {
      status: "SUPPORTED_AREA",
      precision: 7,
      tiles: fullTiles(24),
      basisOf: () => undefined,
    } as const;
    const suppressed = hourOf(Array(1_024).fill("LOW_DENSITY"));
    const sums = [suppressed, hourOf([[1_200, 1_234, 1_300]])].map(async (last, index) => {
      const openHour = (tile: number) => (tile < 23 ? suppressed : last);
      const text = Buffer.concat(await collect(write({ ...answer, hours: [494_000], openHour })));
      const file = await folder.write(`${index}-${name}`, text);
      return await query(
        (await sumOf(name)).replace(name, file).replace("sum(pplDensity)", "sum(pplDensity)::INTEGER AS sum"),
      );
    });
    expect(await Promise.all(sums)).toEqual([[{ sum: null }], [{ sum: 1_024 * 1_234 }]]);
  },
);

test("ncs import density reads 245,760 rows of Parquet from a pipe by the statement of docs/files.md", async ({
  skip,
}) => {
  if (process.platform === "win32") skip("Windows has no mkfifo");
  useTables();
  await useOwnDensityTables();
  vi.stubEnv("DENSITY_PRECISIONS", "7");
  const inFolder = (name: string) => join(folder.path, name);
  const [, statement = ""] = /^duckdb -c "(.*?)" \|$/ms.exec(await readFile("docs/files.md", "utf8")) ?? [];
  const toPipe = JSON.stringify(statement.replace("/dev/stdout", "pipe"));
  await folder.write(
    "to-pipe.mjs",
    `import { DuckDBInstance } from "@duckdb/node-api";
    await (await (await DuckDBInstance.create()).connect()).run(${toPipe});`,
  );
  await symlink(join(process.cwd(), "node_modules"), inFolder("node_modules"));
  const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz";
  await query(`COPY (
    SELECT 'u05k' || t || '${alphabet}'[1 + c // 32] || '${alphabet}'[1 + c % 32] AS geohash,
      TIMESTAMPTZ '2026-11-20 00:00:00+00' + h * INTERVAL 1 HOUR AS startTime, 100 + c AS people
    FROM range(10) tiles(t), range(1024) cells(c), range(24) hours(h)
  ) TO '${inFolder("counts.parquet")}' (FORMAT parquet)`);
  execFileSync("mkfifo", [inFolder("pipe")]);

  const [{ rows, changed }] = await Promise.all([
    importDensity({
      ...{ files: [inFolder("pipe")], format: "csv", rows: 245_760 },
      ...{ typical: false, precisions: [7], threshold: 10 },
    }),
    promisify(execFile)(process.execPath, ["to-pipe.mjs"], { cwd: folder.path }),
  ]);

  expect(rows).toBe(245_760);
  expect(changed).toBeGreaterThan(0);
  vi.unstubAllEnvs();
});

test("the lines of DuckDB in docs/densities.md make counts by geohash of people by latitude and longitude", async () => {
  const [, lines = ""] = /```sql\n([\s\S]*?)```/.exec(await readFile("docs/densities.md", "utf8")) ?? [];
  const places = "45.7578,4.832,2026-11-20T11:00:00+01:00,100\n-33.9,-70.1,2026-11-20T10:00:00Z,50\n";
  const header = "latitude,longitude,startTime,people\n";
  const from = await folder.write("places.csv", `${header}${places}45.7577,4.832,2026-11-20T10:00:00Z,20\n`);
  const to = join(folder.path, "by-geohash.csv");

  await query(lines.replace("places.csv", from).replace("counts.csv", to));

  const { cellHeight, cellWidth } = gridOf(7);
  const at = (latitude: number, longitude: number) =>
    geohashAt(Math.floor((latitude + 90) / cellHeight), Math.floor((longitude + 180) / cellWidth), 7);
  const time = "2026-11-20 10:00:00+00";
  const [head, ...rows] = (await readFile(to, "utf8")).trim().split("\n");
  expect(head).toBe("geohash,startTime,people");
  expect(rows.sort()).toEqual([`${at(-33.9, -70.1)},${time},50`, `${at(45.7578, 4.832)},${time},120`].sort());
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
