/**
 * An attack on densities. A world is one possible count of people in a few cells, imported once or several times. All
 * worlds of a scenario are imported, each into its own hour, and every possible request is sent. Worlds with the same
 * answers cannot be distinguished, so the answers disclose exactly what all of these worlds have in common. The attack
 * does not know how the published numbers are made, and misses nothing that they disclose.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cellOf, geohashAt, gridOf } from "../../../functions/population-density/cover/geohash.ts";
import type { JudgementThresholds } from "../../../functions/population-density/import/judge/thresholds.ts";
import { excludeDay } from "../../../functions/population-density/import/publish/exclude-day.ts";
import { recordExclusion } from "../../../functions/population-density/import/store/exclusion-store.ts";
import { dataSetKey } from "../../../functions/population-density/tiles/data-set-store.ts";
import { type FindingCode, findingCodes } from "../../../functions/population-density/tiles/findings.ts";
import { qualityKey } from "../../../functions/population-density/tiles/quality-store.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { deleteItem } from "../../../shared/aws/database.ts";
import { dayMilliseconds, dayOf, hourMilliseconds } from "../../../shared/calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { temporaryFolder } from "../../../shared/temporary-folder.ts";
import { importDensity } from "../../../tools/import/density/import-density.ts";

/** One import. */
export interface ImportStep {
  /**
   * The cells it covers: the last characters of their geohashes, as many in all steps, and the number of the unknown
   * that is counted in them. The same unknown in two steps was counted the same both times. They are published in as
   * many coarser precisions as there are characters.
   */
  readonly cells: Readonly<Record<string, number>>;
  /** The days are those of so many weeks before the last one. */
  readonly weeksAgo?: number;
  readonly marketShare?: number;
  /** The range that the file gives for a count. */
  readonly rangeOf?: (count: number) => readonly [min: number, max: number];
  readonly isTypical?: boolean;
}

/** The days of a week leave typical weekdays, or are taken back into them. */
interface ExclusionStep {
  readonly isExcluded: boolean;
  readonly weeksAgo: number;
}

/** What changes what is published. */
type Step = ExclusionStep | ImportStep;

/** What is imported, and in how many ways it may have been counted. */
export interface Scenario {
  readonly name: string;
  /** K. */
  readonly threshold: number;
  /** The counts that each unknown may have. All below K are among them. */
  readonly unknowns: readonly (readonly number[])[];
  readonly steps: readonly Step[];
  /** A code that the judgement finds in it, and capabilities tell. */
  readonly finding?: FindingCode;
}

/** What a caller may ask for; each is answered with 200. */
export interface Service {
  /** Sends the body of a request for densities. */
  readonly retrieve: (body: unknown) => Promise<unknown>;
  /** What capabilities say of observed days. */
  readonly quality: () => Promise<readonly { readonly findings: readonly unknown[] }[]>;
}

/** The result of an attack. */
export interface Findings {
  readonly worlds: number;
  /** Different answers. */
  readonly answers: number;
  /** Suppressed cells whose count is the same in all worlds with the same answers, with the first such world. */
  readonly determined: readonly string[];
  /** Suppressed cells for which a number below K is in no such world. */
  readonly excluded: readonly string[];
  /**
   * What capabilities say of the days after each step, as JSON; and what they say when every world is exchanged for
   * another one with the same answers.
   */
  readonly quality: readonly string[];
  readonly exchangedQuality: readonly string[];
}

const callMilliseconds = 30_000;

/** The precision of the cells that are counted. */
const finest = 7;
/** The precision of a scenario's place: two places have no cell of this or a finer precision in common. */
const placePrecision = 3;
const hoursPerDay = 24;
const hoursPerWeek = 7 * hoursPerDay;
const weekMilliseconds = 7 * dayMilliseconds;
/** The same for all worlds, also when a day ends during the attack. */
const lastWeek = Math.floor(Date.now() / dayMilliseconds) * dayMilliseconds - weekMilliseconds;

