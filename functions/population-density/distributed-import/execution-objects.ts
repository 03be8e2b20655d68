/**
 * What the steps of a distributed import leave for each other in the bucket: JSON, and the rows of each file as
 * partitions. Keys begin with the execution, so that executions do not know each other.
 */

import { gunzipSync, gzipSync } from "node:zlib";
import * as z from "zod/mini";
import { getBytes, keysOf, putBytes } from "../../../shared/aws/objects.ts";
import type { Schema } from "../../../shared/table.ts";
import { judgementThresholds } from "../import/judge/thresholds.ts";
import { importedFile } from "../import/store/journal-store.ts";
import type { Coverage } from "../privacy/parts.ts";
import { outline, provenance } from "../tiles/data-set.ts";
import { finding, findingCodes } from "../tiles/findings.ts";
import { precisionError } from "../tiles/forecast-error.ts";
import { calendarChange, typicalCalendar } from "../tiles/typical-calendar.ts";

/** What an execution is started with. */
export const importOrder = z.object({
  /** The id of the execution: letters, digits and hyphens. */
  id: z.string().check(z.regex(/^[A-Za-z0-9-]{1,80}$/)),
  /** What the keys of the files begin with. */
  prefix: z.string(),
  /** Whether the covered area is in the bucket; otherwise those cells are covered that any row names. */
  hasArea: z.boolean(),
  typical: z.boolean(),
  isRecounted: z.boolean(),
  marketShare: z.number(),
  /** K and precisions that the service announces. */
  threshold: z.number(),
  precisions: z.array(z.number()),
  provenance: z.optional(provenance),
  /** What the import changes of the calendar that typical weekdays follow. */
  calendar: z.optional(calendarChange),
  /** The file of the covered area, for the journal. */
  coverage: z.optional(importedFile),
  /** The number of the import in the journal that is made again, with K and precisions of its time. */
  replay: z.optional(z.number()),
  /** Codes of critical findings that do not refuse it. */
  accepted: z.optional(z.array(z.enum(findingCodes))),
  /** The limits of warnings and refusals; the defaults if absent. */
  thresholds: z.optional(judgementThresholds),
  /** Whether its days stay out of typical weekdays. */
  isExcluded: z.optional(z.boolean()),
});

/** What an execution is started with. */
export type ImportOrder = z.infer<typeof importOrder>;

const point = z.object({ latitude: z.number(), longitude: z.number() });

/** The covered area: its polygons' rings, and the name of the file they are from. */
export const coveredArea = z.object({ file: z.string(), rings: z.array(z.array(point)) });

/** A coverage of tiles by their geohashes, each as base64. */
const tiles = z.record(z.string(), z.string());

/** A partition among the rows of a file. */
const storedPartition = z.object({
  prefix: z.string(),
  /** Counted from 1970. */
  day: z.number(),
  offset: z.number(),
  bytes: z.number(),
});

/** What was read of a file. */
export const readFile = z.object({
  /** As a problem names it. */
  file: z.string(),
  /** The object with its rows. */
  rowsKey: z.string(),
  /** Size of the object as it was read, compressed if it is. */
  bytes: z.number(),
  sha256: z.string(),
  /** Why it is refused, if it is; then nothing else counts. */
  problems: z.array(z.string()),
  rows: z.number(),
  precision: z.optional(z.number()),
  /** The first row of each hour, in their order. */
  hours: z.array(z.object({ day: z.number(), hour: z.number(), line: z.number() })),
  /** The cells that rows name. */
  tiles,
  partitions: z.array(storedPartition),
});

/** What was read of a file. */
export type ReadFile = z.infer<typeof readFile>;

const part = z.object({
  id: z.string(),
  precision: z.number(),
  threshold: z.number(),
  marketShare: z.number(),
});

/** A day that is to be stored. */
const plannedDay = z.object({
  date: z.string(),
  /** Counted from 1970. */
  day: z.number(),
  /** A bit for each hour that is counted. */
  hours: z.number(),
  /** The parts that count before the import, and from then on. */
  parts: z.array(part),
  listed: z.array(part),
  renewed: z.array(z.string()),
  created: z.optional(z.string()),
  /** Revision of the day's list of parts when it was read; undefined if there was none. */
  revision: z.optional(z.number()),
});

/** A day that is to be stored. */
export type PlannedDay = z.infer<typeof plannedDay>;

/** The import as it is to be stored. */
export const plan = z.object({
  precision: z.number(),
  /** The files in the order of their keys: their names, as problems name them, and the objects with their rows. */
  files: z.array(z.object({ file: z.string(), rowsKey: z.string(), bytes: z.number(), sha256: z.string() })),
  rows: z.number(),
  /** Around the covered cells. */
  box: z.optional(z.object({ west: z.number(), south: z.number(), east: z.number(), north: z.number() })),
  /** What typical weekdays follow. */
  calendar: typicalCalendar,
  /** Around the same cells. */
  outline: z.optional(outline),
  /** In ascending order. */
  days: z.array(plannedDay),
});

/** The import as it is to be stored. */
export type Plan = z.infer<typeof plan>;

/** The tiles with a prefix: what is covered, what parts have there, and where their rows are. */
export const prefixPlan = z.object({
  tiles,
  parts: z.array(z.object({ id: z.string(), precision: z.number(), tiles })),
  rows: z.array(z.object({ day: z.number(), file: z.number(), offset: z.number(), bytes: z.number() })),
});

/** The tiles with a prefix. */
export type PrefixPlan = z.infer<typeof prefixPlan>;

/** Problems of the rows with a prefix: duplicate rows, then what conflicts with what is published. */
export const prefixProblems = z.object({
  repeated: z.array(z.object({ file: z.number(), line: z.number() })),
  conflict: z.optional(z.object({ day: z.number(), reason: z.string() })),
});

