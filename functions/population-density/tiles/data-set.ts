import * as z from "zod/mini";
import { type Box, boxAround } from "../cover/box.ts";
import { mergedOutline, type Outline } from "../cover/outline.ts";
import { comparedDay, type ImportedDay, withComparisons } from "./forecast-error.ts";
import { refusalOfChange, type TypicalCalendar, typicalCalendar } from "./typical-calendar.ts";

const text = z.string().check(z.minLength(1), z.maxLength(200));

/** Where counts come from. */
export const provenance = z.object({
  /** Who counted, or what the numbers were made from. */
  source: text,
  /** Licence of the numbers, such as an SPDX identifier. */
  licence: z.optional(text),
});

/** Where counts come from. */
export type Provenance = z.infer<typeof provenance>;

/** A K that densities were imported with. */
const importedThreshold = z.object({
  threshold: z.number(),
  /** The latest observed date that was imported with it; undefined if only typical weekdays were. */
  newestDay: z.optional(z.string()),
});

/** Polygons around covered cells. */
const outline = z.object({
  precision: z.number(),
  coordinates: z.array(z.array(z.array(z.array(z.number())))),
  shares: z.array(z.object({ precision: z.number(), share: z.number() })),
});

/**
 * What is known of all densities together, as the table holds it. Each import adds to it when it has stored everything;
 * computing it from the tiles would be a scan. The box only grows: an area that is no longer imported stays in it.
 */
export const dataSet = z.object({
  /** Around all cells that were ever covered. */
  coverage: z.optional(
    z.object({ west: z.number(), south: z.number(), east: z.number(), north: z.number() }),
  ),
  /** Around the same cells. */
  outline: z.optional(outline),
  /** The latest observed date, `YYYY-MM-DD`. */
  newestDay: z.optional(z.string()),
  /** Each source once, the one imported last first. */
  provenance: z.array(provenance),
  /** Each K once, in the order of their first imports. */
  thresholds: z.array(importedThreshold),
  /** The supported precisions at the last import. */
  precisions: z.array(z.number()),
  /** What typical weekdays follow; absent until an import says so: `utcCalendar`. */
  calendar: z.optional(typicalCalendar),
  /** How far typical weekdays were from the latest days that were observed, the latest first. */
  compared: z.optional(z.array(comparedDay)),
  /** Counts the writes. */
  revision: z.number(),
});

/** What is known of all densities together. */
export type DataSet = z.infer<typeof dataSet>;

const nothing: DataSet = { provenance: [], thresholds: [], precisions: [], revision: 0 };

/** What an import has added to the densities. */
export interface ImportedData {
  readonly coverage?: Box | undefined;
  readonly outline?: Outline | undefined;
  /** Undefined for typical weekdays. */
  readonly newestDay?: string | undefined;
  readonly provenance?: Provenance | undefined;
  /** Its observed days compared with the typical weekdays before it. */
  readonly compared?: readonly ImportedDay[] | undefined;
}

/** How an import publishes what it counted. */
export interface Publishing {
  /** K. */
  readonly threshold: number;
  /** The supported precisions. */
  readonly precisions: readonly number[];
  /** What typical weekdays follow from now on; if absent, what they have followed. */
  readonly calendar?: TypicalCalendar | undefined;
  /** Whether the calendar may have another time zone than what is stored. */
  readonly replacesTimeZone?: boolean | undefined;
}

/**
 * Why an import must not add to what is stored: callers were promised a larger K, or would be answered from
 * tiles of a precision that the import leaves as they are, or its calendar has another time zone.
 * @returns undefined if it may.
 */
export function refusalOf(
  stored: DataSet | undefined,
  { threshold, precisions, calendar, replacesTimeZone }: Publishing,
): string | undefined {
  const ofZone = refusalOfChange(stored?.calendar, { timeZone: calendar?.timeZone, replacesTimeZone });
  if (ofZone !== undefined) return ofZone;
  const promised = Math.max(0, ...(stored?.thresholds ?? []).map(({ threshold: each }) => each));
  if (threshold < promised) {
    return (
      `DENSITY_K is ${threshold}, but densities in the table were imported with ${promised}: ` +
      `K may be raised, not lowered. Deploy with ${promised}, or use another table`
    );
  }
  const missing = (stored?.precisions ?? []).filter((precision) => !precisions.includes(precision));
  if (missing.length === 0) return undefined;
  return (
    `DENSITY_PRECISIONS is ${precisions.join()}, but densities in the table were imported at ${missing.join()} too: ` +
    "precisions may be added, not removed. Deploy with these, or use another table"
  );
}

/**
 * The data set before the first tile is stored by an import.
 * @param newestDay the latest observed date of the import; undefined for typical weekdays.
 * @returns undefined if it stays as it is.
 */
export function withPublishing(
  stored: DataSet | undefined,
  { threshold, precisions, calendar = stored?.calendar }: Publishing,
  newestDay: string | undefined,
): DataSet | undefined {
  const before = stored ?? nothing;
  const { thresholds } = before;
  const known = thresholds.find((each) => each.threshold === threshold);
  const newest = latestOf(known?.newestDay, newestDay);
  const isKnown = known !== undefined && newest === known.newestDay;
  const all = [...new Set([...before.precisions, ...precisions])].sort((one, other) => one - other);
  const isSameCalendar = JSON.stringify(calendar) === JSON.stringify(before.calendar);
  if (isKnown && isSameCalendar && before.precisions.join() === all.join()) return undefined;
  const added = { threshold, ...(newest === undefined ? {} : { newestDay: newest }) };
  return {
    ...before,
    thresholds:
      known === undefined
        ? [...thresholds, added]
        : thresholds.map((each) => (each === known ? added : each)),
    precisions: all,
    ...(calendar === undefined ? {} : { calendar }),
    revision: before.revision + 1,
  };
}

function latestOf(...days: (string | undefined)[]): string | undefined {
  return days
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
}

/** Older sources are forgotten. */
const maxSources = 20;

/** The data set after an import. */
export function withImport(stored: DataSet | undefined, imported: ImportedData): DataSet {
  const before = stored ?? nothing;
  const boxes = [before.coverage, imported.coverage].filter((box) => box !== undefined);
  const coverage = boxes.length === 0 ? undefined : boxes.reduce(boxAround);
  const outlines = [before.outline, imported.outline].filter((each) => each !== undefined);
  const outline = outlines.length === 0 ? undefined : outlines.reduce(mergedOutline);
  const newestDay = latestOf(before.newestDay, imported.newestDay);
  const { provenance: added } = imported;
  const compared = withComparisons(before.compared ?? [], imported.compared ?? []);
  const others = before.provenance.filter(({ source }) => source !== added?.source);
  return {
    ...before,
    ...(coverage === undefined ? {} : { coverage }),
    ...(outline === undefined ? {} : { outline }),
    ...(newestDay === undefined ? {} : { newestDay }),
    ...(compared.length === 0 ? {} : { compared }),
    provenance: (added === undefined ? others : [added, ...others]).slice(0, maxSources),
    revision: before.revision + 1,
  };
}

/** The data set without what was compared with typical weekdays of a day. @returns undefined if it stays as it is. */
export function withoutComparisons(stored: DataSet, date: string): DataSet | undefined {
  const compared = stored.compared?.filter(({ day }) => day !== date);
  if (compared === undefined || compared.length === stored.compared?.length) return undefined;
  return { ...stored, compared, revision: stored.revision + 1 };
}
