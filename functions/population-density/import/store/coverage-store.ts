import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod/mini";
import { inTime } from "../../../../shared/aws/clients.ts";
import { getItem, putItem } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { type Coverage, decodeCoverage, encodeCoverage, type Part } from "../../privacy/parts.ts";
import { densityImports, type ListedPart } from "./tables.ts";

const cellChunk = z.object({
  /** Some of the part's compressed cells. */
  bytes: z.instanceof(Uint8Array),
  /** How many there are. */
  chunks: z.number(),
});

/** An item may have 400 KB. */
const chunkBytes = 350_000;

/** The cells of parts: stored once for all days that have the same part, and never deleted, as parts are not. */
export class PartCoverages {
  /** Cells of parts that were read or written: they are stored. */
  readonly #stored = new Map<string, Coverage>();

  async read(part: ListedPart): Promise<Part> {
    const { id, precision } = part;
    const coverage = await this.#coverageOf(part);
    if (coverage === undefined) throw new Error(`the cells of part ${id} are gone`);
    return { id, precision, coverage };
  }

  /** Whether there is such a part. */
  async isStored(part: ListedPart): Promise<boolean> {
    return (await this.#coverageOf(part)) !== undefined;
  }

  async #coverageOf({ id, precision }: ListedPart): Promise<Coverage | undefined> {
    const coverage = this.#stored.get(id) ?? (await readCells(id, precision));
    if (coverage !== undefined) this.#stored.set(id, coverage);
    return coverage;
  }

  /** Stores the cells of a part, unless they are known to be stored. */
  async write({ id, coverage }: Part): Promise<void> {
    if (this.#stored.has(id)) return;
    const compressed = deflateRawSync(encodeCoverage(coverage));
    const chunks = Math.ceil(compressed.length / chunkBytes);
    for (let chunk = 0; chunk < chunks; chunk++) {
      const bytes = compressed.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes);
      // The same id always has the same cells.
      await putItem(densityImports, { ...keyOfCells(id, chunk), bytes, chunks }, {}, inTime());
    }
    this.#stored.set(id, coverage);
  }
}

function keyOfCells(part: string, chunk: number) {
  return { kind: `cells/${part}`, id: String(chunk).padStart(3, "0") };
}

const cells = withSchema(densityImports, cellChunk);

/** @returns undefined if the table does not have the part. */
async function readCells(part: string, precision: number): Promise<Coverage | undefined> {
  const first = await getItem(cells, keyOfCells(part, 0), inTime());
  if (first === undefined) return undefined;
  const others: Promise<z.infer<typeof cellChunk> | undefined>[] = [];
  for (let chunk = 1; chunk < first.chunks; chunk++) {
    others.push(getItem(cells, keyOfCells(part, chunk), inTime()));
  }
  const chunks = (await Promise.all(others)).map((chunk) => {
    if (chunk === undefined) throw new Error(`cells of part ${part} are gone`);
    return chunk.bytes;
  });
  return decodeCoverage(inflateRawSync(Buffer.concat([first.bytes, ...chunks])), precision);
}
