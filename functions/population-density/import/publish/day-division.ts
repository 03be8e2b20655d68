import { hashed } from "../../../../shared/hash.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { suffixesOf } from "../../cover/geohash.ts";
import { type Anonymity, setPeople } from "../../privacy/anonymous-tiles.ts";
import type { CountedDay, CountedTile } from "../../privacy/counted.ts";
import { scaledUp } from "../../privacy/market-share.ts";
import { mergedHours } from "../../privacy/merged-parts.ts";
import { PartAreas } from "../../privacy/part-areas.ts";
import { cellsIn, type Division, divide, overlap, type Part } from "../../privacy/parts.ts";
import { cellAreas } from "../../privacy/tile-pyramid.ts";
import { weekdayOf } from "../../privacy/typical-week.ts";
import { spansOf } from "../../tiles/span.ts";
import { observedDay, tileName, typicalDay } from "../../tiles/store.ts";
import { TileHour } from "../../tiles/tile-hour.ts";
import { type TypicalCalendar, TypicalWeek, utcCalendar } from "../../tiles/typical-calendar.ts";
import { type Coverages, PartCoverages } from "../store/coverage-store.ts";
import type { JudgedNumbers } from "../store/journal-store.ts";
import { readDayParts } from "../store/part-store.ts";
import type { DayParts, ListedPart } from "../store/tables.ts";
import { StoredSpans } from "./stored-spans.ts";
import { type DayContext, storedParts } from "./tile-items.ts";

/** How a day is stored; precisions finer than what was counted are not stored. */
export interface DayStorage extends Anonymity {
  /**
   * `observed`: as that date, which also counts towards the typical day of its weekday. `typical`: as the typical day
   * of its weekday, instead of what was known of the counted hours.
   */
  readonly kind: "observed" | "typical";
  /**
   * Whether people of a typical day were counted again: the parts of the earlier count are discarded, and what was
   * published of it is ignored.
   */
  readonly isRecounted?: boolean | undefined;
  /** Shared by the days of an import. */
  readonly coverages?: Coverages | undefined;
  /** The number of the import in the journal, which then has the parts that the day had before. */
  readonly importNumber?: number | undefined;
  /**
   * The parts that the day had before an import that is made again. The day keeps those that it has now, and the import
   * is divided as it was.
   */
  readonly partsBefore?: readonly ListedPart[] | undefined;
  /** The number of the import that is made again: days that were excluded later are not. */
  readonly replay?: number | undefined;
  /** What is published of an observed day, and what is unusual about it, for the journal. */
  readonly judged?: JudgedNumbers | undefined;
}

/** The parts that days had before an import, by their dates. */
export type PartsBefore = ReadonlyMap<string, { readonly parts: readonly ListedPart[] }>;

/**
 * The parts that a day had before an import that is made again.
 * @returns undefined for an import that is made for the first time.
 * @throws {ImportError} for a day that the import did not have.
 */
export function partsOfDay(
  date: string,
  partsBefore: PartsBefore | undefined,
): readonly ListedPart[] | undefined {
  if (partsBefore === undefined) return undefined;
  const day = partsBefore.get(date);
  if (day === undefined) throw new ImportError([`${date}: is not a day of the import as it was made`]);
  return day.parts;
}

/** A day without its counts. */
export type CoveredDay = Omit<CountedDay, "tiles">;

/**
 * The UTC hours of a typical day are stored as they are: those of the reference week (`TypicalWeek`).
 * @throws {ImportError} for a day on which local time is ahead of or behind that week.
 */
export function checkTypicalDay(date: string, calendar: TypicalCalendar): void {
  if (new TypicalWeek(calendar).hasReferenceOffset(date)) return;
  throw new ImportError([
    `${date}: typical weekdays are given in the UTC hours of January 2026, and ${calendar.timeZone} has another ` +
      "offset on this day: name a day of January instead, with the UTC hours that its local hours have there",
  ]);
}

/** The day whose parts an import publishes. */
export function dayKey({ date }: Pick<CountedDay, "date">, { kind }: Pick<DayStorage, "kind">): string {
  return kind === "observed" ? observedDay(date) : typicalDay(weekdayOf(date));
}

/** What is known of a day before it is stored. */
export interface FoundDay {
  readonly stored: DayParts | undefined;
  /** Those parts of the day that count. */
  readonly parts: readonly ListedPart[];
  /** The same with their cells. */
  readonly known: readonly Part[];
  readonly division: Division;
  readonly coverages: Coverages;
  readonly areas: PartAreas;
}

/**
 * What is stored of a day, and how an import would divide what it covers. Reads the parts of the day alone.
 * @throws {ImportError} for a part of another precision or threshold.
 */
export async function divisionOf(day: CoveredDay, storage: DayStorage): Promise<FoundDay> {
  return await divisionGiven(await readDayParts(dayKey(day, storage)), day, storage);
}

/**
 * How an import would divide what it covers, given the parts of a day.
 * @param stored undefined for a day that was never published.
 * @throws {ImportError} for a part of another precision or threshold.
 */
export async function divisionGiven(
  stored: DayParts | undefined,
  day: CoveredDay,
  storage: DayStorage,
): Promise<FoundDay> {
  const parts =
    storage.partsBefore ?? (stored === undefined || storage.isRecounted === true ? [] : stored.parts);
  const coverages = storage.coverages ?? new PartCoverages();
  const known = await Promise.all(parts.map((part) => coverages.read(part)));
  for (const [index, part] of parts.entries()) {
    if (part.precision === day.precision && part.threshold === storage.threshold) continue;
    const ofPart = known[index];
    if (ofPart !== undefined && overlap(ofPart, day)) refuseOtherRules(day, storage, part);
  }
  const alike = known.filter(({ precision }) => precision === day.precision);
  const division = divide(day.coverage, day.precision, alike);
  if (storage.partsBefore !== undefined) await refuseNewPart(day, division.created, storage, coverages);
  return { stored, parts, known, division, coverages, areas: new PartAreas(known) };
}

