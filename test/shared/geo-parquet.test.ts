import { expect, test } from "vitest";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { type DensityRow, geoParquetOf } from "../../shared/geo-parquet.ts";
import { polygonOfBox } from "../../tools/import/density/box.ts";
import { query } from "../support/duckdb.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { listTypesIn, thriftTypes } from "../support/parquet-footer.ts";

const folder = useOwnFolder();

function rowOf(geohash: string): DensityRow {
  const [startTime, endTime] = ["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"];
  const numbers = { pplDensity: 12, minPplDensity: null, maxPplDensity: null, coveredShare: 1 };
  return { geohash, startTime, endTime, basis: null, dataType: "DENSITY_ESTIMATION", ...numbers };
}

const fileOf = (geohashes: readonly string[]) =>
  geoParquetOf(geohashes.map(rowOf), (geohash) => polygonOfBox(boxOf(geohash)));

async function written(name: string, geohashes: readonly string[]): Promise<string> {
  return await folder.write(name, new Uint8Array(fileOf(geohashes)));
}

async function boundsOf(geohashes: readonly string[]): Promise<unknown> {
  const file = await written(`${geohashes.join("-")}.parquet`, geohashes);
  const found = await query(
    `SELECT decode(value)::JSON->'columns'->'geometry'->'bbox' AS bbox FROM parquet_kv_metadata('${file}')`,
  );
  return (found as { bbox: string }[]).map(({ bbox }) => JSON.parse(bbox));
}

const fieldOfRowGroups = 4;

test.each([[0], [1], [1_500]])(
  "a file of %i rows has a list of row groups whose elements are structs, as strict readers of Thrift need it",
  (rows) => {
    const file = fileOf(Array.from({ length: rows }, () => "u05kq4"));
    expect(listTypesIn(file).get(fieldOfRowGroups)).toBe(thriftTypes.struct);
  },
);

test("DuckDB reads a file without rows as a table with the ten columns of one with rows, and no row", async () => {
  const columnsOf = (file: string) => query(`SELECT column_name, column_type FROM (DESCRIBE FROM '${file}')`);
  const [none, one] = [await written("none.parquet", []), await written("one.parquet", ["u05kq4"])];
  expect(await query(`SELECT count(*)::INTEGER AS rows FROM '${none}'`)).toEqual([{ rows: 0 }]);
  expect(await columnsOf(none)).toEqual(await columnsOf(one));
  expect(await columnsOf(none)).toHaveLength(10);
});

test.each([
  ["on both sides of the antimeridian has west above east", ["80", "xb"], [168.75, 0, -168.75, 5.625]],
  ["that ends at the antimeridian does not go around the globe", ["xb"], [168.75, 0, 180, 5.625]],
  ["on both sides of Greenwich has west below east", ["gb", "u0"], [-11.25, 45, 11.25, 50.625]],
  ["far apart goes the shorter way", ["8p", "xz", "b0"], [168.75, 39.375, -168.75, 50.625]],
])("the bounding box of cells %s", async (_, geohashes, bounds) => {
  expect(await boundsOf(geohashes)).toEqual([bounds]);
});
