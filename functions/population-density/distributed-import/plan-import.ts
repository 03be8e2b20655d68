import { setTimeout as wait } from "node:timers/promises";
import { putBytes } from "../../../shared/aws/objects.ts";
import { dayMilliseconds } from "../../../shared/calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems, problemsNamed } from "../../../shared/import/problems.ts";
import { coverageAt } from "../import/coverage.ts";
import { coveredBox } from "../import/covered-box.ts";
import {
  type DayStorage,
  dayKey,
  divisionBeside,
  type FoundDay,
  listedParts,
} from "../import/publish/day-division.ts";
import { prefixOf } from "../import/rows/row-key.ts";
import { type DayParts, PartCoverages, readDayParts } from "../import/store/part-store.ts";
import { type Coverage, encodeCoverage, type Part, union } from "../privacy/parts.ts";
import { weekdayOf } from "../privacy/typical-week.ts";
import { checkPublishing } from "../tiles/data-set-store.ts";
import { readCoveredArea } from "./covered-area.ts";
import {
  coverageOf,
  eachJson,
  type ImportOrder,
  keys,
  type Plan,
  type PlannedDay,
  type PrefixPlan,
  putJson,
  type ReadFile,
  readFile,
  tilesOf,
} from "./execution-objects.ts";
import { refuseOtherStack, storageOf } from "./storage.ts";

/**
 * Checks what the files say together and the days beside what is published of them, and plans how each is stored. Rows
 * are not read.
 * @throws {ImportError} that says why the import is refused.
 */
export async function planImport(order: ImportOrder): Promise<void> {
  refuseOtherStack(order);
  await checkPublishing(storageOf(order));
  const files = await filesOf(order);
  refuseProblems(files);
  const [first] = files;
  if (first?.precision === undefined) throw new ImportError([`${order.prefix}: has no files`]);
  const { precision } = first;
  const storage = storageOf(order);
  refusePrecisions(files, precision, storage);
  if (order.typical) refuseSecondDays(files);
  const coverage = order.hasArea ? coverageAt(await readCoveredArea(order.id), precision) : coverageIn(files);
  const { days, parts } = await plannedDays(order, storage, precision, coverage, hoursOf(files));
  const box = coveredBox(coverage, precision);
  const plan: Plan = {
    precision,
    files: files.map(({ file, rowsKey }) => ({ file, rowsKey })),
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    ...(box === undefined ? {} : { box }),
    days,
  };
  const prefixes = prefixPlans(files, coverage, parts);
  for (const day of days) {
    const created = day.created === undefined ? undefined : parts.get(day.created);
    if (created !== undefined)
      await putBytes(keys.created(order.id, created.id), encodeCoverage(created.coverage));
  }
  await writePrefixes(order.id, prefixes);
  await putJson(keys.plan(order.id), plan);
  await putBytes(
    keys.prefixes(order.id),
    Buffer.from(JSON.stringify([...prefixes.keys()].sort().map((prefix) => ({ prefix })))),
  );
}

/** In the order of their keys, as the files of an import on one machine are in that of its arguments. */
async function filesOf({ id }: ImportOrder): Promise<ReadFile[]> {
  const files: ReadFile[] = [];
  for await (const { value } of eachJson(readFile, `executions/${id}/read/`)) files.push(value);
  return files.sort((one, other) => (one.key < other.key ? -1 : 1));
}

function refuseProblems(files: readonly ReadFile[]): void {
  const problems = [...new Set(files.flatMap(({ problems }) => problems))];
  if (problems.length > 0) throw new ImportError(problems.slice(0, problemsNamed));
}

function refusePrecisions(files: readonly ReadFile[], precision: number, { precisions }: DayStorage): void {
  const problems = new Problems(files.map(({ file }) => file));
  for (const [index, file] of files.entries()) {
    if (file.precision !== precision) {
      problems.add(
        index,
        `must have ${precision} characters like the ones before`,
        file.hours[0]?.line,
        "geohash",
      );
    }
  }
  problems.refuse();
  if (precisions.every((wanted) => wanted > precision)) {
    throw new ImportError([
      `geohashes of ${precision} characters are shorter than every supported precision`,
    ]);
  }
}

const daysPerWeek = 7;

/** The files were checked one by one. */
function refuseSecondDays(files: readonly ReadFile[]): void {
  const problems = new Problems(files.map(({ file }) => file));
  const seen = new Map<string, number>();
  for (const [index, { hours }] of files.entries()) {
    for (const { day, hour, line } of hours) {
      const ofWeek = `${day % daysPerWeek}/${hour}`;
      const before = seen.get(ofWeek) ?? day;
      seen.set(ofWeek, before);
      if (before !== day) {
        problems.add(index, "is an hour of a weekday that another date has too", line, "startTime");
      }
    }
  }
  problems.refuse();
}

function hoursOf(files: readonly ReadFile[]): ReadonlyMap<number, number> {
  const hours = new Map<number, number>();
  for (const { day, hour } of files.flatMap((file) => file.hours)) {
    hours.set(day, (hours.get(day) ?? 0) | (1 << hour));
  }
  return new Map([...hours].sort(([one], [other]) => one - other));
}

