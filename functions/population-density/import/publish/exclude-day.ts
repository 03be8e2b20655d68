import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { dayMilliseconds, dayOf } from "../../../../shared/calendar.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { filledUp, mergedHours } from "../../privacy/merged-parts.ts";
import { PartAreas } from "../../privacy/part-areas.ts";
import { cellAreas } from "../../privacy/tile-pyramid.ts";
import { withoutComparisons } from "../../tiles/data-set.ts";
import { changeDataSet, currentDataSet } from "../../tiles/data-set-store.ts";
import { withQuality } from "../../tiles/quality.ts";
import { changeQuality } from "../../tiles/quality-store.ts";
import { spanAt, spansOf } from "../../tiles/span.ts";
import { observedDay, tileName, typicalDay } from "../../tiles/store.ts";
import type { StoredTileSpan } from "../../tiles/table.ts";
import { encodeTileDay, hoursOf, hoursPerDay, readTileDay } from "../../tiles/tile.ts";
import { cellsPerTile, noDataCode, type TileHour } from "../../tiles/tile-hour.ts";
import { type TypicalCalendar, TypicalWeek, utcCalendar } from "../../tiles/typical-calendar.ts";
import { PartCoverages } from "../store/coverage-store.ts";
import {
  HeldDay,
  leaseMilliseconds,
  type OnWait,
  pauseMilliseconds,
  settledParts,
  waitingMilliseconds,
} from "../store/day-lease.ts";
import { excludedDays, recordExclusion } from "../store/exclusion-store.ts";
import { anyDayStoredUntil, freeDay, readDayParts, takeDay } from "../store/part-store.ts";
import { readPublishedDays } from "../store/published-day-store.ts";
import type { ListedPart } from "../store/tables.ts";
import { StoredSpans, whileSpansChange } from "./stored-spans.ts";
import { averagedItems, daysKept, storedParts } from "./tile-items.ts";
import {
  averagedSpan,
  hoursOfDay,
  ObservedHours,
  type TypicalSpan,
  typicalSpansOf,
} from "./typical-spans.ts";

/** What changed. */
export interface ExclusionResult {
  /** Items of typical weekdays that had hours of the day. */
  readonly items: number;
  /** Items that were written. */
  readonly changed: number;
}

/**
 * Takes an observed day out of typical weekdays, or back into them, and makes the typical hours of all its tiles again
 * from the other days. The day itself stays as it is. Doing it again changes nothing.
 * @param isExcluded false to take it back.
 * @param onWait called once if imports are storing days, and until when they have them if they were killed.
 * @throws {ImportError} for a day that was never imported, or is too old: only its exclusion would be recorded.
 */
export async function excludeDay(
  date: string,
  isExcluded: boolean,
  now = new Date(),
  onWait?: OnWait,
): Promise<ExclusionResult> {
  await checkObserved(date, now);
  await recordExclusion(date, isExcluded, now);
  return await rebuildTypicalDays(date, now, { onWait });
}

async function checkObserved(date: string, now: Date): Promise<void> {
  if (date < oldestOf(now)) {
    throw new ImportError([
      `${date}: observed days are kept for ${daysKept} days, so typical weekdays cannot be made again without it`,
    ]);
  }
  const stored = await readDayParts(observedDay(date));
  if (stored === undefined || stored.parts.length === 0) throw new ImportError([`${date}: was not imported`]);
}

/** The oldest observed day that is kept. */
function oldestOf(now: Date): string {
  return dayOf(new Date(now.getTime() - daysKept * dayMilliseconds));
}

/**
 * Makes the typical hours of a day's weekday again, without the days that are excluded.
 * @param now when it was decided.
 * @param before of a decision that is made again, the number of the next one.
 * @param onWait see `excludeDay`.
 */
