import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { ImportError } from "../../../shared/import/import-error.ts";
import { suffixesOf } from "../cover/geohash.ts";
import {
  observedDay,
  partDay,
  readTileDays,
  replaceTileDay,
  tileName,
  typicalDay,
  writeTileDay,
} from "../tiles/store.ts";
import type { NewTileDay, StoredTileDay } from "../tiles/table.ts";
import { encodeTileDay, hoursPerDay, isCovered, readTileDay, TileHour } from "../tiles/tile.ts";
import { type Anonymity, type AnonymousTile, anonymousTiles, setPeople } from "./anonymous-tiles.ts";
import type { CountedDay, CountedTile } from "./counted.ts";
import { scaledUp } from "./market-share.ts";
import { filledUp, type MergedPart, mergedHours } from "./merged-parts.ts";
import { PartAreas } from "./part-areas.ts";
import {
  type DayParts,
  keepDay,
  type ListedPart,
  PartCoverages,
  readDayParts,
  releaseDay,
  replaceDayParts,
} from "./part-store.ts";
import { cellsIn, type Division, divide, overlap, union } from "./parts.ts";
import { finestAreas } from "./tile-pyramid.ts";
import { typicalHours, weekdayOf, weeksRemembered } from "./typical-week.ts";

/** How a day is stored; precisions finer than what was counted are not stored. */
export interface DayStorage extends Anonymity {
  /**
   * `observed`: as that date, which also counts towards the typical day of its weekday. `typical`: as the typical day
   * of its weekday, in place of what was known of the hours that were counted.
   */
  readonly kind: "observed" | "typical";
  /**
   * Of a typical day: people were counted again, so the parts of the earlier count are discarded and what was published
   * of it is ignored.
   */
  readonly isRecounted?: boolean | undefined;
  /** Shared by the days of an import. */
  readonly coverages?: PartCoverages | undefined;
}

