import { decodeFigures, encodeFigures, type Figures, joined } from "../import/judge/figures.ts";
import type { DayToJudge, JudgedDayOfImport } from "../import/judge/judge-import.ts";
import { figuresOfParts, type PartFigures } from "../import/judge/part-figures.ts";
import { addRowFigures, noRows, RowSums } from "../import/judge/row-sums.ts";
import { daysAsMade, judgeOrder, storageOf } from "../import/publish/import-order.ts";
import type { CountedTile } from "../privacy/counted.ts";
import type { Division } from "../privacy/parts.ts";
import {
  coverageOf,
  eachJson,
  folders,
  getJson,
  type ImportOrder,
  judgement,
  keys,
  type Plan,
  type PlannedDay,
  prefixFigures,
  putJson,
} from "./execution-objects.ts";
import type { PlannedPrefix, RowsOfFile } from "./prefix-rows.ts";

/** Leaves the figures of the rows with a prefix on a day. */
export async function leaveFigures(
  order: ImportOrder,
  prefix: string,
  { here }: PlannedPrefix,
  day: PlannedDay,
  rows: readonly RowsOfFile[],
  tiles: readonly CountedTile[],
  division: Division,
): Promise<void> {
  const storage = storageOf(order);
  const sums = new RowSums(storage.threshold);
  for (const { entries } of rows) sums.add(entries);
  const ofTiles = new Map(sums.takeTiles(prefix));
  const ofRows = noRows();
  sums.takeRows(ofRows);
  const parts = await figuresOfParts(
    { coverage: coverageOf(here.tiles), tiles, sums: { hours: day.hours, rows: ofRows, tiles: ofTiles } },
    division,
    storage,
  );
  await putJson(keys.figures(order.id, day.day, prefix), { parts: parts.map(jsonOf), rows: ofRows });
}

/**
 * Judges the days of an execution, and leaves the judgement.
 * @throws {ImportError} naming the critical findings that are not accepted.
 */
export async function judgeExecution(
  order: ImportOrder,
  { days, calendar }: Plan,
): Promise<readonly JudgedDayOfImport[]> {
  const found: DayToJudge[] = [];
  for (const { date, day } of days) found.push({ date, ...(await figuresOf(order.id, day)) });
  const judged = await judgeOrder(order, calendar, found, await daysAsMade(order));
  await putJson(keys.judgement(order.id), {
    days: judged.map(({ date, parts, findings }) => ({ date, parts: parts.map(jsonOf), findings })),
    found: judged.flatMap((day) => day.found),
  });
  return judged;
}

async function figuresOf(id: string, day: number): Promise<Pick<DayToJudge, "parts" | "rows">> {
  const rows = noRows();
  const parts = new Map<string, Figures[]>();
  for await (const { value } of eachJson(prefixFigures, folders.figures(id, day))) {
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
