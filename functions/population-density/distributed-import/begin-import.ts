import { getBytes } from "../../../shared/aws/objects.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems } from "../../../shared/import/problems.ts";
import type { JudgedDayOfImport } from "../import/judge/judge-import.ts";
import { beginDay } from "../import/publish/begin-day.ts";
import { dayKey } from "../import/publish/day-storage.ts";
import { beginImport, judgedNumbers, storageOf } from "../import/publish/import-order.ts";
import { repeated } from "../import/sort/partition-tiles.ts";
import { PartCoverages } from "../import/store/coverage-store.ts";
import { type DayLease, HeldDay, leaseMilliseconds, takenSince } from "../import/store/day-lease.ts";
import { releaseDay, withdrawDay } from "../import/store/part-store.ts";
import { decodeCoverage } from "../privacy/parts.ts";
import {
  eachJson,
  folders,
  getJson,
  type ImportOrder,
  keys,
  type Plan,
  type PlannedDay,
  plan,
  prefixProblems,
  putJson,
} from "./execution-objects.ts";
import { judgeExecution } from "./judgement.ts";

/** Longer than a step with all its attempts. */
const executionLeaseMilliseconds = 3_600_000;

/** The right of an execution to store its days. */
function leaseOf({ id }: ImportOrder): DayLease {
  return { writer: id, milliseconds: executionLeaseMilliseconds };
}

/** A day of an execution that `beginExecution` has taken. */
export function heldDay(order: ImportOrder, { date, listed }: Pick<PlannedDay, "date" | "listed">): HeldDay {
  const parts = order.replay === undefined ? listed : undefined;
  return new HeldDay(dayKey({ date }, storageOf(order)), date, parts, leaseOf(order));
}

/**
 * Records K, adds the import to the journal and takes all days, once no row has a problem: no other import stores them
 * now. Nothing else was written to the table before, and what is published of these days stays as it is until a step
 * stores something of them.
 * @throws {ImportError} that says why the import is refused.
 */
export async function beginExecution(order: ImportOrder): Promise<void> {
  const whole = await getJson(plan, keys.plan(order.id));
  await refuseProblems(order.id, whole);
  const judged = await judgeExecution(order, whole);
  try {
    const dates = whole.days.map(({ date }) => date);
    const files = whole.files.map(({ file, bytes, sha256 }) => ({ name: file, bytes, sha256 }));
    const number = await beginImport(order, whole.calendar, dates, files, order);
    // The entry of an earlier attempt gets no end, so no replay makes it again.
    if (number !== undefined) await putJson(keys.journalled(order.id), { number });
    for (const day of whole.days) await takePlanned(order, whole.precision, day, judged, number);
  } catch (error) {
    // Others need not wait for the lease to end. After a fault the step is done again, and needs the days that it has.
    if (!(error instanceof ImportError)) throw error;
    await releaseDays(order, whole);
    throw error;
  }
}

/** Lets others store the days of an execution that has ended. */
export async function releaseDays(order: ImportOrder, { days }: Pick<Plan, "days">): Promise<void> {
  for (const { date } of days) await releaseDay(dayKey({ date }, storageOf(order)), order.id);
}

/**
 * Lets others store the days of an execution that has failed, once its last write has ended: Step Functions does not
 * stop functions that are still running.
 */
export async function withdrawDays(order: ImportOrder, { days }: Pick<Plan, "days">): Promise<void> {
  const until = Date.now() + leaseMilliseconds;
  for (const { date } of days) await withdrawDay(dayKey({ date }, storageOf(order)), order.id, until);
}

async function takePlanned(
  order: ImportOrder,
  precision: number,
  { date, parts, created: id, revision }: PlannedDay,
  judged: readonly JudgedDayOfImport[],
  importNumber: number | undefined,
): Promise<void> {
  const created =
    id === undefined || order.replay !== undefined
      ? undefined
      : { id, precision, coverage: decodeCoverage(await getBytes(keys.created(order.id, id)), precision) };
  const decided = { key: dayKey({ date }, storageOf(order)), date, parts, revision, created };
  const ofDay = judged.find((each) => each.date === date);
  const record = { importNumber, judged: ofDay && judgedNumbers(order, ofDay) };
  if (!(await beginDay(decided, record, new PartCoverages(), leaseOf(order)))) throw takenSince(date);
}

async function refuseProblems(id: string, { files }: Plan): Promise<void> {
  const repeats: { file: number; line: number }[] = [];
  let conflict: { day: number; reason: string } | undefined;
  for await (const { value } of eachJson(prefixProblems, folders.problems(id))) {
    repeats.push(...value.repeated);
    if (value.conflict !== undefined && value.conflict.day < (conflict?.day ?? Number.POSITIVE_INFINITY)) {
      conflict = value.conflict;
    }
  }
  const problems = new Problems(files.map(({ file }) => file));
  for (const { file, line } of repeats.sort((one, other) => one.file - other.file || one.line - other.line)) {
    problems.add(file, repeated.reason, line, repeated.column);
  }
  problems.refuse();
  if (conflict !== undefined) throw new ImportError([conflict.reason]);
}
