import type { Part } from "../../privacy/parts.ts";
import type { Coverages } from "../store/coverage-store.ts";
import type { DayLease } from "../store/day-lease.ts";
import { recordDay } from "../store/journal-store.ts";
import { takeDay } from "../store/part-store.ts";
import type { ListedPart } from "../store/tables.ts";
import type { DayStorage } from "./day-storage.ts";

/** A day as an import has decided to store it. */
export interface DecidedDay {
  /** `dayKey` of the day. */
  readonly key: string;
  readonly date: string;
  /** Those parts that it has before the import. */
  readonly parts: readonly ListedPart[];
  /** Revision of the day's list of parts when it was read; undefined if there was none. */
  readonly revision: number | undefined;
  /** The part that the import adds, if it is not known to be stored. */
  readonly created: Part | undefined;
}

/**
 * Writes what comes before the tiles of a day, in this order: its record in the journal, the cells of its new part, and
 * that the import has it. K, exclusions and the entry in the journal were written before (`beginImport`).
 * @returns false when the day has changed since it was read: nothing of it is this import's.
 */
export async function beginDay(
  { key, date, parts, revision, created }: DecidedDay,
  { importNumber, judged }: Pick<DayStorage, "importNumber" | "judged">,
  coverages: Coverages,
  { writer, milliseconds }: DayLease,
): Promise<boolean> {
  if (importNumber !== undefined) await recordDay(importNumber, date, parts, judged);
  if (created !== undefined) await coverages.write(created);
  const read = revision === undefined ? undefined : { revision };
  return await takeDay(key, writer, Date.now() + milliseconds, read);
}
