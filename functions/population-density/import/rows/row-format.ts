/** The forms of rows: lines of CSV below the names of the columns, or a JSON object in each line. */
export const rowFormats = ["csv", "ndjson"] as const;

/** A form of rows. */
export type RowFormat = (typeof rowFormats)[number];