const numbersOfHours = z.array(z.number());

/** The figures of the rows with a prefix on a day: those of parts as base64, and those of rows. */
export const prefixFigures = z.object({
  parts: z.array(z.object({ part: z.string(), figures: z.string() })),
  rows: z.object({
    rows: numbersOfHours,
    withPeople: numbersOfHours,
    least: numbersOfHours,
    most: numbersOfHours,
    numbers: numbersOfHours,
    leastNumber: numbersOfHours,
  }),
});

const datedFinding = z.object({
  date: z.string(),
  code: z.enum(findingCodes),
  level: z.enum(["critical", "warning"]),
  text: z.string(),
});

/** How the days of an import were judged: what may be kept, and what is printed. */
export const judgement = z.object({
  days: z.array(
    z.object({
      date: z.string(),
      parts: z.array(z.object({ part: z.string(), figures: z.string() })),
      findings: z.array(finding),
    }),
  ),
  found: z.array(datedFinding),
});

/** The number of the import in the journal. */
export const journalled = z.object({ number: z.number() });

/** What was stored of the tiles with a prefix. */
export const storedTiles = z.object({
  items: z.number(),
  changed: z.number(),
  /** In the order of the plan. */
  days: z.array(z.object({ changed: z.number(), errors: z.array(precisionError) })),
});

/** What was stored of the tiles with a prefix. */
export type StoredTiles = z.infer<typeof storedTiles>;

/** The result of an import, as that of an import on one machine. */
export const imported = z.object({
  rows: z.number(),
  /** Items of the table that depend on the rows. */
  items: z.number(),
  /** Items that were written, because they were absent or different. */
  changed: z.number(),
  /** What is unusual about its days; critical ones were accepted. */
  findings: z.array(datedFinding),
});

/** The result of an import, as that of an import on one machine. */
export type Imported = z.infer<typeof imported>;

/** What the keys begin with of what the tasks of a map leave, each its own. */
export const folders = {
  read: (id: string) => `executions/${id}/read/`,
  problems: (id: string) => `executions/${id}/problems/`,
  figures: (id: string, day: number) => `executions/${id}/figures/${day}/`,
  sums: (id: string, day: number) => `executions/${id}/sums/${day}/`,
  stored: (id: string) => `executions/${id}/stored/`,
  failed: (id: string) => `executions/${id}/failed/`,
} as const;

/** Keys of what an execution leaves in the bucket. */
export const keys = {
  area: (id: string) => `executions/${id}/area.json`,
  /** @param file the position that the map gives it. */
  read: (id: string, file: number) => `${folders.read(id)}${String(file).padStart(6, "0")}.json`,
  /** @param file the position that the map gives it. */
  rows: (id: string, file: number) => `executions/${id}/rows/${file}`,
  plan: (id: string) => `executions/${id}/plan.json`,
  /** The list that is mapped over. */
  prefixes: (id: string) => `executions/${id}/prefixes.json`,
  prefix: (id: string, prefix: string) => `executions/${id}/prefixes/${prefix}.json`,
  created: (id: string, created: string) => `executions/${id}/parts/${created}`,
  problems: (id: string, prefix: string) => `${folders.problems(id)}${prefix}.json`,
  figures: (id: string, day: number, prefix: string) => `${folders.figures(id, day)}${prefix}.json`,
  judgement: (id: string) => `executions/${id}/judgement.json`,
  sums: (id: string, day: number, prefix: string) => `${folders.sums(id, day)}${prefix}.json`,
  stored: (id: string, prefix: string) => `${folders.stored(id)}${prefix}.json`,
  journalled: (id: string) => `executions/${id}/journalled.json`,
  imported: (id: string) => `executions/${id}/imported.json`,
  failed: (id: string, prefix: string) => `${folders.failed(id)}${prefix}.json`,
} as const;

/** Writes a value as compressed JSON. */
export async function putJson(key: string, value: unknown): Promise<void> {
  await putBytes(key, gzipSync(JSON.stringify(value), { level: 1 }));
}

/** Reads a value that `putJson` wrote. */
export async function getJson<Value>(schema: Schema<Value>, key: string): Promise<Value> {
  return schema.parse(JSON.parse(gunzipSync(await getBytes(key)).toString()));
}

const atOnce = 16;

/** Reads the values below a key, some at a time, in the order of their keys. */
export async function* eachJson<Value>(
  schema: Schema<Value>,
  prefix: string,
): AsyncGenerator<{ readonly key: string; readonly value: Value }> {
  const underWay: Promise<{ key: string; value: Value }>[] = [];
  try {
    for await (const key of keysOf(prefix)) {
      const reading = getJson(schema, key).then((value) => ({ key, value }));
      // Awaited below; that one fails before its turn must not end the process.
      reading.catch(() => undefined);
      underWay.push(reading);
      if (underWay.length === atOnce) yield await (underWay.shift() as (typeof underWay)[number]);
    }
    for (const one of underWay.splice(0)) yield await one;
  } finally {
    await Promise.allSettled(underWay);
  }
}

/** The coverage of tiles as JSON has it, in ascending order. */
export function tilesOf(coverage: Iterable<readonly [string, Uint8Array]>): Record<string, string> {
  return Object.fromEntries(
    [...coverage].map(([geohash, bits]) => [geohash, Buffer.from(bits).toString("base64")]),
  );
}

/** The coverage that `tilesOf` wrote, in ascending order of geohash. */
export function coverageOf(tiles: Readonly<Record<string, string>>): Coverage {
  const sorted = Object.entries(tiles).sort(([one], [other]) => (one < other ? -1 : 1));
  return new Map(sorted.map(([geohash, bits]) => [geohash, new Uint8Array(Buffer.from(bits, "base64"))]));
}