export async function rebuildTypicalDays(
  date: string,
  now: Date,
  { before, onWait }: { readonly before?: number; readonly onWait?: OnWait | undefined },
): Promise<ExclusionResult> {
  const writer = randomUUID();
  const key = observedDay(date);
  const parts = await beginRebuild(date, writer, onWait);
  try {
    const excluded = await excludedDays(before);
    const dataSet = await currentDataSet();
    const rebuild = new TypicalRebuild(
      date,
      dataSet?.calendar ?? utcCalendar,
      excluded,
      await observedDates(now),
      new HeldDay(key, date, undefined, writer),
    );
    const total = { items: 0, changed: 0 };
    for (const name of await tilesOf(parts, dataSet?.precisions ?? [])) {
      const { items, changed } = await rebuild.tile(name);
      total.items += items;
      total.changed += changed;
    }
    await changeQuality((before) => withQuality(before, [], excluded));
    if (excluded.has(date)) await changeDataSet((before) => before && withoutComparisons(before, date));
    return total;
  } finally {
    await freeDay(key, writer);
  }
}

/** Waits until no import stores any day: those that begin later know what is excluded. */
async function beginRebuild(
  date: string,
  writer: string,
  onWait: OnWait | undefined,
): Promise<readonly ListedPart[]> {
  const key = observedDay(date);
  const deadline = Date.now() + waitingMilliseconds;
  let isTold = false;
  const tell = (until: number) => {
    if (!isTold) onWait?.(date, until);
    isTold = true;
  };
  for (; Date.now() < deadline; await wait(pauseMilliseconds)) {
    const stored = await settledParts(key, date, deadline, (_, until) => tell(until));
    const until = await anyDayStoredUntil();
    if (until > Date.now()) {
      tell(until);
      continue;
    }
    // False when an import has taken the day since.
    if (await takeDay(key, writer, Date.now() + leaseMilliseconds, stored)) return stored?.parts ?? [];
  }
  throw new ImportError([`${date}: imports are storing days: repeat this when they have ended`]);
}

/** The dates that were imported as observed days and are not expired. */
async function observedDates(now: Date): Promise<string[]> {
  const prefix = observedDay("");
  const days = (await readPublishedDays()).map(({ day }) => day).filter((day) => day.startsWith(prefix));
  return days.map((day) => day.slice(prefix.length)).filter((date) => date >= oldestOf(now));
}

/** The names of the tiles that parts have anything in, at all supported precisions. */
async function tilesOf(parts: readonly ListedPart[], precisions: readonly number[]): Promise<string[]> {
  const coverages = new PartCoverages();
  const names = new Set<string>();
  for (const part of parts) {
    const { coverage, precision } = await coverages.read(part);
    for (const wanted of precisions.filter((each) => each <= precision)) {
      for (const tile of coverage.keys()) {
        names.add(tileName(wanted, tile.slice(0, Math.max(0, wanted - 2))));
      }
    }
  }
  return [...names].sort();
}

class TypicalRebuild {
  readonly #date: string;
  readonly #week: TypicalWeek;
  readonly #observed: readonly string[];
  readonly #held: HeldDay;
  readonly #typicalParts = new Map<
    string,
    { readonly parts: readonly ListedPart[]; readonly areas: PartAreas }
  >();

  constructor(
    date: string,
    calendar: TypicalCalendar,
    excluded: ReadonlySet<string>,
    observed: readonly string[],
    held: HeldDay,
  ) {
    this.#date = date;
    this.#week = new TypicalWeek(calendar, excluded);
    this.#observed = observed;
    this.#held = held;
  }

