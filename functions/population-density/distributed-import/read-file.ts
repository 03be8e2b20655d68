import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { extname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ObjectChanged, putPieces, readInPieces } from "../../../shared/aws/objects.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems } from "../../../shared/import/problems.ts";
import { temporaryFolder } from "../../../shared/temporary-folder.ts";
import { type CoveredArea, coverageAt } from "../import/coverage.ts";
import { rowsOf } from "../import/rows/read-rows.ts";
import type { RowBatch } from "../import/rows/row-batch.ts";
import type { SortedPartition } from "../import/sort/day-sort.ts";
import { withSortedRows } from "../import/sort/sorted-days.ts";
import { readCoveredArea } from "./covered-area.ts";
import { type ImportOrder, keys, putJson, type ReadFile, tilesOf } from "./execution-objects.ts";

/** A file among those that were listed. */
export interface ListedFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Its position in the list, the same in every attempt. */
  readonly index: number;
}

/**
 * Reads a file: leaves its rows sorted by prefix and day, and what it says; or why it is refused. The markers that the
 * console makes for folders are not files.
 */
export async function readCounts(order: ImportOrder, file: ListedFile): Promise<void> {
  if (file.key.endsWith("/")) return;
  const result = keys.read(order.id, file.index);
  const rowsKey = keys.rows(order.id, file.index);
  // Files of one name may be in several folders.
  const name = file.key.slice(order.prefix.lastIndexOf("/") + 1);
  const read = {
    file: name,
    rowsKey,
    bytes: file.size,
    sha256: "",
    problems: [],
    rows: 0,
    hours: [],
    tiles: {},
    partitions: [],
  };
  const folder = temporaryFolder("counts-");
  try {
    const { path, sha256 } = await download(file, name, folder.path);
    await putJson(result, {
      ...read,
      sha256,
      ...(await sortRows(order, name, path, rowsKey)),
    });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    await putJson(result, { ...read, problems: error.message.split("\n") });
  } finally {
    folder.remove();
  }
}

/** @returns the path of the file, which is not compressed, and the hash of the object. */
async function download(
  { key, size }: ListedFile,
  name: string,
  folder: string,
): Promise<{ readonly path: string; readonly sha256: string }> {
  // A key may be named like the folder, or not at all.
  const path = join(folder, `counts${extname(key.replace(/\.gz$/, ""))}`);
  const hash = createHash("sha256");
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of readInPieces(key, size)) {
      hash.update(piece);
      yield piece;
    }
  }
  const content = Readable.from(hashed());
  try {
    if (!key.endsWith(".gz")) await pipeline(content, createWriteStream(path));
    else {
      const gunzip = createGunzip();
      await pipeline(content, gunzip, createWriteStream(path));
      // What follows the compressed data is left out without an error, such as a damaged second part.
      if (gunzip.bytesWritten !== size) throw new ImportError([`${name}: is not gzip to its end`]);
    }
    return { path, sha256: hash.digest("hex") };
  } catch (error) {
    if (error instanceof ObjectChanged) throw new ImportError([`${name}: has changed while it was read`]);
    const isGzip = error instanceof Error && "code" in error && /^Z_/.test(String(error.code));
    if (isGzip) throw new ImportError([`${name}: is not gzip`]);
    throw error;
  }
}

async function sortRows(
  order: ImportOrder,
  file: string,
  path: string,
  rowsKey: string,
): Promise<Pick<ReadFile, "hours" | "partitions" | "precision" | "rows" | "tiles">> {
  const problems = new Problems([file]);
  const area: CoveredArea | undefined = order.hasArea ? await readCoveredArea(order.id) : undefined;
  let rows = 0;
  async function* counted(): AsyncGenerator<RowBatch> {
    for await (const batch of rowsOf([path], { problems })) {
      rows += batch.to - batch.from;
      yield batch;
    }
  }
  const options = {
    problems,
    coverageAt: area && ((precision: number) => coverageAt(area, precision)),
    isTypical: order.typical,
    now: order.typical ? undefined : Date.now(),
  };
  return await withSortedRows(counted(), options, async ({ precision, coverage, hours, partitions }) => {
    const stored: ReadFile["partitions"] = [];
    await putPieces(rowsKey, bytesOf(partitions(), stored));
    return {
      rows,
      ...(precision === undefined ? {} : { precision }),
      hours: [...hours],
      // A given area is the same for all files.
      tiles: area === undefined ? tilesOf(coverage) : {},
      partitions: stored,
    };
  });
}

/** The bytes of all entries, one partition after the other. @param stored gets where each one is. */
function* bytesOf(
  partitions: Iterable<SortedPartition>,
  stored: ReadFile["partitions"],
): Generator<Uint8Array> {
  let offset = 0;
  for (const { prefix, day, entries } of partitions) {
    const start = offset;
    for (const some of entries) {
      const bytes = some.bytes();
      yield bytes;
      offset += bytes.length;
    }
    stored.push({ prefix, day, offset: start, bytes: offset - start });
  }
}