/** Where the next scenario is: in rows of the Southern Ocean, a process begins somewhere. */
let [row, column] = [8 + Math.floor(20 * Math.random()), 0];

/** Cells of the coarsest precision that is asked, which no scenario had, in one row: there all have the same area. */
function freshPlaces(count: number, coarsest: number): string[] {
  const { columns } = gridOf(placePrecision);
  if (count > columns) throw new Error(`${count} places do not fit into a row`);
  if (column + count > columns) [row, column] = [row + 1, 0];
  const first = column;
  column += count;
  return Array.from({ length: count }, (_, index) =>
    geohashAt(row, first + index, placePrecision).padEnd(coarsest, "0"),
  );
}

/** So low that the smallest difference is a finding. */
const lowThresholds: JudgementThresholds = {
  people: { warning: 0.01, critical: 0.02 },
  suppressed: { warning: 0.01, critical: 0.02 },
  largest: { warning: 1.01, critical: 1.02 },
  emptyTiles: { warning: 0.01, critical: 0.02 },
  rows: { warning: 0.9, critical: 0.8 },
  deviations: 0.01,
  leastPeople: 1,
  tile: { people: 1, left: 0.9 },
  equal: 2,
};

type World = readonly number[];

/**
 * Imports every world of a scenario into the table of a service that nothing else uses, sends every request after each
 * step, and reports what the answers disclose.
 */
export async function attack(scenario: Scenario, service: Service): Promise<Findings> {
  const { name, threshold, unknowns, steps } = scenario;
  const worlds = productOf(unknowns);
  const { seen, suppressed, quality } = await observe(scenario, worlds, service);
  const groups = new Map<string, number[]>();
  for (const world of worlds.keys()) {
    const answers = answersIn(seen, world);
    groups.set(answers, [...(groups.get(answers) ?? []), world]);
  }
  const determined: string[] = [];
  const excluded: string[] = [];
  const shown = (what: string, group: readonly number[]) =>
    `${name}: ${what} of ${JSON.stringify(worlds[group[0] ?? 0])}, one of ${group.length} worlds`;
  for (const group of groups.values()) {
    const [first = 0] = group;
    for (const protectedSum of sumsOf(
      worlds[first] ?? [],
      threshold,
      steps,
      suppressed[first] ?? new Set(),
    )) {
      const values = new Set(
        group.map((world) => sum(protectedSum.unknowns.map((each) => worlds[world]?.[each] ?? 0))),
      );
      if (values.size === 1) determined.push(shown(protectedSum.name, group));
      for (let value = 0; value < threshold; value++) {
        if (!values.has(value)) excluded.push(shown(`${value} in ${protectedSum.name}`, group));
      }
    }
  }
  const exchanged = worlds.map((_, world) => lastOf(groups.get(answersIn(seen, world))));
  const withOthers = await observe(
    scenario,
    exchanged.map((world) => worlds[world] ?? []),
    { quality: service.quality },
  );
  return {
    worlds: worlds.length,
    answers: groups.size,
    determined,
    excluded,
    quality,
    exchangedQuality: withOthers.quality,
  };
}

function lastOf(group: readonly number[] = []): number {
  return group.at(-1) ?? 0;
}

/** All that was answered of a world, as one text. */
function answersIn(seen: readonly (readonly string[])[], world: number): string {
  return (seen[world] ?? []).join();
}

function precisionsOf(steps: readonly Step[]): number[] {
  const cells = steps.flatMap((step) => ("cells" in step ? Object.keys(step.cells) : []));
  const [differing = 0, ...others] = new Set(cells.map((cell) => cell.length));
  if (others.length > 0) throw new Error("cells of a scenario differ in different numbers of characters");
  return Array.from({ length: differing + 1 }, (_, finer) => finest - differing + finer);
}

/** What callers learn of worlds. */
interface Observed {
  /** What was answered after each step, for each world. */
  readonly seen: readonly (readonly string[])[];
  /** The cells that are suppressed at the end, for each world. */
  readonly suppressed: readonly ReadonlySet<string>[];
  /** After each step, as JSON. */
  readonly quality: readonly string[];
}

