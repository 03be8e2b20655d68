/**
 * What was imported, in which order and how, so that it can be imported again when densities are lost. It has names
 * and hashes of files, and nothing that is in them.
 */
import * as z from "zod/mini";
import { inTime } from "../../../../shared/aws/clients.ts";
import { putItem, queryPartition, updateAndReturn, updateItem } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { provenance } from "../../tiles/data-set.ts";
import { type Finding, finding, findingCodes } from "../../tiles/findings.ts";
import { typicalCalendar } from "../../tiles/typical-calendar.ts";
import { type HourFigures, hourFigures } from "../judge/hour-figures.ts";
import { rowFormats } from "../rows/row-format.ts";
import { densityImports, type ListedPart, listedPart } from "./tables.ts";

const importedFile = z.object({
  /** Without its folder; `nameless` of a pipe. In imports of 0.2.0 from a bucket: below what all keys began with. */
  name: z.string(),
  /** As they came: packed ones packed. */
  bytes: z.number(),
  /** SHA-256, in hexadecimal digits. */
  sha256: z.string(),
});

/** A file as an import has read it. */
export type ImportedFile = z.infer<typeof importedFile>;

/** What the journal calls a pipe: a file with its bytes is found by size and hash. */
export const nameless = "-";

const publishing = {
  /** K. */
  threshold: z.number(),
  precisions: z.array(z.number()),
};

/** An import of counted people, as `ncs import density`. */
const countedPeople = z.object({
  command: z.literal("density"),
  typical: z.boolean(),
  isRecounted: z.boolean(),
  marketShare: z.number(),
  /** The file of the covered area; without it those cells are covered that any row names. */
  coverage: z.optional(importedFile),
  /** What the files were, whatever their names say. */
  format: z.optional(z.enum(rowFormats)),
  /** What the keys of the files began with, in imports of 0.2.0 from a bucket. */
  prefix: z.optional(z.string()),
  provenance: z.optional(provenance),
  /** What typical weekdays followed. */
  calendar: typicalCalendar,
  /** Codes of findings that do not refuse it. */
  accepted: z.optional(z.array(z.enum(findingCodes))),
  ...publishing,
});

/** An import of counted people. */
export type CountedPeople = z.infer<typeof countedPeople>;

/** An import of a grid of residents, as `ncs import population`. */
const residents = z.object({
  command: z.literal("population"),
  format: z.enum(["points", "h3", "geotiff"]),
  box: z.object({ west: z.number(), south: z.number(), east: z.number(), north: z.number() }),
  /** What pixels without data meant; absent where all of the box is covered. */
  noData: z.optional(z.enum(["uncovered", "nobody"])),
  /** The names of a CSV's columns, by what they are read as. */
  columns: z.optional(z.record(z.string(), z.string())),
  /** The name of a curve, or its file. */
  curve: z.union([z.string(), importedFile]),
  precision: z.number(),
  provenance,
  ...publishing,
});

const entryOptions = z.discriminatedUnion("command", [countedPeople, residents]);

/** How an import was made. */
export type EntryOptions = z.infer<typeof entryOptions>;

const storedEntry = z.object({
  options: entryOptions,
  /** Instants, as `Date` writes them. An import that has not ended has failed, or is under way. */
  beganAt: z.string(),
  endedAt: z.optional(z.string()),
});

/** An import of which something was stored. */
export interface JournalEntry extends z.infer<typeof storedEntry> {
  /** Imports are numbered in the order in which they began. */
  readonly number: number;
}

const entries = withSchema(densityImports, z.extend(storedEntry, { id: z.string() }));
const entriesPartition = "imports";

/** Maximum of files in an item, which may have 400 KB. */
const filesPerItem = 1_000;

const fileLists = withSchema(densityImports, z.object({ files: z.array(importedFile) }));
const daysOfImport = withSchema(
  densityImports,
  z.object({
    id: z.string(),
    /** The parts that the day had before. */
    parts: z.array(listedPart),
    /** What was published of an observed day, and what was unusual about it. */
    figures: z.optional(z.array(hourFigures)),
    findings: z.optional(z.array(finding)),
  }),
);

