import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod/mini";
import { getItem, getItems, putItem, updateItem } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { type Coverage, decodeCoverage, encodeCoverage, type Part } from "../../privacy/parts.ts";
import { densities } from "../../tiles/table.ts";

/** A part as its day lists it. */
const listedPart = z.object({
  id: z.string(),
  /** Of its cells. */
  precision: z.number(),
  /** K. */
  threshold: z.number(),
  /** The smallest share of all people that any of its numbers was scaled up from. */
  marketShare: z.number(),
});

/** A part as its day lists it. */
export type ListedPart = z.infer<typeof listedPart>;

const dayParts = z.object({
  parts: z.array(listedPart),
  /** Counts the changes of what is decided from the parts. */
  revision: z.number(),
  /** The import that is storing the day, and until which epoch millisecond it has it for itself. */
  writer: z.optional(z.string()),
  writerUntil: z.optional(z.number()),
});

/**
 * What is known of the parts of a day: an observed date or a typical weekday. It never expires: typical weekdays are
 * made from days of any age, and answers of any age may have been kept.
 */
export type DayParts = z.infer<typeof dayParts>;

const days = withSchema(densities, dayParts);

/** Partition of all days. */
const daysPartition = "parts";

const callMilliseconds = 60_000;
const inTime = () => AbortSignal.timeout(callMilliseconds);

/** @returns undefined for a day that was never published. */
export function readDayParts(day: string): Promise<DayParts | undefined> {
  return getItem(days, { tile: daysPartition, day }, inTime());
}

/**
 * Makes a day an import's own. Its parts stay as they are until `listDayParts`.
 * @param until epoch milliseconds.
 * @param read the day as its next parts were decided from; undefined if it was never published.
 * @returns false when the day has changed since it was read: nothing was decided, read it again.
 */
export function takeDay(
  day: string,
  writer: string,
  until: number,
  read: Pick<DayParts, "revision"> | undefined,
): Promise<boolean> {
  const update =
    "SET parts = if_not_exists(parts, :none), writer = :writer, writerUntil = :until ADD revision :one";
  const values = { ":none": [], ":writer": writer, ":until": until, ":one": 1 };
  const condition =
    read === undefined
      ? { condition: "attribute_not_exists(tile)", values }
      : { condition: "revision = :read", values: { ...values, ":read": read.revision } };
  return updateItem(densities, { tile: daysPartition, day }, { update, ...condition }, inTime());
}

/**
 * Lists the parts of a day before anything is published of them: from now on their cells do not change. Who has read
 * the day before can no longer take it.
 * @param parts if undefined, the day keeps those that it has.
 * @returns false when the day is another import's by now.
 */
export function listDayParts(
  day: string,
  parts: readonly ListedPart[],
  writer: string,
  until: number,
): Promise<boolean> {
  const update = "SET parts = :parts, writerUntil = :until ADD revision :one";
  const values = { ":parts": parts, ":until": until, ":writer": writer, ":one": 1 };
  const condition = { condition: "writer = :writer", values };
  return updateItem(densities, { tile: daysPartition, day }, { update, ...condition }, inTime());
}

/** @returns false when the day is another import's by now. */
export function keepDay(day: string, writer: string, until: number): Promise<boolean> {
  const update = "SET writerUntil = :until";
  const condition = { condition: "writer = :writer", values: { ":until": until, ":writer": writer } };
  return updateItem(densities, { tile: daysPartition, day }, { update, ...condition }, inTime());
}

/** Lets other imports store the day. */
export async function releaseDay(day: string, writer: string): Promise<void> {
  const update = "REMOVE writer, writerUntil";
  const condition = { condition: "writer = :writer", values: { ":writer": writer } };
  await updateItem(densities, { tile: daysPartition, day }, { update, ...condition }, inTime());
}

const coverageChunks = withSchema(
  densities,
  z.object({
    day: z.string(),
    /** Of the part's compressed cells. */
    bytes: z.instanceof(Uint8Array),
    /** How many there are. */
    chunks: z.number(),
  }),
);

/** An item may have 400 KB. */
const chunkBytes = 350_000;

/** Where the cells of parts are. */
export interface Coverages {
  readonly read: (part: ListedPart) => Promise<Part>;
  /** Stores the cells of a part, unless they are known to be stored. */
  readonly write: (part: Part) => Promise<void>;
}

/** The cells of parts: stored once for all days that have the same, and for ever like the parts. */
export class PartCoverages implements Coverages {
  /** Of the parts that are stored. */
  readonly #known = new Map<string, Coverage>();

  async read({ id, precision }: ListedPart): Promise<Part> {
    const coverage = this.#known.get(id) ?? (await readCoverage(id, precision));
    this.#known.set(id, coverage);
    return { id, precision, coverage };
  }

  async write({ id, coverage }: Part): Promise<void> {
    if (this.#known.has(id)) return;
    const compressed = deflateRawSync(encodeCoverage(coverage));
    const chunks = Math.ceil(compressed.length / chunkBytes);
    for (let chunk = 0; chunk < chunks; chunk++) {
      const bytes = compressed.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes);
      // The same id always has the same cells.
      await putItem(densities, { ...keyOf(id, chunk), bytes, chunks }, {}, inTime());
    }
    this.#known.set(id, coverage);
  }
}

function keyOf(id: string, chunk: number) {
  return { tile: `part/${id}`, day: `cells#${String(chunk).padStart(3, "0")}` };
}

async function readCoverage(id: string, precision: number): Promise<Coverage> {
  const first = await getItem(coverageChunks, keyOf(id, 0), inTime());
  if (first === undefined) throw new Error(`the cells of part ${id} are gone`);
  const keys = Array.from({ length: first.chunks - 1 }, (_, index) => keyOf(id, index + 1));
  const others = await getItems(coverageChunks, keys, inTime());
  if (others.length !== keys.length) throw new Error(`cells of part ${id} are gone`);
  const chunks = [first, ...others].sort((one, other) => (one.day < other.day ? -1 : 1));
  return decodeCoverage(inflateRawSync(Buffer.concat(chunks.map(({ bytes }) => bytes))), precision);
}