/** An import that is made again covers what it covered: its parts are known. */
async function refuseNewPart(
  { date, precision }: CoveredDay,
  created: Part | undefined,
  { threshold, marketShare = 1 }: DayStorage,
  coverages: Coverages,
): Promise<void> {
  if (created === undefined) return;
  const { id } = created;
  if (await coverages.isStored({ id, precision, threshold, marketShare })) return;
  throw new ImportError([
    `${date}: covers other cells than it did: the files or the covered area differ, or the table of ` +
      "density-imports is not the one that they were imported with",
  ]);
}

function refuseOtherRules(day: CoveredDay, { threshold }: DayStorage, part: ListedPart): never {
  const before =
    part.precision === day.precision
      ? `with DENSITY_K ${part.threshold}, not ${threshold}`
      : `from cells of precision ${part.precision}, not ${day.precision}`;
  throw new ImportError([
    `${day.date}: was published ${before}: both together would disclose suppressed counts. ` +
      "Import it with the same precision as before; after K was raised, what is published of a day stays as it is",
  ]);
}

/**
 * Rows of cells that stay as they are published must say what is published.
 * @throws {ImportError} for the first row that does not.
 */
export async function refuseContradictions(
  day: CountedDay,
  storage: DayStorage,
  found: Pick<FoundDay, "division" | "parts">,
): Promise<void> {
  if (found.division.kept.size === 0) return;
  const { threshold, marketShare = 1, precisions } = storage;
  for await (const tile of day.tiles) {
    const kept = found.division.kept.get(tile.geohash);
    if (kept === undefined) continue;
    const cells = cellsIn(kept).filter((cell) => tile.hours.some((hour) => (hour?.people[cell] ?? 0) > 0));
    if (cells.length === 0) continue;
    const published = precisions.includes(day.precision)
      ? await publishedHours(tile, day, storage, found)
      : [];
    const areas = cellAreas(tile.geohash, day.precision);
    for (const [hour, counted] of tile.hours.entries()) {
      for (const cell of counted === undefined ? [] : cells) {
        const people = counted?.people[cell] ?? 0;
        if (people === 0) continue;
        const wanted = new TileHour();
        if (people < threshold) wanted.setSuppressed(cell);
        else {
          const range = scaledUp({ people, min: people, max: people }, marketShare);
          setPeople(wanted, cell, range, areas[cell] ?? Number.NaN);
        }
        if (published[hour]?.codes[cell] === wanted.codes[cell]) continue;
        const geohash = tile.geohash + suffixesOf(day.precision)[cell];
        throw new ImportError([
          `${day.date}: cell ${geohash} in hour ${hour} was published with another number, ` +
            "by an import that covers further cells: import everything that it covered, or leave the cell out",
        ]);
      }
    }
  }
}

/** What the day's parts have in a tile of the finest precision. */
async function publishedHours(
  tile: CountedTile,
  day: CountedDay,
  storage: DayStorage,
  found: Pick<FoundDay, "parts">,
): Promise<readonly (TileHour | undefined)[]> {
  const spans = new StoredSpans(tileName(day.precision, tile.geohash));
  const published: (TileHour | undefined)[] = [];
  for (const span of spansOf(dayKey(day, storage))) {
    const item = (await spans.of([span])).get(span);
    const parts = await storedParts(spans, item, found.parts);
    const merged = mergedHours(
      [...parts.values()].map((hours) => ({
        hours,
        areas: new Float64Array(),
        bounds: new Uint32Array(),
        boundPeople: 0,
      })),
      new Float64Array(),
    );
    for (const [hour, tileHour] of merged.entries()) published[hour] ??= tileHour;
  }
  return published;
}

/** The parts of a day from now on, once an import publishes it. */
export function listedParts(
  { precision }: Pick<CoveredDay, "precision">,
  { threshold, marketShare = 1 }: DayStorage,
  { parts, division: { renewed, created } }: Pick<FoundDay, "division" | "parts">,
): readonly ListedPart[] {
  const ids = new Set(renewed.map(({ id }) => id));
  // Hours that are not counted now stay as they were scaled up.
  const listed = parts.map((part) =>
    ids.has(part.id) ? { ...part, marketShare: Math.min(part.marketShare, marketShare) } : part,
  );
  return created === undefined ? listed : [...listed, { id: created.id, precision, threshold, marketShare }];
}

/** What stands for some parts of a day. @param ids at least one, in any order. */
export function areaOf(ids: readonly string[]): string {
  return hashed([...ids].sort().join());
}

/**
 * What all tiles of a day have in common.
 * @param listed the parts of the day from now on.
 */
export function contextOf(
  day: Pick<CountedDay, "date">,
  { kind, calendar = utcCalendar }: DayStorage,
  { parts, areas }: Pick<FoundDay, "parts" | "areas">,
  listed: readonly ListedPart[],
  excluded: ReadonlySet<string>,
): DayContext {
  const partOf = (id: string) => {
    const part = listed.find((each) => each.id === id);
    if (part === undefined) throw new Error(`part ${id} is not of the day`);
    return part;
  };
  return {
    date: day.date,
    kind,
    key: dayKey(day, { kind }),
    week: new TypicalWeek(calendar, excluded),
    isExcluded: excluded.has(day.date),
    parts,
    cellsOf: (part, precision, geohash) => areas.in(part, partOf(part).threshold, precision, geohash),
    boundPeopleOf: (part) => partOf(part).threshold / partOf(part).marketShare,
  };
}
