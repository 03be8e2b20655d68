import { fstatSync } from "node:fs";
import { basename, extname } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { RowText } from "../../../functions/population-density/import/rows/read-rows.ts";
import type { RowFormat } from "../../../functions/population-density/import/rows/row-format.ts";
import {
  type ImportedFile,
  nameless,
} from "../../../functions/population-density/import/store/journal-store.ts";
import { bytesOf } from "../../../shared/import/lines.ts";
import { Unreadable } from "../../../shared/import/unreadable.ts";
import { statsOf } from "../file-stats.ts";
import { FileHash } from "../imported-file.ts";

/** Instead of a path: standard input. */
const standardInput = "-";

const formatOf: Readonly<Record<string, RowFormat>> = {
  ".csv": "csv",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
};

/** As much of the text as is kept, to look at a row of it again. */
const bytesKept = 4_096;

/** How a source is read. */
interface ReadingOptions {
  /** What it is, whatever its name says. */
  readonly format?: RowFormat | undefined;
  /** Whether the rows are counted afterwards, so that missing ones are noticed. */
  readonly isCounted?: boolean;
  /** Called with the number of further bytes, as they come. */
  readonly onBytes?: (bytes: number) => void;
}

/** Rows of a file, a pipe or standard input, packed by gzip or not. They are read once. */
export class RowSource implements RowText {
  /** As problems name it. */
  readonly name: string;
  readonly format: RowFormat | undefined;
  /** In bytes, as they come; undefined for a pipe. */
  readonly size: number | undefined;
  /** The first bytes of the text, once it was read. */
  beginning: Buffer = Buffer.alloc(0);
  readonly #path: string;
  readonly #isCounted: boolean;
  readonly #onBytes: ReadingOptions["onBytes"];
  readonly #hash: FileHash;

  /** @param path `-` for standard input. */
  constructor(path: string, { format, isCounted = false, onBytes }: ReadingOptions = {}) {
    this.#path = path;
    this.name = path === standardInput ? "standard input" : path;
    this.format = format ?? formatOf[extname(basename(path, ".gz"))];
    const stats = path === standardInput ? fstatSync(process.stdin.fd) : statsOf(path);
    // What cannot be found is refused when it is read.
    const isPipe = stats !== undefined && !stats.isFile() && !stats.isDirectory();
    this.size = isPipe ? undefined : (stats?.size ?? 0);
    this.#isCounted = isCounted;
    this.#onBytes = onBytes;
    this.#hash = new FileHash(isPipe ? nameless : path);
  }

  /**
   * @throws {Unreadable} when packed bytes are cut off or damaged, or when nothing would show that others are cut off.
   */
  async *text(): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#unpacked()) {
      const missing = bytesKept - this.beginning.length;
      if (missing > 0) this.beginning = Buffer.concat([this.beginning, piece.subarray(0, missing)]);
      yield piece;
    }
  }

  /** Bytes and hash as they came; to be called once, after all was read. */
  imported(): ImportedFile {
    return this.#hash.end();
  }

  async *#unpacked(): AsyncGenerator<Uint8Array> {
    const bytes = this.#bytes();
    let first = Buffer.alloc(0);
    while (first.length < gzipMagic.length) {
      const { done, value } = await bytes.next();
      if (done === true) break;
      first = Buffer.concat([first, value]);
    }
    async function* all() {
      yield first;
      yield* bytes;
    }
    if (first.subarray(0, gzipMagic.length).equals(gzipMagic)) yield* unpacked(all());
    else if (this.size !== undefined || this.#isCounted) yield* all();
    else {
      await bytes.return(undefined);
      throw new Unreadable(
        "a pipe that breaks looks like one that ends: say with --rows how many rows there are, or pack them by gzip",
      );
    }
  }

  async *#bytes(): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#path === standardInput ? process.stdin : bytesOf(this.#path)) {
      this.#hash.add(piece);
      this.#onBytes?.(piece.length);
      yield piece;
    }
  }
}

const gzipMagic = Buffer.of(0x1f, 0x8b);

/** @throws {Unreadable} unless the packed bytes are whole. */
async function* unpacked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 2 ** 18 });
  let length = 0;
  const feeding = pipeline(async function* () {
    // Copied, as its memory is used again before it was unpacked.
    for await (const piece of bytes) {
      length += piece.length;
      yield Buffer.from(piece);
    }
  }, gunzip);
  // Thrown by the loop below.
  feeding.catch(() => undefined);
  try {
    yield* gunzip;
    await feeding;
  } catch (error) {
    const problem = packingProblem(error);
    throw problem === undefined ? error : new Unreadable(problem);
  }
  if (gunzip.bytesWritten < length) throw new Unreadable(behind);
}

/** `Gunzip` ignores zeros behind the last member; it ends before these bytes do, or with them. */
const behind = "has something behind what gzip can unpack";

function packingProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  if (error.code === "Z_BUF_ERROR") return "is cut off: gzip cannot unpack it to its end";
  if (error.code === "ERR_STREAM_PREMATURE_CLOSE") return behind;
  return String(error.code).startsWith("Z_") ? "is damaged: gzip cannot unpack it" : undefined;
}
