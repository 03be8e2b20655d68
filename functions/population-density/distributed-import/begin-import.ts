import { getBytes } from "../../../shared/aws/objects.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems } from "../../../shared/import/problems.ts";
import type { JudgedDayOfImport } from "../import/judge/judge-import.ts";
import { dayKey } from "../import/publish/day-storage.ts";
import { repeated } from "../import/sort/partition-tiles.ts";
import { PartCoverages } from "../import/store/coverage-store.ts";
import { type DayLease, HeldDay } from "../import/store/day-lease.ts";
import { recordExclusion } from "../import/store/exclusion-store.ts";
import { beginEntry, recordDay } from "../import/store/journal-store.ts";
import { readDayParts, releaseDay, takeDay } from "../import/store/part-store.ts";
import { decodeCoverage } from "../privacy/parts.ts";
import { recordPublishing } from "../tiles/data-set-store.ts";
import {
  eachJson,
  getJson,
  type ImportOrder,
  keys,
  type Plan,
  type PlannedDay,
  plan,
  prefixProblems,
  putJson,
} from "./execution-objects.ts";
import { judgeImport } from "./judgement.ts";
import { storageOf } from "./storage.ts";

/** Longer than a step with all its attempts; an execution that ends gives the days back at once. */
const leaseMilliseconds = 3_600_000;

/** The right of an execution to store its days. */
function leaseOf({ id }: ImportOrder): DayLease {
  return { writer: id, milliseconds: leaseMilliseconds };
}

/** A day of an execution that `beginImport` has taken. */
export function heldDay(order: ImportOrder, { date, listed }: Pick<PlannedDay, "date" | "listed">): HeldDay {
  const parts = order.replay === undefined ? listed : undefined;
  return new HeldDay(dayKey({ date }, storageOf(order)), date, parts, leaseOf(order));
}

/**
 * Records K and takes all days, once no row has a problem: no other import stores them now. Nothing else was written to
 * the table before, and what is published of these days stays as it is until a step stores something of them.
 * @throws {ImportError} that says why the import is refused.
 */
export async function beginImport(order: ImportOrder): Promise<void> {
  const whole = await getJson(plan, keys.plan(order.id));
  await refuseProblems(order.id, whole);
  const judged = await judgeImport(order, whole);
  try {
    const isReplay = order.replay !== undefined;
    const newestDay = order.typical ? undefined : whole.days.at(-1)?.date;
    const { replacesTimeZone } = order.calendar ?? {};
    const publishing = { ...storageOf(order), calendar: whole.calendar, replacesTimeZone };
    await recordPublishing(publishing, newestDay, isReplay);
    if (!isReplay) await addToJournal(order, whole, judged);
    for (const day of whole.days) await beginDay(order, whole.precision, day);
  } catch (error) {
    // Others need not wait for the lease to end. After a fault the step is done again, and needs the days that it has.
    if (!(error instanceof ImportError)) throw error;
    for (const { date } of whole.days) await releaseDay(dayKey({ date }, storageOf(order)), order.id);
    throw error;
  }
}

async function addToJournal(
  order: ImportOrder,
  { files, days, calendar }: Plan,
  judged: readonly JudgedDayOfImport[],
): Promise<void> {
  const { id, prefix, typical, isRecounted, marketShare, coverage, provenance, accepted = [] } = order;
  if (order.isExcluded === true) for (const { date } of days) await recordExclusion(date, true);
  const { threshold, precisions } = storageOf(order);
  const number = await beginEntry(
    {
      command: "density",
      prefix,
      typical,
      isRecounted,
      marketShare,
      threshold,
      precisions: [...precisions],
      calendar,
      ...(accepted.length === 0 ? {} : { accepted }),
      ...(coverage === undefined ? {} : { coverage }),
      ...(provenance === undefined ? {} : { provenance }),
    },
    files.map(({ file, bytes, sha256 }) => ({ name: file, bytes, sha256 })),
  );
  for (const { date, parts } of days) {
    const ofDay = typical ? undefined : judged.find((each) => each.date === date);
    await recordDay(number, date, parts, ofDay && { figures: ofDay.figures, findings: ofDay.findings });
  }
  // The entry of an earlier attempt gets no end, so no replay makes it again.
  await putJson(keys.journalled(id), { number });
}

async function beginDay(
  order: ImportOrder,
  precision: number,
  { date, created, revision }: PlannedDay,
): Promise<void> {
  if (created !== undefined && order.replay === undefined) {
    const coverage = decodeCoverage(await getBytes(keys.created(order.id, created)), precision);
    await new PartCoverages().write({ id: created, precision, coverage });
  }
  const key = dayKey({ date }, storageOf(order));
  const { writer, milliseconds } = leaseOf(order);
  const read = revision === undefined ? undefined : { revision };
  if (await takeDay(key, writer, Date.now() + milliseconds, read)) return;
  // An earlier attempt may have taken it.
  if ((await readDayParts(key))?.writer === writer) return;
  throw new ImportError([`${date}: another import has started to store it: repeat this one`]);
}

async function refuseProblems(id: string, { files }: Plan): Promise<void> {
  const repeats: { file: number; line: number }[] = [];
  let conflict: { day: number; reason: string } | undefined;
  for await (const { value } of eachJson(prefixProblems, `executions/${id}/problems/`)) {
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
