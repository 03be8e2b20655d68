import { ImportError } from "../../../shared/import/import-error.ts";
import { refuseContradictions } from "../import/publish/contradictions.ts";
import { storageOf } from "../import/publish/import-order.ts";
import { rowKeysPerPartition } from "../import/rows/row-key.ts";
import { repeatsIn } from "../import/sort/partition-tiles.ts";
import { type ImportOrder, keys, putJson } from "./execution-objects.ts";
import { leaveFigures } from "./judgement.ts";
import { divisionHere, plannedPrefix, rowsOfDay, tilesOfDay } from "./prefix-rows.ts";

/**
 * Checks the rows with a prefix against each other, and against what is published; leaves their figures, and the
 * problems, if any.
 */
export async function checkPrefix(order: ImportOrder, prefix: string): Promise<void> {
  const planned = await plannedPrefix(order.id, prefix);
  const storage = storageOf(order);
  const { precision } = planned.whole;
  const seen = new Uint8Array(rowKeysPerPartition);
  const repeated: { file: number; line: number }[] = [];
  let conflict: { day: number; reason: string } | undefined;
  for (const day of planned.whole.days) {
    const rows = await rowsOfDay(planned, day.day);
    seen.fill(0);
    for (const { file, entries } of rows) {
      for (const line of repeatsIn([entries], seen)) repeated.push({ file, line });
    }
    const found = divisionHere(planned, day);
    const tiles = tilesOfDay(planned, day, rows);
    await leaveFigures(order, prefix, planned, day, rows, tiles, found.division);
    if (conflict !== undefined) continue;
    const counted = { date: day.date, precision, coverage: new Map(), tiles };
    try {
      await refuseContradictions(counted, storage, found);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      conflict = { day: day.day, reason: error.message };
    }
  }
  if (repeated.length === 0 && conflict === undefined) return;
  await putJson(keys.problems(order.id, prefix), { repeated, conflict });
}
