import * as z from "zod/mini";

/** What a judgement may say of the numbers of a day. */
export const findingCodes = [
  "HOURS_MISSING",
  "LARGEST_CELL_UNUSUAL",
  "PEOPLE_UNUSUAL",
  "ROWS_EQUAL",
  "ROWS_MISSING",
  "SUPPRESSION_UNUSUAL",
  "TILES_EMPTY",
] as const;

/** What a judgement may say of the numbers of a day. */
export type FindingCode = (typeof findingCodes)[number];

/** What is unusual about the numbers of a day, as it is kept and told: it follows from published numbers alone. */
export const finding = z.object({
  code: z.enum(findingCodes),
  /** A critical one refuses the import, unless the operator accepts its code. */
  level: z.enum(["critical", "warning"]),
  /** Hours of the day, 0…23 UTC, ascending. */
  hours: z.array(z.number()),
  /** A sentence with numbers; times are local, in the time zone that it names. */
  text: z.string(),
});

/** What is unusual about the numbers of a day. */
export type Finding = z.infer<typeof finding>;
