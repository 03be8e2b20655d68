import { BatchExecuteStatementCommand, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, beforeEach, expect, vi } from "vitest";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import type { DayStorage } from "../../functions/population-density/import/publish/day-storage.ts";
import type { CountedDay, CountedTile } from "../../functions/population-density/privacy/counted.ts";
import { spansOf } from "../../functions/population-density/tiles/span.ts";
import {
  observedDay,
  readSpans,
  tileName,
  typicalDay,
} from "../../functions/population-density/tiles/store.ts";
import type { StoredTileSpan } from "../../functions/population-density/tiles/table.ts";
import {
  addToCoverage,
  coverageBytes,
  encodeTileDay,
  isCovered,
  readTileDay,
} from "../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../functions/population-density/tiles/tile-hour.ts";
import { dayOf as dateOf, dayMilliseconds } from "../../shared/calendar.ts";
import { useOwnDensityTables, useTables } from "./database.ts";
import { isWhole } from "./sample.ts";

/** Gives each test around the call a table of its own, of which imports read what others have stored. */
export function useOwnDensities(): void {
  beforeAll(() => {
    useTables();
  });
  beforeEach(async () => {
    await useOwnDensityTables();
  });
}

/** Also at precision 6, whose cells are sums of cells at precision 7. */
export const coarser = { precisions: [7, 6] };

/** Only at the precision that was counted. */
export const finest = { precisions: [7] };

/** Stores observed days. */
export const observed: DayStorage = { kind: "observed", ...(isWhole ? coarser : finest), threshold: 10 };

/** Stores typical days. */
export const typical: DayStorage = { ...observed, kind: "typical" };

/** A tile at precision 7 that no other test uses; its first four letters are one at precision 6. */
export function freshTile(): string {
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `8${Array.from(random, (byte) => suffixesOf(1)[byte & 31]).join("")}`;
}

/** People by hour, in cells by their index in the tile. */
export type Counts = Readonly<Record<number, Readonly<Record<number, number>>>>;

/** A tile of which exactly the cells in some hour are covered. */
export function tileOf(geohash: string, counts: Counts): CountedTile {
  const coverage = new Uint8Array(coverageBytes);
  const hours = Array.from({ length: 24 }, (_, index) => {
    const counted = counts[index];
    if (counted === undefined) return undefined;
    const people = new Float64Array(cellsPerTile);
    for (const [cell, count] of Object.entries(counted)) {
      people[Number(cell)] = count;
      addToCoverage(coverage, Number(cell));
    }
    return { people, min: people, max: people };
  });
  return { geohash, coverage, hours };
}

/** A day of some tiles. */
export function dayOf(date: string, ...tiles: CountedTile[]): CountedDay {
  const ascending = tiles.toSorted((one, other) => (one.geohash < other.geohash ? -1 : 1));
  const coverage = new Map(ascending.map((tile) => [tile.geohash, tile.coverage]));
  return { date, precision: 7, coverage, tiles: ascending };
}

/** A deadline that no test reaches. */
export const signal = () => AbortSignal.timeout(60_000);

/** What the items of a tile have together on a day; it is separate if any of its spans is. */
export type StoredDay = Omit<StoredTileSpan, "revision">;

/** What is stored of a tile on a day, whose spans have the same coverage, parts, sources and expiry. */
export async function stored(geohash: string, day: string): Promise<StoredDay | undefined> {
  const spans = await readSpans(tileName(geohash.length + 2, geohash), spansOf(day), signal());
  const [first, ...others] = spans.map(({ revision: _, separate: __, ...span }) => span);
  if (first === undefined) return undefined;
  const { coverage } = readTileDay(first.hours);
  for (const other of others) {
    const alike = { ...first, day: other.day, hours: other.hours };
    expect({ ...other, coverage: readTileDay(other.hours).coverage }).toEqual({ ...alike, coverage });
  }
  expect(spans).toHaveLength(spansOf(day).length);
  const hours = Array.from({ length: 24 }, (_, hour) =>
    spans.map((span) => readTileDay(span.hours).openHour(hour)).find((opened) => opened !== undefined),
  );
  const separate = spans.some((span) => span.separate);
  return { ...first, day, separate, hours: encodeTileDay(hours, coverage) };
}

/** Everything that is stored of a tile after a date: on it, and on each weekday. */
export async function everything(geohash: string, date: string): Promise<(StoredDay | undefined)[]> {
  const days = [observedDay(date), ...[1, 2, 3, 4, 5, 6, 7].map(typicalDay)];
  return await Promise.all(days.map((day) => stored(geohash, day)));
}

/** People of a tile's cells, as well as their densities tell; `undefined` for an hour that is not stored. */
export async function peopleOf(geohash: string, day: string) {
  const item = await stored(geohash, day);
  const opened = item && readTileDay(item.hours);
  return (hour: number, cell: number) => {
    const found = opened?.openHour(hour);
    if (found?.kind(cell) !== "DENSITY_ESTIMATION") return found?.kind(cell);
    return Math.round(found.value(cell) * cellArea(geohash + suffixesOf(geohash.length + 2)[cell]));
  };
}

/** The first of the 32 cells that a tile is at the next coarser precision, by its index in the tile around it. */
export const firstParentOf = (geohash: string) => suffixesOf(1).indexOf(geohash.slice(-1)) * 32;

/** People of one cell in one hour, as `peopleOf` tells them. */
export async function peopleAt(geohash: string, day: string, hour: number, cell: number) {
  return (await peopleOf(geohash, day))(hour, cell);
}

/** The cells that a stored day covers. */
export function coverageOf(item: StoredDay | undefined): number[] {
  const coverage = item === undefined ? new Uint8Array() : readTileDay(item.hours).coverage;
  return Array.from({ length: cellsPerTile }, (_, cell) => cell).filter((cell) => isCovered(coverage, cell));
}

const today = Math.floor(Date.now() / dayMilliseconds);
/** The last Friday that is over, in days since 1970-01-01, which was a Thursday. */
const lastFriday = today - 1 - ((today - 2) % 7);

/** The date so many days before the last Friday that is over: stored parts of an observed day count for 100 days. */
export const beforeFriday = (days: number) => dateOf(new Date((lastFriday - days) * dayMilliseconds));

export const [monday, friday] = [beforeFriday(4), beforeFriday(0)];

/** A write of tiles that has not been sent. */
interface TileWrite {
  /** Sends every second item of a batch, as DynamoDB may before an import ends. */
  readonly sendSome: () => Promise<unknown>;
}

/**
 * Runs something before each write of tiles; if it throws, the write fails.
 * @returns the spy, which the test restores.
 */
export function beforeTileWrites(act: (write: TileWrite) => Promise<unknown> | undefined) {
  const { send } = DynamoDBClient.prototype;
  return vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBClient,
    ...sent
  ) {
    const [command] = sent;
    if (command instanceof BatchExecuteStatementCommand) {
      const some = command.input.Statements?.filter((_, index) => index % 2 === 1);
      const batch = new BatchExecuteStatementCommand({ Statements: some });
      await act({ sendSome: async () => some?.length && (await Reflect.apply(send, this, [batch])) });
    } else if (command instanceof PutItemCommand && /^\d/.test(command.input.Item?.tile?.S ?? "")) {
      await act({ sendSome: async () => undefined });
    }
    return await Reflect.apply(send, this, sent);
  });
}
