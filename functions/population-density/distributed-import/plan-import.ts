import { putBytes } from "../../../shared/aws/objects.ts";
import { coverageAt } from "../import/coverage.ts";
import { coveredBox } from "../import/covered-box.ts";
import { coveredOutline } from "../import/covered-outline.ts";
import { checkTypicalDay } from "../import/publish/day-storage.ts";
import { calendarOf, storageOf } from "../import/publish/import-order.ts";
import { checkParts } from "../import/store/part-store.ts";
import { type Coverage, encodeCoverage } from "../privacy/parts.ts";
import { checkPublishing } from "../tiles/data-set-store.ts";
import type { TypicalCalendar } from "../tiles/typical-calendar.ts";
import { checkFiles } from "./check-files.ts";
import { CountedFiles } from "./counted-files.ts";
import { readCoveredArea } from "./covered-area.ts";
import { type ImportOrder, keys, type Plan, putJson } from "./execution-objects.ts";
import { type PlannedDays, planDays } from "./plan-days.ts";
import { prefixPlans, writePrefixes } from "./prefix-plans.ts";
import { refuseOtherStack } from "./storage.ts";

/**
 * Checks what the files say together, compares the days with what is published of them, and plans how each is stored.
 * Rows are not read.
 * @throws {ImportError} that says why the import is refused.
 */
export async function planImport(order: ImportOrder): Promise<void> {
  await checkTables(order);
  const counted = await CountedFiles.read(order);
  const precision = await checkFiles(order, counted);
  const calendar = await calendarOf(order);
  const coverage = order.hasArea ? coverageAt(await readCoveredArea(order.id), precision) : counted.coverage;
  const planned = await planDays(order, counted.files, precision, coverage);
  if (order.typical) for (const { date } of planned.days) checkTypicalDay(date, calendar);

  await writeCreatedParts(order, planned);
  const prefixes = prefixPlans(coverage, planned.parts);
  await writePrefixes(order.id, prefixes, counted);
  await putJson(keys.plan(order.id), planOf(counted, precision, calendar, coverage, planned));
  const names = [...prefixes.keys()].sort().map((prefix) => ({ prefix }));
  await putBytes(keys.prefixes(order.id), Buffer.from(JSON.stringify(names)));
}

/** Whether densities may be published by the order's rules; an import that is made again has those of its time. */
async function checkTables(order: ImportOrder): Promise<void> {
  if (order.replay === undefined) {
    refuseOtherStack(order);
    await checkPublishing(storageOf(order));
  }
  await checkParts();
}

function planOf(
  { files, rows }: CountedFiles,
  precision: number,
  calendar: TypicalCalendar,
  coverage: Coverage,
  { days }: PlannedDays,
): Plan {
  const box = coveredBox(coverage, precision);
  const outline = coveredOutline(coverage, precision);
  return {
    precision,
    files: files.map(({ file, rowsKey, bytes, sha256 }) => ({ file, rowsKey, bytes, sha256 })),
    rows,
    ...(box === undefined ? {} : { box }),
    ...(outline === undefined ? {} : { outline }),
    calendar,
    days: [...days],
  };
}

/** Leaves the cells of each new part for the step that stores it. */
async function writeCreatedParts({ id }: ImportOrder, { days, parts }: PlannedDays): Promise<void> {
  for (const { created } of days) {
    const part = created === undefined ? undefined : parts.get(created);
    if (part !== undefined) await putBytes(keys.created(id, part.id), encodeCoverage(part.coverage));
  }
}
