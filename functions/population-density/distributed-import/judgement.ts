import { decodeFigures, encodeFigures, type Figures, joined } from "../import/judge/figures.ts";
import { type DayToJudge, type JudgedDayOfImport, judgeDays } from "../import/judge/judge-import.ts";
import { figuresOfParts, type PartFigures } from "../import/judge/part-figures.ts";
import { addRowFigures, noRows, RowSums } from "../import/judge/row-sums.ts";
import { defaultThresholds } from "../import/judge/thresholds.ts";
import { excludedDays } from "../import/store/exclusion-store.ts";
import { readFigures } from "../import/store/figure-store.ts";
import { readDaysOf } from "../import/store/journal-store.ts";
import {
  coverageOf,
  eachJson,
  getJson,
  type ImportOrder,
  judgement,
  keys,
  type Plan,
  type PlannedDay,
  prefixFigures,
  putJson,
} from "./execution-objects.ts";
import { divisionHere, type PlannedPrefix, type RowsOfFile, tilesOfDay } from "./prefix-rows.ts";
import { storageOf } from "./storage.ts";

/** Leaves the figures of the rows with a prefix on a day. */
export async function leaveFigures(
  order: ImportOrder,
  prefix: string,
  planned: PlannedPrefix,
  day: PlannedDay,
  rows: readonly RowsOfFile[],
): Promise<void> {
  const storage = storageOf(order);
  const sums = new RowSums(storage.threshold);
  for (const { entries } of rows) sums.add(entries);
  const tiles = new Map(sums.takeTiles(prefix));
  const ofRows = noRows();
  sums.takeRows(ofRows);
  const parts = await figuresOfParts(
    {
      coverage: coverageOf(planned.here.tiles),
      tiles: tilesOfDay(planned, day, rows),
      sums: { hours: day.hours, rows: ofRows, tiles },
    },
    divisionHere(planned, day).division,
    storage,
  );
  await putJson(keys.figures(order.id, day.day, prefix), { parts: parts.map(jsonOf), rows: ofRows });
}

/**
 * Judges the days of an import as an import on one machine does, and leaves the judgement.
 * @throws {ImportError} naming the critical findings that are not accepted.
 */
export async function judgeImport(
  order: ImportOrder,
  { days, calendar }: Plan,
): Promise<readonly JudgedDayOfImport[]> {
  const found: DayToJudge[] = [];
  for (const { date, day } of days) found.push({ date, ...(await figuresOf(order.id, day)) });
  const judged = await judgeDays(found, {
    calendar,
    thresholds: order.thresholds ?? defaultThresholds,
    accepted: order.accepted ?? [],
    excluded: order.typical ? new Set() : await excludedDays(order.replay),
    readFigures: order.typical ? async () => [] : readFigures,
    now: Date.now(),
    foundBefore: order.replay === undefined ? undefined : await readDaysOf(order.replay),
  });
  await putJson(keys.judgement(order.id), {
    days: judged.map(({ date, parts, findings }) => ({ date, parts: parts.map(jsonOf), findings })),
    found: judged.flatMap((day) => day.found),
  });
  return judged;
}

async function figuresOf(id: string, day: number): Promise<Pick<DayToJudge, "parts" | "rows">> {
  const rows = noRows();
  const parts = new Map<string, Figures[]>();
  for await (const { value } of eachJson(prefixFigures, `executions/${id}/figures/${day}/`)) {
    addRowFigures(rows, value.rows);
    for (const { part, figures } of value.parts.map(partOf))
      parts.set(part, [...(parts.get(part) ?? []), figures]);
  }
  const sorted = [...parts].sort(([one], [other]) => (one < other ? -1 : 1));
  return { rows, parts: sorted.map(([part, some]) => ({ part, figures: joined(some) })) };
}

/** How the days of an import were judged. */
export async function readJudgement(id: string) {
  const { days, found } = await getJson(judgement, keys.judgement(id));
  return { days: days.map((day) => ({ ...day, parts: day.parts.map(partOf) })), found };
}

function jsonOf({ part, figures }: PartFigures) {
  return { part, figures: Buffer.from(encodeFigures(figures)).toString("base64") };
}

function partOf({ part, figures }: ReturnType<typeof jsonOf>): PartFigures {
  return { part, figures: decodeFigures(Buffer.from(figures, "base64")) };
}