/** Takes the steps of a scenario, and asks after each of them; for densities only if the service has them. */
async function observe(
  { threshold, steps }: Scenario,
  worlds: readonly World[],
  { retrieve, quality }: Partial<Service> & Pick<Service, "quality">,
): Promise<Observed> {
  // Each scenario has a K of its own, and cells that no other has: it begins as in a new table.
  for (const key of [dataSetKey, qualityKey])
    await deleteItem(densities, key, {}, AbortSignal.timeout(callMilliseconds));
  const places = freshPlaces(Math.ceil(worlds.length / hoursPerWeek), Math.min(...precisionsOf(steps)));
  const days = Math.min(7, Math.ceil(worlds.length / hoursPerDay));
  // The week to come is answered from typical days: of one observed day they are the same.
  const nextWeek = lastWeek + 2 * weekMilliseconds;
  const asksTypical = steps.some(
    (step) => !("cells" in step) || step.isTypical === true || (step.weeksAgo ?? 0) > 0,
  );
  const seen: string[][] = worlds.map(() => []);
  const suppressed: Set<string>[] = worlds.map(() => new Set());
  const told: string[] = [];
  const askedWeeks = new Set<number>();
  const cells = new Set<string>();
  const excluded = new Set<string>();
  for (const step of steps) {
    const start = lastWeek - (step.weeksAgo ?? 0) * weekMilliseconds;
    const isImport = "cells" in step;
    if (!isImport) {
      for (const date of datesFrom({ start, days })) {
        await excludeDay(date, step.isExcluded);
        excluded.add(date);
      }
    } else {
      // A refused import discloses nothing.
      if (!(await isImported(step, threshold, worlds, places, { start, days }))) continue;
      if (step.isTypical !== true) askedWeeks.add(start);
      for (const cell of Object.keys(step.cells)) cells.add(cell);
    }
    told.push(JSON.stringify(await quality()));
    if (retrieve === undefined) continue;
    for (const week of asksTypical ? [...askedWeeks, nextWeek] : askedWeeks) {
      for (const [index, place] of places.entries()) {
        for (const ancestor of ancestorsOf(cells)) {
          const slots = await answersOf(
            retrieve,
            place + ancestor,
            { start: week, days },
            week === nextWeek ? lastWeek : week,
          );
          for (const [hour, slot] of slots.entries()) {
            const world = index * hoursPerWeek + hour;
            seen[world]?.push(slot);
            if (isImport && (week !== nextWeek || step.isTypical === true)) {
              if (slot.startsWith("LOW")) suppressed[world]?.add(ancestor);
              else suppressed[world]?.delete(ancestor);
            }
          }
        }
      }
    }
  }
  // The next worlds have other places on the same days.
  for (const date of excluded) await recordExclusion(date, false);
  return { seen, suppressed, quality: told };
}

/** The days of a week that have worlds. */
interface Period {
  /** An epoch millisecond at midnight. */
  readonly start: number;
  readonly days: number;
}

function datesFrom({ start, days }: Period): string[] {
  return Array.from({ length: days }, (_, day) => dayOf(new Date(start + day * dayMilliseconds)));
}

