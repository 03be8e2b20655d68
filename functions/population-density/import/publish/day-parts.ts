import { ImportError } from "../../../../shared/import/import-error.ts";
import type { CountedDay } from "../../privacy/counted.ts";
import { PartAreas } from "../../privacy/part-areas.ts";
import { type Division, overlap, type Part } from "../../privacy/parts.ts";
import type { PartCoverages } from "../store/coverage-store.ts";
import type { DayOfImport } from "../store/journal-store.ts";
import type { DayParts, ListedPart } from "../store/tables.ts";
import type { DayStorage } from "./day-storage.ts";
import { Divisions } from "./divisions.ts";

/** A day that may be stored as long as its parts are these. */
export interface CheckedDay {
  /** Undefined for a day that was never published. */
  readonly stored: DayParts | undefined;
  /** Those parts of the day that count. */
  readonly parts: readonly ListedPart[];
  readonly division: Division;
  readonly coverages: PartCoverages;
  readonly areas: PartAreas;
}

/**
 * The parts that a day had before an import that is made again.
 * @returns undefined for an import that is made for the first time.
 * @throws {ImportError} for a day that the import did not have.
 */
export function partsOfDay(
  date: string,
  asMade: ReadonlyMap<string, DayOfImport> | undefined,
): readonly ListedPart[] | undefined {
  if (asMade === undefined) return undefined;
  const day = asMade.get(date);
  if (day === undefined) throw new ImportError([`${date}: is not a day of the import as it was made`]);
  return day.parts;
}

/**
 * How an import would divide what it covers, given the parts of a day.
 * @param stored undefined for a day that was never published.
 * @throws {ImportError} for a part of another precision or threshold.
 */
export async function divisionGiven(
  stored: DayParts | undefined,
  day: CountedDay,
  storage: DayStorage,
): Promise<CheckedDay> {
  const parts =
    storage.partsBefore ?? (stored === undefined || storage.isRecounted === true ? [] : stored.parts);
  const divisions = storage.divisions ?? new Divisions();
  const { coverages } = divisions;
  const known = await Promise.all(parts.map((part) => coverages.read(part)));
  for (const [index, part] of parts.entries()) {
    if (part.precision === day.precision && part.threshold === storage.threshold) continue;
    const ofPart = known[index];
    if (ofPart !== undefined && overlap(ofPart, day)) refuseOtherRules(day, storage, part);
  }
  const alike = known.filter(({ precision }) => precision === day.precision);
  const division = divisions.of(day, alike);
  if (storage.partsBefore !== undefined) await refuseNewPart(day, division.created, storage, coverages);
  return { stored, parts, division, coverages, areas: new PartAreas(known) };
}

/** An import that is made again covers what it covered: its parts are known. */
async function refuseNewPart(
  { date, precision }: CountedDay,
  created: Part | undefined,
  { threshold, marketShare = 1 }: DayStorage,
  coverages: PartCoverages,
): Promise<void> {
  if (created === undefined) return;
  const { id } = created;
  if (await coverages.isStored({ id, precision, threshold, marketShare })) return;
  throw new ImportError([
    `${date}: covers other cells than it did: the files or the covered area differ, or the table of ` +
      "density-imports is not the one that they were imported with",
  ]);
}

function refuseOtherRules(day: CountedDay, { threshold }: DayStorage, part: ListedPart): never {
  const before =
    part.precision === day.precision
      ? `with DENSITY_K ${part.threshold}, not ${threshold}`
      : `from cells of precision ${part.precision}, not ${day.precision}`;
  throw new ImportError([
    `${day.date}: was published ${before}: both together would disclose suppressed counts. ` +
      "Import it with the same precision as before; after K was raised, what is published of a day stays as it is",
  ]);
}

/** The parts of a day from now on, once an import publishes it. */
export function listedParts(
  { precision }: Pick<CountedDay, "precision">,
  { threshold, marketShare = 1 }: DayStorage,
  { parts, division: { renewed, created } }: Pick<CheckedDay, "division" | "parts">,
): readonly ListedPart[] {
  const ids = new Set(renewed.map(({ id }) => id));
  // Hours that are not counted now stay as they were scaled up.
  const listed = parts.map((part) =>
    ids.has(part.id) ? { ...part, marketShare: Math.min(part.marketShare, marketShare) } : part,
  );
  return created === undefined ? listed : [...listed, { id: created.id, precision, threshold, marketShare }];
}
