import { setTimeout as wait } from "node:timers/promises";
import { putBytes } from "../../../shared/aws/objects.ts";
import { dayMilliseconds } from "../../../shared/calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems, problemsNamed } from "../../../shared/import/problems.ts";
import { coverageAt } from "../import/coverage.ts";
import { coveredBox } from "../import/covered-box.ts";
import { coveredOutline } from "../import/covered-outline.ts";
import {
  checkTypicalDay,
  type DayStorage,
  dayKey,
  divisionBeside,
  type FoundDay,
  listedParts,
  partsOfDay,
} from "../import/publish/day-division.ts";
import { prefixOf } from "../import/rows/row-key.ts";
import { type ImportedFile, readFiles, readPartsBefore } from "../import/store/journal-store.ts";
import { checkParts, PartCoverages, readDayParts } from "../import/store/part-store.ts";
import type { DayParts } from "../import/store/tables.ts";
import { type Coverage, encodeCoverage, type Part } from "../privacy/parts.ts";
import { weekdayOf } from "../privacy/typical-week.ts";
import { calendarWith, checkPublishing } from "../tiles/data-set-store.ts";
import { changedCalendar, utcCalendar } from "../tiles/typical-calendar.ts";
import { type CountedFile, CountedFiles } from "./counted-files.ts";
import { readCoveredArea } from "./covered-area.ts";
import {
  type ImportOrder,
  keys,
  type Plan,
  type PlannedDay,
  type PrefixPlan,
  putJson,
  tilesOf,
} from "./execution-objects.ts";
import { refuseOtherStack, storageOf } from "./storage.ts";

/**
 * Checks what the files say together, compares the days with what is published of them, and plans how each is stored.
 * Rows are not read.
 * @throws {ImportError} that says why the import is refused.
 */
export async function planImport(order: ImportOrder): Promise<void> {
  if (order.replay === undefined) {
    refuseOtherStack(order);
    await checkPublishing(storageOf(order));
  }
  await checkParts();
  const counted = await CountedFiles.read(order);
  const { files, problems, rows } = counted;
  if (problems.size > 0) throw new ImportError([...problems]);
  if (order.replay !== undefined) refuseOtherFiles(files, order.replay, await readFiles(order.replay));
  const [first] = files;
  if (first?.precision === undefined) throw new ImportError([`${order.prefix}: has no files`]);
  const { precision } = first;
  const storage = storageOf(order);
  refusePrecisions(files, precision, storage);
  if (order.typical) refuseSecondDays(files);
  const calendar =
    order.replay === undefined
      ? await calendarWith(order.calendar)
      : changedCalendar(utcCalendar, order.calendar);
  const coverage = order.hasArea ? coverageAt(await readCoveredArea(order.id), precision) : counted.coverage;
  const { days, parts } = await plannedDays(order, storage, precision, coverage, hoursOf(files));
  const box = coveredBox(coverage, precision);
  const outline = coveredOutline(coverage, precision);
  const plan: Plan = {
    precision,
    files: files.map(({ file, rowsKey, bytes, sha256 }) => ({ file, rowsKey, bytes, sha256 })),
    rows,
    ...(box === undefined ? {} : { box }),
    ...(outline === undefined ? {} : { outline }),
    calendar,
    days,
  };
  if (order.typical) for (const { date } of days) checkTypicalDay(date, calendar);
  const prefixes = prefixesOf(coverage, parts);
  for (const day of days) {
    const created = day.created === undefined ? undefined : parts.get(day.created);
    if (created !== undefined)
      await putBytes(keys.created(order.id, created.id), encodeCoverage(created.coverage));
  }
  await writePrefixes(order.id, prefixes, counted);
  await putJson(keys.plan(order.id), plan);
  await putBytes(
    keys.prefixes(order.id),
    Buffer.from(JSON.stringify([...prefixes.keys()].sort().map((prefix) => ({ prefix })))),
  );
}

/** An import that is made again reads the same files. */
function refuseOtherFiles(
  files: readonly CountedFile[],
  number: number,
  imported: readonly ImportedFile[],
): void {
  const read = new Map(files.map((file) => [file.file, file.sha256]));
  const known = new Set(imported.map(({ name }) => name));
  const problems = [
    ...imported.flatMap(({ name, sha256 }) => {
      if (read.get(name) === sha256) return [];
      return read.has(name)
        ? [`${name}: differs from the file that import ${number} has read`]
        : [`${name}: is not there, and import ${number} has read it`];
    }),
    ...[...read.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `${name}: is there, and import ${number} has not read it`),
  ];
  if (problems.length > 0) throw new ImportError(problems.slice(0, problemsNamed));
}

function refusePrecisions(
  files: readonly CountedFile[],
  precision: number,
  { precisions }: DayStorage,
): void {
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
function refuseSecondDays(files: readonly CountedFile[]): void {
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

function hoursOf(files: readonly CountedFile[]): ReadonlyMap<number, number> {
  const hours = new Map<number, number>();
  for (const { day, hour } of files.flatMap((file) => file.hours)) {
    hours.set(day, (hours.get(day) ?? 0) | (1 << hour));
  }
  return new Map([...hours].sort(([one], [other]) => one - other));
}

/** The days one after the other, each after what those before it leave. */
async function plannedDays(
  { isRecounted, replay }: ImportOrder,
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
    isStored: (part: Parameters<PartCoverages["read"]>[0]) => stored.isStored(part),
    write: (part: Part) => stored.write(part),
  };
  const left = new Map<string, DayParts>();
  const partsBefore = replay === undefined ? undefined : await readPartsBefore(replay);
  const recounted = new Set<number>();
  const days: PlannedDay[] = [];
  for (const [day, bits] of hours) {
    const date = new Date(day * dayMilliseconds).toISOString().slice(0, 10);
    const weekday = weekdayOf(date);
    const ofDay = {
      ...storage,
      coverages,
      isRecounted: isRecounted && !recounted.has(weekday),
      partsBefore: partsOfDay(date, partsBefore),
    };
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

/** Without their rows, which are looked up when a prefix is written. */
function prefixesOf(
  coverage: Coverage,
  parts: ReadonlyMap<string, Part>,
): ReadonlyMap<string, Omit<PrefixPlan, "rows">> {
  const plans = new Map<string, Omit<PrefixPlan, "rows">>();
  const [[someTile] = [""]] = coverage;
  const { length } = prefixOf(someTile);
  for (const [prefix, tiles] of byPrefix(coverage, length)) {
    plans.set(prefix, { tiles: tilesOf(tiles), parts: [] });
  }
  for (const { id, precision, coverage: cells } of parts.values()) {
    for (const [prefix, tiles] of byPrefix(cells, length)) {
      plans.get(prefix)?.parts.push({ id, precision, tiles: tilesOf(tiles) });
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

async function writePrefixes(
  id: string,
  prefixes: ReadonlyMap<string, Omit<PrefixPlan, "rows">>,
  counted: CountedFiles,
): Promise<void> {
  const left = prefixes.entries();
  const writeInTurn = async () => {
    for (const [prefix, here] of left) {
      const plan: PrefixPlan = { ...here, rows: counted.rowsWith(prefix) };
      await putJson(keys.prefix(id, prefix), plan);
    }
  };
  await Promise.all(Array.from({ length: writesAtOnce }, writeInTurn));
}