/** Numbers have the order of their texts. */
export function numbered(number: number): string {
  return String(number).padStart(9, "0");
}

function keyOf(number: number) {
  return { kind: entriesPartition, id: numbered(number) };
}

/** The number of the next import, or of the next exclusion. */
export async function nextNumber(): Promise<number> {
  const last = { kind: "last-import", id: "all" };
  const next = {
    update: "ADD lastNumber :one",
    condition: "attribute_not_exists(parts)",
    values: { ":one": 1 },
  };
  const counted = await updateAndReturn(
    densityImports,
    last,
    next,
    z.object({ lastNumber: z.number() }),
    inTime(),
  );
  if (counted === undefined) throw new Error("the journal has given no number");
  return counted.lastNumber;
}

/**
 * Adds an import before it stores anything.
 * @returns its number.
 */
export async function beginEntry(
  options: EntryOptions,
  files: readonly ImportedFile[],
  now = new Date(),
): Promise<number> {
  const number = await nextNumber();
  for (let from = 0; from < files.length; from += filesPerItem) {
    const item = { ...filesKeyOf(number, from), files: files.slice(from, from + filesPerItem) };
    await putItem(densityImports, item, {}, inTime());
  }
  await putItem(densityImports, { ...keyOf(number), options, beganAt: now.toISOString() }, {}, inTime());
  return number;
}

function filesKeyOf(number: number, from: number) {
  return { kind: `import-files/${numbered(number)}`, id: numbered(from) };
}

/** What an observed day of an import is like, in published numbers. */
export interface JudgedNumbers {
  readonly figures: readonly HourFigures[];
  readonly findings: readonly Finding[];
}

/**
 * Records which parts a day had before an import stored it, and how it was judged: the same import again is divided by
 * the same parts, and not judged again.
 */
export async function recordDay(
  number: number,
  date: string,
  parts: readonly ListedPart[],
  judged?: JudgedNumbers,
): Promise<void> {
  // A judged day has more than the journal keeps, and other parts.
  const numbers = judged === undefined ? {} : { figures: judged.figures, findings: judged.findings };
  await putItem(densityImports, { kind: daysPartitionOf(number), id: date, parts, ...numbers }, {}, inTime());
}

function daysPartitionOf(number: number): string {
  return `import-days/${numbered(number)}`;
}

/** Records that an import has stored everything. */
export async function endEntry(number: number, now = new Date()): Promise<void> {
  const change = {
    update: "SET endedAt = :now",
    condition: "attribute_exists(beganAt)",
    values: { ":now": now.toISOString() },
  };
  await updateItem(densityImports, keyOf(number), change, inTime());
}

/** Every import, in the order of their numbers. */
export async function readJournal(): Promise<JournalEntry[]> {
  const found = await queryPartition(entries, entriesPartition, inTime());
  return found.map(({ id, ...entry }) => ({ ...entry, number: Number(id) }));
}

/** The files of an import, in the order in which it read them. */
export async function readFiles(number: number): Promise<ImportedFile[]> {
  const found = await queryPartition(fileLists, `import-files/${numbered(number)}`, inTime());
  return found.flatMap(({ files }) => files);
}

/** What an import found of a day, as it was made. */
export interface DayOfImport {
  /** The parts that it had before. */
  readonly parts: readonly ListedPart[];
  readonly figures: readonly HourFigures[];
  readonly findings: readonly Finding[];
}

/** The days of an import, by their dates. */
export async function readDaysOf(number: number): Promise<ReadonlyMap<string, DayOfImport>> {
  const found = await queryPartition(daysOfImport, daysPartitionOf(number), inTime());
  return new Map(
    found.map(({ id, parts, figures = [], findings = [] }) => [id, { parts, figures, findings }]),
  );
}
