import { coverOf, type Tile } from "../cover/cover.ts";
import type { AskedHour } from "../query/intervals.ts";
import type { DensityQuery } from "../query/parse.ts";
import { readDataSet } from "../tiles/data-set-store.ts";
import { spanAt } from "../tiles/span.ts";
import { observedDay, publishedSpans, tileName, typicalDay } from "../tiles/store.ts";
import { coverageBytes, isCovered, type TileDay } from "../tiles/tile.ts";
import type { TileHour } from "../tiles/tile-hour.ts";
import { type TypicalWeek, typicalWeekOf, utcCalendar } from "../tiles/typical-calendar.ts";
import type { Basis } from "./basis.ts";
import type { Answer } from "./json.ts";
import { overWholeCells } from "./whole-cells.ts";

/**
 * Reads all tiles of a query and returns its answer (behaviour section 7). An hour that has begun comes from the
 * observed day, or from the typical weekday where nothing was observed; a future hour comes from the typical weekday.
 * Typical weekdays follow the calendar of the imports, and are read only where the observed days do not suffice.
 * @throws {Unavailable} when the store does not answer.
 */
export async function answerTo(
  { polygon, asked, precision }: DensityQuery,
  signal: AbortSignal,
): Promise<Answer> {
  const tiles = coverOf(polygon, precision);
  const names = tiles.map(({ geohash }) => tileName(precision, geohash));
  const [observed, dataSet] = await Promise.all([
    publishedSpans(
      names.map((tile) => ({ tile, spans: distinct(asked.map(observedSpan)) })),
      signal,
    ),
    readDataSet(signal),
  ]);
  const week = typicalWeekOf(dataSet?.calendar ?? utcCalendar);
  const spansAsked = asked.map((hour) => spansOfHour(hour, week));
  const missing = tiles.map((tile, index) => missingSpans(tile, observed[index], spansAsked));
  const typical = await publishedSpans(
    names.map((tile, index) => ({ tile, spans: missing[index] ?? [] })),
    signal,
  );
  const spansOf = tiles.map((_, index) => new Map([...(observed[index] ?? []), ...(typical[index] ?? [])]));
  const status = statusOf(tiles, spansOf);
  if (status === "AREA_NOT_SUPPORTED") {
    return { status, precision, tiles: [], hours: [], openHour: () => undefined, basisOf: () => undefined };
  }
  return {
    status,
    precision,
    tiles,
    hours: asked.map(({ hour }) => hour),
    openHour: (tile, hour) => openHour(spansOf[tile], spansAsked[hour]),
    basisOf: (tile, hour) => basisOf(spansOf[tile], spansAsked[hour]),
  };
}

/** Spans of a tile by `spanAt`. */
type Spans = ReadonlyMap<string, TileDay>;

/** Where an hour may be stored. */
interface HourSpans {
  /** Undefined for an hour that is still to come. */
  readonly observed: string | undefined;
  /** The hour of its day, UTC. */
  readonly observedHour: number;
  readonly weekday: number;
  readonly typical: string;
  /** The hour of the typical weekday. */
  readonly typicalHour: number;
}

function spansOfHour(asked: AskedHour, week: TypicalWeek): HourSpans {
  const { weekday, ofDay } = week.hourOf(asked.hour);
  return {
    observed: observedSpan(asked),
    observedHour: asked.ofDay,
    weekday,
    typical: spanAt(typicalDay(weekday), ofDay),
    typicalHour: ofDay,
  };
}

function observedSpan({ date, ofDay }: AskedHour): string | undefined {
  return date === undefined ? undefined : spanAt(observedDay(date), ofDay);
}

function distinct(spans: readonly (string | undefined)[]): string[] {
  return [...new Set(spans.filter((span) => span !== undefined))];
}

/**
 * The spans of typical weekdays that a tile's answer needs: of hours that were not observed. If the observed days do
 * not cover all of its cells, a weekday may: any of its spans says so.
 */
function missingSpans({ cells }: Tile, observed: Spans = new Map(), asked: readonly HourSpans[]): string[] {
  const coverage = coverageOf(observed);
  const isAllCovered = cells.every((cell) => isCovered(coverage, cell));
  const weekdays = isAllCovered
    ? []
    : new Map(asked.map(({ weekday, typical }) => [weekday, typical])).values();
  const unobserved = asked.filter((hour) => !isObserved(observed, hour));
  return distinct([...unobserved.map(({ typical }) => typical), ...weekdays]);
}

/** The cells that are covered on any of the days. */
function coverageOf(spans: Spans): Uint8Array {
  const all = new Uint8Array(coverageBytes);
  for (const { coverage } of spans.values()) {
    for (let byte = 0; byte < coverageBytes; byte++) all[byte] = (all[byte] ?? 0) | (coverage[byte] ?? 0);
  }
  return all;
}

/** How much of a cover is covered on any of the days. */
function statusOf(tiles: readonly Tile[], spansOf: readonly Spans[]) {
  let covered = 0;
  let all = 0;
  for (const [index, { cells }] of tiles.entries()) {
    const coverage = coverageOf(spansOf[index] ?? new Map());
    all += cells.length;
    for (const cell of cells) if (isCovered(coverage, cell)) covered++;
  }
  if (covered === 0) return "AREA_NOT_SUPPORTED";
  return covered === all ? "SUPPORTED_AREA" : "PART_OF_AREA_NOT_SUPPORTED";
}

function openHour(spans: Spans | undefined, asked: HourSpans | undefined): TileHour | undefined {
  if (spans === undefined || asked === undefined) return undefined;
  const stored = isObserved(spans, asked)
    ? spans.get(asked.observed ?? "")?.openHour(asked.observedHour)
    : spans.get(asked.typical)?.openHour(asked.typicalHour);
  return stored && overWholeCells(stored);
}

function basisOf(spans: Spans | undefined, asked: HourSpans | undefined): Basis | undefined {
  if (spans === undefined || asked === undefined) return undefined;
  if (isObserved(spans, asked)) return "OBSERVED";
  return spans.get(asked.typical)?.hasHour(asked.typicalHour) === true ? "TYPICAL" : undefined;
}

function isObserved(spans: Spans, { observed, observedHour }: HourSpans): boolean {
  return spans.get(observed ?? "")?.hasHour(observedHour) === true;
}
