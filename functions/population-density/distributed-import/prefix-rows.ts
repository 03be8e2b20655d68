import { getBytes } from "../../../shared/aws/objects.ts";
import type { FoundDay } from "../import/publish/day-parts.ts";
import { Entries } from "../import/rows/entries.ts";
import { firstKeyOf } from "../import/rows/row-key.ts";
import { countedIn, emptyDay } from "../import/sort/partition-tiles.ts";
import type { CountedTile } from "../privacy/counted.ts";
import { PartAreas } from "../privacy/part-areas.ts";
import { divide, type Part } from "../privacy/parts.ts";
import {
  coverageOf,
  getJson,
  keys,
  type Plan,
  type PlannedDay,
  type PrefixPlan,
  plan,
  prefixPlan,
} from "./execution-objects.ts";

/** The tiles with a prefix as they are to be stored. */
export interface PlannedPrefix {
  readonly whole: Plan;
  readonly here: PrefixPlan;
}

/** Reads what is planned for a prefix. */
export async function plannedPrefix(id: string, prefix: string): Promise<PlannedPrefix> {
  const [whole, here] = await Promise.all([
    getJson(plan, keys.plan(id)),
    getJson(prefixPlan, keys.prefix(id, prefix)),
  ]);
  return { whole, here };
}

/** The rows of a day in a file. */
export interface RowsOfFile {
  readonly file: number;
  readonly entries: Entries;
}

/** The rows of a day, in the order of the files. */
export async function rowsOfDay({ whole, here }: PlannedPrefix, day: number): Promise<RowsOfFile[]> {
  const ranges = here.rows.filter((rows) => rows.day === day).sort((one, other) => one.file - other.file);
  const read: RowsOfFile[] = [];
  for (const { file, offset, bytes } of ranges) {
    const content = await getBytes(whole.files[file]?.rowsKey ?? "", { offset, bytes });
    read.push({ file, entries: new Entries(content.buffer) });
  }
  return read;
}

/** The tiles of a day, in ascending order. @param rows as `rowsOfDay` reads them. */
export function tilesOfDay(
  { here }: PlannedPrefix,
  { hours }: PlannedDay,
  rows: readonly RowsOfFile[],
): CountedTile[] {
  const empty = emptyDay(hours);
  const counted = countedIn(
    rows.map(({ entries }) => entries),
    empty,
  );
  return [...coverageOf(here.tiles)].map(([geohash, coverage]) => ({
    geohash,
    coverage,
    hours: counted.get(firstKeyOf(geohash)) ?? empty,
  }));
}

/** How a day's tiles with the prefix are divided, and what of its parts is in them. */
export function divisionHere(
  { whole, here }: PlannedPrefix,
  { parts, renewed, created }: PlannedDay,
): Pick<FoundDay, "areas" | "division" | "parts"> {
  const tilesById = new Map(here.parts.map((part) => [part.id, part.tiles]));
  const known: Part[] = parts.map(({ id, precision }) => ({
    id,
    precision,
    coverage: coverageOf(tilesById.get(id) ?? {}),
  }));
  const alike = known.filter(({ precision }) => precision === whole.precision);
  const division = divide(coverageOf(here.tiles), whole.precision, alike, { renewed, created });
  return { parts, division, areas: new PartAreas(known) };
}
