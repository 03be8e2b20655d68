import * as z from "zod/mini";
import { type Box, boxAround } from "../cover/box.ts";

const text = z.string().check(z.minLength(1), z.maxLength(200));

/** Where counts come from. */
export const provenance = z.object({
  /** Who counted, or what the numbers were made from. */
  source: text,
  /** Of the numbers, such as an SPDX identifier. */
  licence: z.optional(text),
});

/** Where counts come from. */
export type Provenance = z.infer<typeof provenance>;

/** What is known of all densities together, as the table holds it. */
export const dataSet = z.object({
  /** Around all cells that were ever covered. */
  coverage: z.optional(
    z.object({ west: z.number(), south: z.number(), east: z.number(), north: z.number() }),
  ),
  /** The latest observed date, `YYYY-MM-DD`. */
  newestDay: z.optional(z.string()),
  /** Each source once, the one imported last first. */
  provenance: z.array(provenance),
  /** Counts the imports. */
  revision: z.number(),
});

/** What is known of all densities together. */
export type DataSet = z.infer<typeof dataSet>;

/** What an import has added to the densities. */
export interface ImportedData {
  readonly coverage?: Box | undefined;
  /** Undefined for typical weekdays. */
  readonly newestDay?: string | undefined;
  readonly provenance?: Provenance | undefined;
}

/** Older sources are forgotten. */
const maxSources = 20;

/** The data set after an import. */
export function withImport(before: DataSet | undefined, imported: ImportedData): DataSet {
  const boxes = [before?.coverage, imported.coverage].filter((box) => box !== undefined);
  const coverage = boxes.length === 0 ? undefined : boxes.reduce(boxAround);
  const newestDay = [before?.newestDay, imported.newestDay]
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
  const { provenance: added } = imported;
  const others = (before?.provenance ?? []).filter(({ source }) => source !== added?.source);
  return {
    ...(coverage === undefined ? {} : { coverage }),
    ...(newestDay === undefined ? {} : { newestDay }),
    provenance: (added === undefined ? others : [added, ...others]).slice(0, maxSources),
    revision: (before?.revision ?? 0) + 1,
  };
}
