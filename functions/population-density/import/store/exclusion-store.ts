/** Which observed days stay out of typical weekdays, and since when: a replay has each when it was decided. */
import * as z from "zod/mini";
import { inTime } from "../../../../shared/aws/clients.ts";
import { putItem, queryPartition } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { nextNumber, numbered } from "./journal-store.ts";
import { densityImports } from "./tables.ts";

const partition = "exclusions";

const exclusion = z.object({
  /** Its number among the imports of the journal. */
  id: z.string(),
  /** `YYYY-MM-DD`, UTC. */
  date: z.string(),
  /** False where the day is taken back into typical weekdays. */
  isExcluded: z.boolean(),
  /** An instant, as `Date` writes it. */
  at: z.string(),
});

/** A decision to exclude a day, or to include it again. */
export interface Exclusion extends Omit<z.infer<typeof exclusion>, "id"> {
  /** Its number among the imports of the journal. */
  readonly number: number;
}

/** All that was decided, in its order. */
export async function readExclusions(): Promise<Exclusion[]> {
  const found = await queryPartition(withSchema(densityImports, exclusion), partition, inTime());
  return found.map(({ id, ...decided }) => ({ ...decided, number: Number(id) }));
}

/**
 * The days that stay out of typical weekdays.
 * @param before only decisions with a lower number count; a replay passes its own.
 */
export async function excludedDays(before = Number.POSITIVE_INFINITY): Promise<ReadonlySet<string>> {
  const excluded = new Set<string>();
  for (const { number, date, isExcluded } of await readExclusions()) {
    if (number >= before) continue;
    if (isExcluded) excluded.add(date);
    else excluded.delete(date);
  }
  return excluded;
}

/** Records a decision to exclude a day, or to include it again. */
export async function recordExclusion(date: string, isExcluded: boolean, now = new Date()): Promise<void> {
  const id = numbered(await nextNumber());
  await putItem(
    densityImports,
    { kind: partition, id, date, isExcluded, at: now.toISOString() },
    {},
    inTime(),
  );
}