/** What must not be disclosed: each unknown below K, and the people of each suppressed coarser cell of one import. */
function sumsOf(
  world: readonly number[],
  threshold: number,
  steps: readonly Step[],
  suppressed: ReadonlySet<string>,
): { readonly name: string; readonly unknowns: readonly number[] }[] {
  const single = world.flatMap((count, unknown) =>
    count < threshold ? [{ name: `unknown ${unknown}`, unknowns: [unknown] }] : [],
  );
  if (steps.length > 1) return single;
  const [step] = steps;
  const cells = step !== undefined && "cells" in step ? step.cells : {};
  const coarser = [...suppressed].map((ancestor) => ({
    name: `cell …${ancestor}`,
    unknowns: Object.entries(cells).flatMap(([cell, unknown]) =>
      cell.startsWith(ancestor) ? [unknown] : [],
    ),
  }));
  return [...single, ...coarser];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function productOf(unknowns: readonly (readonly number[])[]): number[][] {
  return unknowns.reduce<number[][]>(
    (worlds, counts) => worlds.flatMap((world) => counts.map((count) => [...world, count])),
    [[]],
  );
}

/** Every cell of every precision that has one of the cells in it, without what all places have in common. */
function ancestorsOf(cells: ReadonlySet<string>): string[] {
  const all = [...cells].flatMap((cell) =>
    Array.from({ length: cell.length + 1 }, (_, end) => cell.slice(0, end)),
  );
  return [...new Set(all)].sort();
}

/** @returns false when the import is refused because of what was published before. */
async function isImported(
  step: ImportStep,
  threshold: number,
  worlds: readonly World[],
  places: readonly string[],
  { start, days }: Period,
): Promise<boolean> {
  const folder = temporaryFolder("network-capabilities-attack-");
  try {
    const path = join(folder.path, "counted.csv");
    const lines = ["geohash,startTime,people,minPeople,maxPeople"];
    for (const [index, place] of places.entries()) {
      for (let hour = 0; hour < days * hoursPerDay; hour++) {
        // What is left of the last place repeats the first world: every hour of a place must have every cell.
        const world = worlds[index * hoursPerWeek + hour] ?? worlds[0];
        const startTime = new Date(start + hour * hourMilliseconds).toISOString();
        for (const [cell, unknown] of Object.entries(step.cells)) {
          const count = world?.[unknown] ?? 0;
          const [min = "", max = ""] = step.rangeOf?.(count) ?? [];
          lines.push([place + cell, startTime, count, min, max].join());
        }
      }
    }
    await writeFile(path, lines.join("\n"));
    await importDensity({
      files: [path],
      typical: step.isTypical === true,
      precisions: precisionsOf([step]),
      threshold,
      accepted: findingCodes,
      thresholds: lowThresholds,
      ...(step.marketShare === undefined ? {} : { marketShare: step.marketShare }),
    });
    return true;
  } catch (error) {
    if (error instanceof ImportError && error.message.includes("was published")) return false;
    throw error;
  } finally {
    folder.remove();
  }
}

const answer = z.object({
  timedPopulationDensityData: z.array(
    z.object({
      cellPopulationDensityData: z.tuple([z.record(z.string(), z.union([z.string(), z.number()]))]),
    }),
  ),
});

/**
 * What is answered of a cell in each hour of some days of a week, the hours of the other week in their order.
 * @param first when the week begins in whose order the hours come.
 */
async function answersOf(
  retrieve: Service["retrieve"],
  geohash: string,
  { start, days }: Period,
  first: number,
): Promise<string[]> {
  if ((start - first) % weekMilliseconds !== 0) throw new Error("weeks begin on different days");
  const precision = geohash.length;
  const { cellHeight, cellWidth } = gridOf(precision);
  const cell = cellOf(geohash);
  const corner = (north: number, east: number) => ({
    latitude: (cell.row + north) * cellHeight - 90,
    longitude: (cell.column + east) * cellWidth - 180,
  });
  const body = await retrieve({
    area: {
      areaType: "POLYGON",
      boundary: [corner(0.25, 0.25), corner(0.25, 0.75), corner(0.75, 0.75), corner(0.75, 0.25)],
    },
    startTime: new Date(start).toISOString(),
    endTime: new Date(start + days * dayMilliseconds).toISOString(),
    precision,
  });
  return answer.parse(body).timedPopulationDensityData.map(({ cellPopulationDensityData: [slot] }) => {
    const { dataType, pplDensity, minPplDensity, maxPplDensity } = slot;
    return dataType === "DENSITY_ESTIMATION"
      ? [pplDensity, minPplDensity, maxPplDensity].join("/")
      : String(dataType);
  });
}
