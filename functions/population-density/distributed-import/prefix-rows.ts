import { getBytes } from "../../../shared/aws/objects.ts";
import type { CountedTile } from "../import/counted.ts";
import type { FoundDay } from "../import/day-division.ts";
import { PartAreas } from "../import/part-areas.ts";
import { countedIn, emptyDay, firstSlotOf } from "../import/partition-tiles.ts";
import { entry, numbersEach } from "../import/partitions.ts";
import { divide, type Part } from "../import/parts.ts";
import {
  coverageOf,
  getJson,
  keys,
  type Plan,
  type PlannedDay,
  type PrefixPlan,
  plan,
  prefixPlan,
} from "./exchange.ts";

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

/** The rows of a day, in the order of the files: `numbersEach` numbers for each, the file among them. */
export async function rowsOfDay({ whole, here }: PlannedPrefix, day: number): Promise<Float64Array[]> {
  const ranges = here.rows.filter((rows) => rows.day === day).sort((one, other) => one.file - other.file);
  const read: Float64Array[] = [];
  for (const { file, offset, bytes } of ranges) {
    const content = await getBytes(whole.files[file]?.rowsKey ?? "", { offset, bytes });
    const numbers = new Float64Array(content.buffer);
    // On its own, each file was the first.
    for (let at = entry.file; at < numbers.length; at += numbersEach) numbers[at] = file;
    read.push(numbers);
  }
  return read;
}

/** The tiles of a day, in ascending order. @param rows as `rowsOfDay` reads them. */
export function tilesOfDay(
  { here }: PlannedPrefix,
  { hours }: PlannedDay,
  rows: Iterable<Float64Array>,
): CountedTile[] {
  const empty = emptyDay(hours);
  const counted = countedIn(rows, empty);
  return [...coverageOf(here.tiles)].map(([geohash, coverage]) => ({
    geohash,
    coverage,
    hours: counted.get(firstSlotOf(geohash)) ?? empty,
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