/** The result of storing a day. */
export interface DayStored {
  /** Items of the table that depend on the day. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
  readonly changed: number;
}

/** A tile whose day could not be read or written; the message names both, the cause is what was thrown. */
class TileNotStored extends Error {
  constructor(tile: string, date: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.name : typeof cause;
    super(`tile ${tile} of ${date} could not be stored (${reason})`, { cause });
    this.name = "TileNotStored";
  }
}

/** Tiles that are being stored at a time; the items of one are written one after the other. */
const tilesAtOnce = 8;

/** For one call to the table. */
const callMilliseconds = 30_000;

/**
 * Whether a day may be stored beside what is published of it.
 * @throws {ImportError} that says why not, and what can be done.
 */
export async function checkDay(day: CountedDay, storage: DayStorage): Promise<void> {
  await divisionOf(day, storage);
}

/**
 * Stores a day of counted people, so that nothing can be computed of cells with fewer people than the threshold: for
 * each tile the day itself, if it was observed, and its seven typical weekdays, all covering what the day covers.
 * Storing it again changes nothing; a day that was cut short is to be stored again.
 * @throws {ImportError} for a day that must not be stored, or that another import is storing.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeDay(day: CountedDay, storage: DayStorage): Promise<DayStored> {
  const writer = randomUUID();
  const begun = await beginWriting(day, storage, writer);
  try {
    return await storeTiles(day, storage, begun, writer);
  } finally {
    await releaseDay(dayKey(day, storage), writer);
  }
}

/** The day whose parts an import publishes. */
function dayKey({ date }: Pick<CountedDay, "date">, { kind }: Pick<DayStorage, "kind">): string {
  return kind === "observed" ? observedDay(date) : typicalDay(weekdayOf(date));
}

/** What is known of a day before it is stored. */
interface FoundDay {
  readonly stored: DayParts | undefined;
  /** Those parts of the day that count. */
  readonly parts: readonly ListedPart[];
  readonly division: Division;
  readonly coverages: PartCoverages;
  readonly areas: PartAreas;
}

async function divisionOf(day: CountedDay, storage: DayStorage): Promise<FoundDay> {
  const stored = await readDayParts(dayKey(day, storage));
  const parts = stored === undefined || storage.isRecounted === true ? [] : stored.parts;
  const coverages = storage.coverages ?? new PartCoverages();
  const known = await Promise.all(parts.map((part) => coverages.read(part)));
  for (const [index, part] of parts.entries()) {
    if (part.precision === day.precision && part.threshold === storage.threshold) continue;
    const ofPart = known[index];
    if (ofPart !== undefined && overlap(ofPart, day)) refuseOtherRules(day, storage, part);
  }
  const alike = known.filter(({ precision }) => precision === day.precision);
  const division = divide(day.coverage, day.precision, alike);
  const found = { stored, parts, division, coverages, areas: new PartAreas(known) };
  if (division.kept.size > 0) await refuseContradictions(day, storage, found);
  return found;
}

function refuseOtherRules(day: CountedDay, { threshold }: DayStorage, part: ListedPart): never {
  const before =
    part.precision === day.precision
      ? `with DENSITY_K ${part.threshold}, not ${threshold}`
      : `from cells of precision ${part.precision}, not ${day.precision}`;
  throw new ImportError([
    `${day.date}: was published ${before}: both together would disclose suppressed counts. Import it with the same threshold and precision as before`,
  ]);
}

/** Rows of cells that stay as they are published must say what is published. */
async function refuseContradictions(day: CountedDay, storage: DayStorage, found: FoundDay): Promise<void> {
  const { threshold, marketShare = 1, precisions } = storage;
  for await (const tile of day.tiles) {
    const kept = found.division.kept.get(tile.geohash);
    if (kept === undefined) continue;
    const cells = cellsIn(kept).filter((cell) => tile.hours.some((hour) => (hour?.people[cell] ?? 0) > 0));
    if (cells.length === 0) continue;
    const published = precisions.includes(day.precision)
      ? await publishedHours(tile, day, storage, found)
      : [];
    const areas = finestAreas(tile.geohash, day.precision);
    for (const [hour, counted] of tile.hours.entries()) {
      for (const cell of counted === undefined ? [] : cells) {
        const people = counted?.people[cell] ?? 0;
        if (people === 0) continue;
        const wanted = new TileHour();
        if (people < threshold) wanted.setSuppressed(cell);
        else {
          const range = scaledUp({ people, least: people, greatest: people }, marketShare);
          setPeople(wanted, cell, range, areas[cell] ?? Number.NaN);
        }
        if (published[hour]?.codes[cell] === wanted.codes[cell]) continue;
        const geohash = tile.geohash + suffixesOf(day.precision)[cell];
        throw new ImportError([
          `${day.date}: cell ${geohash} in hour ${hour} was published with another number, by an import that covers further cells: ` +
            "import everything that it covered, or leave the cell out",
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
  found: FoundDay,
): Promise<readonly (TileHour | undefined)[]> {
  const name = tileName(day.precision, tile.geohash);
  const key = dayKey(day, storage);
  const item = (await readDays(name, [key])).get(key);
  const parts = await storedParts(name, item, found.parts);
  return mergedHours(
    [...parts.values()].map((hours) => ({ hours, areas: new Float64Array(), suppressedPeople: 0 })),
  );
}

/** A day is an import's own for so long, unless it says that it is still at it. */
const writingMilliseconds = 60_000;

/** How long an import waits for others that store the same day, and how often it looks. */
const waitingMilliseconds = 2 * writingMilliseconds;
const pauseMilliseconds = 200;

/** A day that is this import's alone. */
interface BegunDay extends FoundDay {
  /** Its parts from now on. */
  readonly listed: readonly ListedPart[];
}

/** Waits until no other import stores the day. */
async function beginWriting(day: CountedDay, storage: DayStorage, writer: string): Promise<BegunDay> {
  for (
    const givenUpAt = Date.now() + waitingMilliseconds;
    Date.now() < givenUpAt;
    await wait(pauseMilliseconds)
  ) {
    const found = await divisionOf(day, storage);
    if ((found.stored?.writerUntil ?? 0) > Date.now()) continue;
    const listed = await listParts(day, storage, found, writer);
    if (listed !== undefined) return { ...found, listed };
  }
  throw new ImportError([`${day.date}: another import is storing it: repeat this one when it has ended`]);
}

/**
 * Lists the parts of the day before anything is published of them: from now on their cells do not change.
 * @returns undefined if another import did so since the day was read.
 */
async function listParts(
  day: CountedDay,
  storage: DayStorage,
  { stored, parts, division, coverages }: FoundDay,
  writer: string,
): Promise<readonly ListedPart[] | undefined> {
  const { threshold, marketShare = 1 } = storage;
  const renewed = new Set(division.renewed.map(({ id }) => id));
  const listed = parts.map((part) => (renewed.has(part.id) ? { ...part, marketShare } : part));
  const { created } = division;
  if (created !== undefined)
    listed.push({ id: created.id, precision: day.precision, threshold, marketShare });
  if (created !== undefined) await coverages.write(created);
  const next = { parts: listed, writer, writerUntil: Date.now() + writingMilliseconds };
  return (await replaceDayParts(dayKey(day, storage), next, stored)) ? listed : undefined;
}

async function storeTiles(
  day: CountedDay,
  storage: DayStorage,
  { listed, parts, division, areas }: BegunDay,
  writer: string,
): Promise<DayStored> {
  const tiles = anonymousTiles(day, storage, division.partsIn);
  const listedById = new Map(listed.map((part) => [part.id, part]));
  const context: DayContext = {
    date: day.date,
    kind: storage.kind,
    key: dayKey(day, storage),
    parts,
    areasOf: (part, precision, geohash) => areas.in(part, precision, geohash),
    suppressedPeopleOf: (part) => {
      const { threshold = 1, marketShare = 1 } = listedById.get(part) ?? {};
      return (threshold - 1) / 2 / marketShare;
    },
  };
  let [items, changed] = [0, 0];
  let keptAt = Date.now();
  const storeInTurn = async () => {
    // The first that fails ends the tiles for all.
    for await (const tile of tiles) {
      if (Date.now() - keptAt > writingMilliseconds / 4) {
        keptAt = Date.now();
        if (!(await keepDay(context.key, writer, keptAt + writingMilliseconds))) {
          throw new ImportError([`${day.date}: another import has started to store it: repeat this one`]);
        }
      }
      const name = tileName(tile.precision, tile.geohash);
      try {
        const stored = await storeTileAnew(name, tile, context);
        items += stored.items;
        changed += stored.changed;
      } catch (error) {
        throw new TileNotStored(name, day.date, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: tilesAtOnce }, storeInTurn));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return { items, changed };
}

/** How often a tile is read and stored anew when others change its weekdays meanwhile. */
const maxTries = 10;

async function storeTileAnew(name: string, tile: AnonymousTile, context: DayContext): Promise<DayStored> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeTile(name, tile, context);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || tries === maxTries) throw error;
    }
  }
}

/** What all tiles of a day have in common. */
interface DayContext {
  readonly date: string;
  readonly kind: DayStorage["kind"];
  readonly key: string;
  /** The parts of the day before this import. */
  readonly parts: readonly ListedPart[];
  /** Of each cell of a tile, the area of what a part covers of it, in km². */
  readonly areasOf: (part: string, precision: number, geohash: string) => Float64Array;
  /** See `MergedPart`. */
  readonly suppressedPeopleOf: (part: string) => number;
}

async function storeTile(name: string, tile: AnonymousTile, context: DayContext): Promise<DayStored> {
  const { date, kind, key } = context;
  const weekday = typicalDay(weekdayOf(date));
  const stored = await readDays(name, kind === "observed" ? [key, weekday] : [weekday]);
  const coverage = tile.parts.map((part) => part.coverage).reduce(union);
  const typical = stored.get(weekday);
  const others = weekdays.filter((other) => other !== weekday);
  const wanted: NewTileDay[] = [];
  if (typical === undefined || !covers(typical, coverage)) {
    for (const [day, item] of await readDays(name, others)) stored.set(day, item);
    wanted.push(...others.map((other) => coveringItem(name, other, coverage, stored.get(other))));
  }
  const merged = await mergedItem(name, tile, coverage, stored.get(key), context);
  if (kind === "typical") wanted.push(merged);
  else {
    const dates = latestOf([date, ...(typical?.madeFrom ?? [])]);
    const earlier = await readDays(name, dates.filter((each) => each !== date).map(observedDay));
    const days = [...earlier.values(), ...(dates.includes(date) ? [merged] : [])];
    wanted.push(merged, await averagedItem(name, weekday, coverage, typical, dates, days));
  }
  // The day's own weekday last: once it covers what the day covers, so do the others.
  const different = wanted.filter((item) => !isSame(item, stored.get(item.day)));
  for (const item of different) await replace(item, stored.get(item.day));
  return { items: others.length + (kind === "observed" ? 2 : 1), changed: different.length };
}

const weekdays = Array.from({ length: 7 }, (_, index) => typicalDay(index + 1));

async function readDays(tile: string, days: readonly string[]): Promise<Map<string, StoredTileDay>> {
  const keys = days.map((day) => ({ tile, day }));
  const found = await readTileDays(keys, AbortSignal.timeout(callMilliseconds));
  return new Map(found.map((item) => [item.day, item]));
}

/** @throws for an item that another import has written since it was read. */
async function replace(item: NewTileDay, read: StoredTileDay | undefined): Promise<void> {
  if (await replaceTileDay(item, read, AbortSignal.timeout(callMilliseconds))) return;
  // The answer to a call may be lost, and the call be made again: then it is the item that is there.
  const now = (await readDays(item.tile, [item.day])).get(item.day);
  if (!isSame(item, now)) throw new ChangedMeanwhile(item.day);
}

/** Two imports store the same weekday of a tile at a time, of different dates; the day is in the message. */
class ChangedMeanwhile extends Error {
  constructor(day: string) {
    super(`another import has changed ${day}: repeat this one when that has ended`);
    this.name = "ChangedMeanwhile";
  }
}

function latestOf(dates: readonly string[]): string[] {
  return [...new Set(dates)].sort().reverse().slice(0, weeksRemembered);
}

const daySeconds = 86_400;

/** Longer than three months, as far back as a request may ask. */
const daysKept = 100;

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}

function endOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1_000 + daySeconds;
}

/**
 * What parts of a day have in a tile, as it was published before, by their ids.
 * @param listed the parts of the day: of others nobody knows what they were.
 */
async function storedParts(
  name: string,
  item: StoredTileDay | undefined,
  listed: readonly ListedPart[],
): Promise<Map<string, readonly (TileHour | undefined)[]>> {
  const parts = new Map<string, readonly (TileHour | undefined)[]>();
  // Of what has expired some items may be deleted already.
  if (item === undefined || (item.expiresAt ?? Number.POSITIVE_INFINITY) < seconds(Date.now())) return parts;
  const known = listed.map(({ id }) => id).filter((id) => item.parts.includes(id));
  if (!item.separate) {
    for (const id of known) parts.set(id, hoursOf(item));
    return parts;
  }
  const found = await readDays(
    name,
    known.map((id) => partDay(item.day, id)),
  );
  for (const id of known) {
    const ofPart = found.get(partDay(item.day, id));
    if (ofPart === undefined) throw new Error(`part ${id} of ${item.day} is gone`);
    parts.set(id, hoursOf(ofPart));
  }
  return parts;
}

function hoursOf({ hours }: Pick<StoredTileDay, "hours">): (TileHour | undefined)[] {
  const day = readTileDay(hours);
  return Array.from({ length: hoursPerDay }, (_, hour) => day.openHour(hour));
}

/**
 * The day with what the import publishes of its parts and what was published of the others. Hours that are not
 * counted now stay as they are stored. Of a tile with several parts, or in which anything is of no part, each part is
 * stored in an item of its own first.
 */
async function mergedItem(
  name: string,
  tile: AnonymousTile,
  coverage: Uint8Array,
  item: StoredTileDay | undefined,
  context: DayContext,
): Promise<NewTileDay> {
  const before = await storedParts(name, item, context.parts);
  const beforeHours =
    item === undefined
      ? []
      : before.size === 1 && !item.separate
        ? ([...before.values()][0] ?? [])
        : hoursOf(item);
  const parts = new Map<string, MergedPart>();
  // Their order must not depend on which came first: sums are rounded differently in another one.
  for (const id of [...new Set([...before.keys(), ...tile.parts.map(({ part }) => part)])].sort()) {
    const published = tile.parts.find(({ part }) => part === id);
    const hours = before.get(id) ?? [];
    const suppressedPeople = context.suppressedPeopleOf(id);
    if (published === undefined) {
      parts.set(id, { hours, suppressedPeople, areas: context.areasOf(id, tile.precision, tile.geohash) });
    } else {
      const known = published.hours.map((hour, index) => hour ?? hours[index]);
      parts.set(id, { hours: known, suppressedPeople, areas: published.areas });
    }
  }
  const merged = mergedHours([...parts.values()]);
  const isCounted = (hour: number) => tile.parts[0]?.hours[hour] !== undefined;
  const hours = merged.map((hour, index) => {
    const stored = beforeHours[index];
    if (hour === undefined || (!isCounted(index) && stored !== undefined)) return stored;
    if (stored === undefined || context.kind === "observed") return hour;
    return filledUp(hour, stored, (cell) => isCovered(coverage, cell));
  });
  const all = item === undefined ? coverage : union(coverage, readTileDay(item.hours).coverage);
  const [only] = parts.values();
  const isOnly = parts.size === 1 && hours.every((hour, index) => hour === only?.hours[index]);
  const expiry =
    context.kind === "observed" ? { expiresAt: endOf(context.date) + daysKept * daySeconds } : {};
  const separate = !isOnly || item?.separate === true;
  if (separate) {
    for (const [id, part] of parts) await writePart(name, context.key, id, part.hours, expiry);
  }
  return {
    tile: name,
    day: context.key,
    hours: encodeTileDay(hours, all),
    madeFrom: [],
    parts: [...parts.keys()],
    separate,
    ...expiry,
  };
}

/**
 * Only one import stores a day at a time. But the import of an observed date may concurrently write what its typical
 * weekday had: the part then holds older numbers, which were published too, until it is imported again.
 */
async function writePart(
  name: string,
  day: string,
  id: string,
  hours: readonly (TileHour | undefined)[],
  expiry: Pick<NewTileDay, "expiresAt">,
): Promise<void> {
  const item = {
    tile: name,
    day: partDay(day, id),
    hours: encodeTileDay(Array.from({ length: hoursPerDay }, (_, hour) => hours[hour])),
    ...expiry,
  };
  const stored = (await readDays(name, [item.day])).get(item.day);
  if (stored !== undefined && isEqual(stored.hours, item.hours) && stored.expiresAt === item.expiresAt)
    return;
  await writeTileDay(item, AbortSignal.timeout(callMilliseconds));
}

/** A weekday of which a day was observed: what was never observed stays as it is stored. */
async function averagedItem(
  tile: string,
  day: string,
  coverage: Uint8Array,
  stored: StoredTileDay | undefined,
  madeFrom: string[],
  observed: readonly Pick<StoredTileDay, "hours">[],
): Promise<NewTileDay> {
  const before = stored && readTileDay(stored.hours);
  const averaged = typicalHours(observed.map(({ hours }) => readTileDay(hours)));
  const hours = averaged.map((hour, index) => {
    const known = before?.openHour(index);
    return hour === undefined || known === undefined ? (hour ?? known) : filledUp(hour, known);
  });
  const ownParts = stored?.parts ?? [];
  const item = {
    tile,
    day,
    hours: encodeTileDay(hours, before === undefined ? coverage : union(coverage, before.coverage)),
    madeFrom,
    parts: ownParts,
    separate: stored?.separate === true || ownParts.length > 0,
  };
  // What was counted as typical must be there when another part of it is.
  if (stored !== undefined && item.separate && !stored.separate) {
    for (const id of ownParts) await writePart(tile, day, id, hoursOf(stored), {});
  }
  return item;
}

/** An item that gives another weekday the same coverage, so that coverage does not depend on the weekday. */
function coveringItem(
  tile: string,
  day: string,
  coverage: Uint8Array,
  stored: StoredTileDay | undefined,
): NewTileDay {
  if (stored === undefined) {
    return { tile, day, hours: encodeTileDay(Array(hoursPerDay).fill(undefined), coverage), madeFrom: [] };
  }
  if (covers(stored, coverage)) return stored;
  const all = union(coverage, readTileDay(stored.hours).coverage);
  return { ...stored, hours: encodeTileDay(hoursOf(stored), all) };
}

function covers({ hours }: StoredTileDay, coverage: Uint8Array): boolean {
  const stored = readTileDay(hours).coverage;
  return isEqual(union(stored, coverage), stored);
}

function isSame(item: NewTileDay, stored: StoredTileDay | undefined): boolean {
  return (
    stored !== undefined &&
    isEqual(item.hours, stored.hours) &&
    (item.madeFrom ?? []).join() === stored.madeFrom.join() &&
    (item.parts ?? []).join() === stored.parts.join() &&
    (item.separate ?? false) === stored.separate &&
    item.expiresAt === stored.expiresAt
  );
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
