import * as z from "zod/mini";
import { table } from "../../../../shared/table.ts";

/** A part as its day lists it. */
export const listedPart = z.object({
  id: z.string(),
  /** Length of the geohashes of its cells. */
  precision: z.number(),
  /** K. */
  threshold: z.number(),
  /** The smallest share of all people that any of its numbers was scaled up from. */
  marketShare: z.number(),
});

/** A part as its day lists it. */
export type ListedPart = z.infer<typeof listedPart>;

/** The parts of a day, and which import is storing it. */
const dayParts = z.object({
  parts: z.array(listedPart),
  /** Counts the changes of what is decided from the parts. */
  revision: z.number(),
  /** The import that is storing the day, and until which epoch millisecond it has it for itself. */
  writer: z.optional(z.string()),
  writerUntil: z.optional(z.number()),
});

/**
 * What is known of the parts of a day: an observed date or a typical weekday. It never expires: typical weekdays are
 * made from days of any age, and answers of any age may have been kept.
 */
export type DayParts = z.infer<typeof dayParts>;

/** The same with the day, which is its key. */
export const keptDay = z.extend(dayParts, { id: z.string() });

/**
 * What imports of densities must not forget: the parts of each day, in `parts`, by `typicalDay` or `observedDay`, and
 * the cells of each part, in `cells/…`; and the journal of imports, in `imports`, with the files of each in
 * `import-files/…` and the parts before it in `import-days/…`. It outlives the densities, and is kept for ever: without it, an import might
 * publish other sums of nearly the same cells.
 */
export const densityImports = table({
  name: "density-imports",
  partitionKey: "kind",
  sortKey: "id",
  schema: dayParts,
});