function coverageIn(files: readonly ReadFile[]): Coverage {
  const coverage = new Map<string, Uint8Array>();
  for (const [geohash, bits] of files.flatMap(({ tiles }) => [...coverageOf(tiles)])) {
    const before = coverage.get(geohash);
    coverage.set(geohash, before === undefined ? bits : union(before, bits));
  }
  return coverage;
}

/** The days one after the other, each beside what those before it leave. */
async function plannedDays(
  { isRecounted }: ImportOrder,
  storage: DayStorage,
  precision: number,
  coverage: Coverage,
  hours: ReadonlyMap<number, number>,
): Promise<{ readonly days: PlannedDay[]; readonly parts: ReadonlyMap<string, Part> }> {
  const stored = new PartCoverages();
  const parts = new Map<string, Part>();
  const coverages = {
    read: async (part: Parameters<PartCoverages["read"]>[0]) =>
      parts.get(part.id) ?? (await stored.read(part)),
    write: (part: Part) => stored.write(part),
  };
  const left = new Map<string, DayParts>();
  const recounted = new Set<number>();
  const days: PlannedDay[] = [];
  for (const [day, bits] of hours) {
    const date = new Date(day * dayMilliseconds).toISOString().slice(0, 10);
    const weekday = weekdayOf(date);
    const ofDay = { ...storage, coverages, isRecounted: isRecounted && !recounted.has(weekday) };
    recounted.add(weekday);
    const key = dayKey({ date }, storage);
    const before = left.get(key) ?? (await settledParts(key, date));
    const found = await divisionBeside(before, { date, precision, coverage }, ofDay);
    const listed = listedParts({ precision }, ofDay, found);
    for (const part of [...found.known, ...createdIn(found)]) parts.set(part.id, part);
    left.set(key, { parts: [...listed], revision: (before?.revision ?? 0) + 1 });
    days.push({
      date,
      day,
      hours: bits,
      parts: [...found.parts],
      listed: [...listed],
      renewed: found.division.renewed.map((part) => part.id),
      ...(found.division.created === undefined ? {} : { created: found.division.created.id }),
      ...(before === undefined ? {} : { revision: before.revision }),
    });
  }
  return { days, parts };
}

function createdIn({ division: { created } }: FoundDay): Part[] {
  return created === undefined ? [] : [created];
}

/** How long an import waits for others that store the same day, and how often it looks. */
const waitingMilliseconds = 120_000;
const pauseMilliseconds = 1_000;

/** The parts of a day that no other import is storing. */
async function settledParts(key: string, date: string): Promise<DayParts | undefined> {
  for (const deadline = Date.now() + waitingMilliseconds; ; await wait(pauseMilliseconds)) {
    const parts = await readDayParts(key);
    if ((parts?.writerUntil ?? 0) <= Date.now()) return parts;
    if (Date.now() < deadline) continue;
    throw new ImportError([`${date}: another import is storing it: repeat this one when it has ended`]);
  }
}

function prefixPlans(
  files: readonly ReadFile[],
  coverage: Coverage,
  parts: ReadonlyMap<string, Part>,
): ReadonlyMap<string, PrefixPlan> {
  const plans = new Map<string, PrefixPlan>();
  const [[someTile] = [""]] = coverage;
  const { length } = prefixOf(someTile);
  for (const [prefix, tiles] of byPrefix(coverage, length)) {
    plans.set(prefix, { tiles: tilesOf(tiles), parts: [], rows: [] });
  }
  for (const { id, precision, coverage: cells } of parts.values()) {
    for (const [prefix, tiles] of byPrefix(cells, length)) {
      plans.get(prefix)?.parts.push({ id, precision, tiles: tilesOf(tiles) });
    }
  }
  for (const [file, { partitions }] of files.entries()) {
    for (const { prefix, day, offset, bytes } of partitions) {
      plans.get(prefix)?.rows.push({ day, file, offset, bytes });
    }
  }
  return plans;
}

/** Tiles that are coarser than a prefix are in none. */
function byPrefix(coverage: Coverage, length: number): Map<string, [string, Uint8Array][]> {
  const prefixes = new Map<string, [string, Uint8Array][]>();
  for (const tile of coverage) {
    if (tile[0].length < length) continue;
    const prefix = tile[0].slice(0, length);
    const tiles = prefixes.get(prefix) ?? [];
    tiles.push(tile);
    prefixes.set(prefix, tiles);
  }
  return prefixes;
}

const writesAtOnce = 16;

async function writePrefixes(id: string, prefixes: ReadonlyMap<string, PrefixPlan>): Promise<void> {
  const left = prefixes.entries();
  const writeInTurn = async () => {
    for (const [prefix, plan] of left) await putJson(keys.prefix(id, prefix), plan);
  };
  await Promise.all(Array.from({ length: writesAtOnce }, writeInTurn));
}