  /** Makes the typical spans of a tile again. */
  async tile(name: string): Promise<ExclusionResult> {
    return await whileSpansChange(this.#held, () => this.#tile(name));
  }

  async #tile(name: string): Promise<ExclusionResult> {
    const spans = new StoredSpans(name);
    const observed = new ObservedHours(spans, new Map());
    const dates = await this.#datesIn(spans);
    const result = { items: 0, changed: 0 };
    for (const typical of typicalSpansOf(this.#date, this.#week)) {
      const stored = (await spans.of([typical.span])).get(typical.span);
      if (stored === undefined) continue;
      const averaged = await averagedSpan(typical, namesIn(typical, dates, this.#week), this.#week, observed);
      const base = await this.#withoutDay(spans, stored, typical, observed);
      const { coverage } = readTileDay(stored.hours);
      const { ofParts, merged } = averagedItems(name, typical.span, coverage, base, averaged);
      result.items += ofParts.length + 1;
      result.changed += (await spans.store(ofParts, this.#held)).length;
      result.changed += (await spans.store([merged], this.#held)).length;
    }
    return result;
  }

  /** The observed dates that have anything in a tile. */
  async #datesIn(spans: StoredSpans): Promise<string[]> {
    const dates: string[] = [];
    for (const date of this.#observed) {
      if ((await spans.of(spansOf(observedDay(date)))).size > 0) dates.push(date);
    }
    return dates;
  }

  /** A typical span without slots that may have been made from the day: they are as they were counted as typical. */
  async #withoutDay(
    spans: StoredSpans,
    stored: StoredTileSpan,
    typical: TypicalSpan,
    observed: ObservedHours,
  ): Promise<StoredTileSpan> {
    const hours = hoursOf(readTileDay(stored.hours));
    const counted = await this.#countedAsTypical(spans, stored, typical.weekday);
    for (const hour of hoursOfDay(this.#date)) {
      const { weekday, ofDay } = this.#week.hourOf(hour);
      const [published] = await observed.at([hour]);
      const typicalHour = hours[ofDay];
      const isOfSpan = weekday === typical.weekday && spanAt(typicalDay(weekday), ofDay) === typical.span;
      if (!isOfSpan || published === undefined || typicalHour === undefined) continue;
      const left = withoutSlotsOf(typicalHour, published);
      const known = counted[ofDay];
      hours[ofDay] = left === undefined || known === undefined ? (left ?? known) : filledUp(left, known);
    }
    return { ...stored, hours: encodeTileDay(hours, readTileDay(stored.hours).coverage) };
  }

  /** What was imported as typical of a tile: each part of it has an item of its own, as `averagedItems` leaves it. */
  async #countedAsTypical(
    spans: StoredSpans,
    stored: StoredTileSpan,
    weekday: number,
  ): Promise<(TileHour | undefined)[]> {
    if (!stored.separate || stored.parts.length === 0) return Array(hoursPerDay).fill(undefined);
    const { parts, areas } = await this.#partsOf(typicalDay(weekday));
    const found = await storedParts(spans, stored, parts);
    const [precision = "", geohash = ""] = spans.tile.split("/");
    const merged = [...found.keys()].sort().flatMap((id) => {
      const part = parts.find((each) => each.id === id);
      if (part === undefined) return [];
      const cells = areas.in(id, part.threshold, Number(precision), geohash);
      return [{ ...cells, hours: found.get(id) ?? [], boundPeople: part.threshold / part.marketShare }];
    });
    return mergedHours(merged, cellAreas(geohash, Number(precision)));
  }

  async #partsOf(day: string) {
    const known = this.#typicalParts.get(day);
    if (known !== undefined) return known;
    const parts = (await readDayParts(day))?.parts ?? [];
    const coverages = new PartCoverages();
    const areas = new PartAreas(await Promise.all(parts.map((part) => coverages.read(part))));
    this.#typicalParts.set(day, { parts, areas });
    return { parts, areas };
  }
}

/** The dates by which typical spans name days. */
function namesIn({ span }: TypicalSpan, dates: readonly string[], week: TypicalWeek): string[] {
  return dates.flatMap((date) =>
    typicalSpansOf(date, week).flatMap((typical) => (typical.span === span ? typical.dates : [])),
  );
}

/** An hour without the slots of another one; undefined if none is left. */
function withoutSlotsOf(hour: TileHour, other: TileHour): TileHour | undefined {
  let isLeft = false;
  for (let cell = 0; cell < cellsPerTile; cell++) {
    if (other.codes[cell] !== noDataCode) hour.setNoData(cell);
    isLeft ||= hour.codes[cell] !== noDataCode;
  }
  return isLeft ? hour : undefined;
}
