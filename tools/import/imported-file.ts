import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ImportedFile } from "../../functions/population-density/import/store/journal-store.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { isFileError, unreadable } from "../../shared/import/unreadable.ts";

/** Hashes a file while somebody reads it. */
export class FileHash {
  readonly #name: string;
  readonly #hash: Hash = createHash("sha256");
  #bytes = 0;

  constructor(path: string) {
    this.#name = basename(path);
  }

  /** Takes the next bytes of the file. */
  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  /** To be called once, when the whole file was read. */
  end(): ImportedFile {
    return { name: this.#name, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}

/**
 * Reads a file for its hash alone.
 * @throws {ImportError} for a file that cannot be read.
 */
export async function importedFile(path: string): Promise<ImportedFile> {
  const hash = new FileHash(path);
  try {
    await pipeline(createReadStream(path), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) hash.add(chunk);
    });
  } catch (error) {
    if (isFileError(error)) throw new ImportError([`${basename(path)}: ${unreadable(error.code)}`]);
    throw error;
  }
  return hash.end();
}
