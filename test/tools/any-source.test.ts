/** Rows come from a file, a pipe or standard input, packed or not. */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { readFiles, readJournal } from "../../functions/population-density/import/store/journal-store.ts";
import { observedDay } from "../../functions/population-density/tiles/store.ts";
import { outputNames } from "../../infra/output-names.ts";
import { type DensityImport, importDensity } from "../../tools/import/density/import-density.ts";
import { replayImports } from "../../tools/import/density/replay.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import type { Ended } from "../support/ncs.ts";
import { stackOutputs } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { stored } from "../support/stored-days.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
beforeEach(() => useOwnDensityTables());

const friday = "2026-11-20";
const observed = { typical: false, precisions: [7], threshold: 10 };
const tile = freshTile();
const csv = `geohash,startTime,people\n${tile}00,${friday}T08:00:00Z,70\n${tile}01,${friday}T08:00:00Z,80\n`;
const ndjson = ["00", "01"]
  .map((cell) => `{"geohash":"${tile}${cell}","startTime":"${friday}T08:00:00Z","people":7${cell}}\n`)
  .join("");
const fileOf = (name: string, content: string | Uint8Array) =>
  folder.write(join(crypto.randomUUID(), name), content);

/** Imports what another program writes into a named pipe. */
async function importPiped(content: string | Uint8Array, options: Partial<DensityImport>) {
  const file = await fileOf("written", content);
  const path = join(file, "../pipe");
  execFileSync("mkfifo", [path]);
  const writer = execFile("sh", ["-c", 'cat "$0" > "$1"', file, path], () => undefined);
  try {
    return await importDensity({ ...observed, files: [path], ...options });
  } finally {
    writer.kill();
  }
}

test.each<[string, string | Uint8Array, DensityImport["format"]]>([
  ["day.csv.gz", gzipSync(csv), undefined],
  ["day.ndjson.gz", gzipSync(ndjson), undefined],
  ["day.jsonl.gz", Buffer.concat([gzipSync(ndjson.slice(0, 9)), gzipSync(ndjson.slice(9))]), undefined],
  ["63", csv, "csv"],
  ["day.txt", gzipSync(ndjson), "ndjson"],
  ["day.csv", ndjson, "ndjson"],
])("ncs import density reads the two rows of a file %s", async (name, content, format) => {
  const imported = await importDensity({ ...observed, files: [await fileOf(name, content)], format });
  expect(imported.rows).toBe(2);
});

const packed = gzipSync(csv);
const damaged = Buffer.from(packed);
damaged.writeUInt8(damaged.readUInt8(damaged.length - 6) ^ 1, damaged.length - 6);

test.each([
  ["without its last byte", packed.subarray(0, -1), "is cut off: gzip cannot unpack it to its end"],
  ["with another checksum", damaged, "is damaged: gzip cannot unpack it"],
  ["with zeros behind it", Buffer.concat([packed, Buffer.alloc(9)]), "has something behind what gzip can"],
])("packed rows %s are refused, and nothing is stored", async (_, content, reason) => {
  const path = await fileOf("day.csv.gz", content);
  await expect(importDensity({ ...observed, files: [path] })).rejects.toThrow(`${path}: ${reason}`);
  expect(await stored(tile, observedDay(friday))).toBeUndefined();
});

test.each([
  ["without their number", undefined, "a pipe that breaks looks like one that ends: say with --rows"],
  ["of which --rows knows three", 3, "2 rows were read, and --rows says 3: the input is not whole"],
])("two rows in a pipe %s are refused, and nothing is stored", async (_, rows, reason) => {
  await expect(importPiped(csv, { format: "csv", rows })).rejects.toThrow(reason);
  expect(await stored(tile, observedDay(friday))).toBeUndefined();
});

test("two rows in a pipe with --rows 2 are imported, and the bytes are told without knowing how many there are", async () => {
  const told: unknown[] = [];
  const imported = await importPiped(csv, {
    format: "csv",
    rows: 2,
    onProgress: ({ bytes, allBytes }) => told.push([bytes, allBytes]),
  });
  expect(imported.rows).toBe(2);
  expect(told).toContainEqual([csv.length, undefined]);
});

test("rows in a pipe outside of an area whose latitudes are its longitudes are refused as swapped", async () => {
  // Its degrees are latitudes as well as longitudes.
  const rows = csv.replaceAll(tile, "u05kq");
  const ring = boxIn("u05kq", [0, 0], [1, 1]).map(({ latitude, longitude }) => [latitude, longitude]);
  const coverage = await fileOf(
    "area.geojson",
    JSON.stringify({ type: "Polygon", coordinates: [[...ring, ring[0]]] }),
  );
  await expect(importPiped(gzipSync(rows), { format: "csv", coverage })).rejects.toThrow(
    "area.geojson: the rows are inside with latitude and longitude the other way round: swapped?",
  );
});

test("ncs import density - reads packed standard input; a replay finds it under any name by its size and hash", async () => {
  for (const name of ["DENSITY_K", "DENSITY_PRECISIONS"]) vi.stubEnv(name, undefined);
  const stage = stackOutputs({ [outputNames.densityPrecisions]: "7" });
  const outputs = await folder.write("outputs.json", JSON.stringify(stage));
  const args = ["import", "density", "-", "--format", "csv", "--coverage", "rows", "--outputs", outputs];
  const { code, stdout, stderr } = await new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, ["tools/ncs.ts", ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(packed);
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^2 rows, /);
  const [entry] = await readJournal();
  expect(entry?.options).toMatchObject({ command: "density", format: "csv" });
  const sha256 = createHash("sha256").update(packed).digest("hex");
  expect(await readFiles(entry?.number ?? 0)).toEqual([{ name: "-", bytes: packed.length, sha256 }]);

  const other = await fileOf("kept", gzipSync(ndjson));
  const missing = `no file has the ${packed.length} bytes with the SHA-256 ${sha256}, which import 1 has read`;
  await expect(replayImports({ folder: join(other, "..") })).rejects.toThrow(missing);
  await writeFile(join(other, "../elsewhere"), packed);
  expect(await replayImports({ folder: join(other, "..") })).toMatchObject({ imports: 1, changed: 0 });
  vi.unstubAllEnvs();
});
