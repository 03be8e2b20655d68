import { hourMilliseconds } from "../../../../shared/calendar.ts";
import type { AnonymousTile } from "../../privacy/anonymous-tiles.ts";
import { typicalHourOf, weeksRemembered } from "../../privacy/typical-week.ts";
import { ForecastErrors, forecastErrorOf } from "../../tiles/forecast-error.ts";
import { hoursIn, spanAt } from "../../tiles/span.ts";
import { observedDay, typicalDay } from "../../tiles/store.ts";
import type { NewTileSpan } from "../../tiles/table.ts";
import { hoursPerDay, readTileDay, type TileDay } from "../../tiles/tile.ts";
import type { TileHour } from "../../tiles/tile-hour.ts";
import type { TypicalHour, TypicalWeek } from "../../tiles/typical-calendar.ts";
import { firstHourOf } from "../judge/usual.ts";
import type { StoredSpans } from "./stored-spans.ts";

/** A span of a typical weekday that hours of an observed day belong to. */
export interface TypicalSpan {
  /** `spanAt` of a `typicalDay`. */
  readonly span: string;
  readonly weekday: number;
  /** By which the day is named in `madeFrom`; with a time zone a day may have hours of two. */
  readonly dates: readonly string[];
}

/** The hours of a day, UTC, counted from 1970-01-01T00:00Z. */
export function hoursOfDay(date: string): number[] {
  const first = firstHourOf(date);
  return Array.from({ length: hoursPerDay }, (_, hour) => first + hour);
}

function typicalSpanOf({ weekday, ofDay }: TypicalHour): string {
  return spanAt(typicalDay(weekday), ofDay);
}

/** The typical spans of an observed day, in the order of its hours. */
export function typicalSpansOf(date: string, week: TypicalWeek): TypicalSpan[] {
  const spans = new Map<string, TypicalSpan>();
  for (const typical of hoursOfDay(date).map((hour) => week.hourOf(hour))) {
    const span = typicalSpanOf(typical);
    const dates = new Set([...(spans.get(span)?.dates ?? []), typical.date]);
    spans.set(span, { span, weekday: typical.weekday, dates: [...dates] });
  }
  return [...spans.values()];
}

/** What was observed in a tile, as it is published: by this import, and by earlier ones. */
export class ObservedHours {
  readonly #spans: StoredSpans;
  readonly #own: ReadonlyMap<string, Pick<NewTileSpan, "hours">>;
  readonly #read = new Map<string, TileDay>();

  /** @param own the spans of the imported day. */
  constructor(spans: StoredSpans, own: ReadonlyMap<string, Pick<NewTileSpan, "hours">>) {
    this.#spans = spans;
    this.#own = own;
  }

  /** @returns the hours of which anything is stored. */
  async at(hours: readonly number[]): Promise<TileHour[]> {
    const located = hours.map((hour) => {
      const [date = "", time = ""] = new Date(hour * hourMilliseconds).toISOString().split("T");
      const ofDay = Number(time.slice(0, 2));
      return { ofDay, span: spanAt(observedDay(date), ofDay) };
    });
    const unread = located.map(({ span }) => span).filter((span) => !this.#own.has(span));
    const stored = await this.#spans.of(unread);
    return located.flatMap(({ ofDay, span }) => {
      const item = this.#own.get(span) ?? stored.get(span);
      const day = this.#read.get(span) ?? (item && readTileDay(item.hours));
      if (day === undefined) return [];
      this.#read.set(span, day);
      return day.openHour(ofDay) ?? [];
    });
  }
}

/** A typical span as it is made from observed days. */
export interface AveragedSpan {
  /** 24, with those that were observed. */
  readonly hours: readonly (TileHour | undefined)[];
  /**
   * The latest days of each hour, one more than are averaged: then it is known what the span would be without one of
   * them.
   */
  readonly madeFrom: string[];
}

/**
 * Makes a typical span from the latest days of each of its hours.
 * @param known the dates of days that may have been observed.
 */
export async function averagedSpan(
  { span, weekday }: Pick<TypicalSpan, "span" | "weekday">,
  known: readonly string[],
  week: TypicalWeek,
  observed: ObservedHours,
): Promise<AveragedSpan> {
  const latest = [...new Set(known)].sort().reverse();
  const used = new Set<string>();
  const hours: (TileHour | undefined)[] = [];
  const isOfSpan = hoursIn(span, Array(hoursPerDay).fill(true));
  for (const [ofDay, isHere] of isOfSpan.entries()) {
    if (isHere !== true) {
      hours.push(undefined);
      continue;
    }
    const dates = datesOf(latest, { weekday, ofDay }, week);
    for (const date of dates.slice(0, weeksRemembered + 1)) used.add(date);
    hours.push(await typicalHourFrom(dates, { weekday, ofDay }, week, observed));
  }
  return { hours, madeFrom: latest.filter((date) => used.has(date)) };
}

/** Those dates that have hours of a typical hour. */
function datesOf(
  dates: readonly string[],
  typical: Omit<TypicalHour, "date">,
  week: TypicalWeek,
): readonly string[] {
  return dates.filter((date) => week.hoursOf({ ...typical, date }).length > 0);
}

/** @param dates the latest first. */
async function typicalHourFrom(
  dates: readonly string[],
  typical: Omit<TypicalHour, "date">,
  week: TypicalWeek,
  observed: ObservedHours,
): Promise<TileHour | undefined> {
  const averaged = dates.slice(0, weeksRemembered);
  return typicalHourOf(await observed.at(averaged.flatMap((date) => week.hoursOf({ ...typical, date }))));
}

/**
 * How far the typical hours that were stored before an import are from what it publishes of an observed day: of the
 * hours and cells that it has counted. Where the day is already among those that a typical hour is made from, the
 * others make it.
 */
export async function forecastErrorsOf(
  { date, week }: { readonly date: string; readonly week: TypicalWeek },
  { precision, parts }: Pick<AnonymousTile, "parts" | "precision">,
  coverage: Uint8Array,
  spans: StoredSpans,
  observed: ObservedHours,
): Promise<ForecastErrors> {
  const errors = new ForecastErrors();
  for (const [ofDay, hour] of hoursOfDay(date).entries()) {
    if (parts[0]?.hours[ofDay] === undefined) continue;
    const forecast = await forecastOf(week.hourOf(hour), week, spans, observed);
    const [published] = forecast === undefined ? [] : await observed.at([hour]);
    if (forecast === undefined || published === undefined) continue;
    const error = forecastErrorOf(forecast.hour, published, coverage, forecast.weeks);
    if (error !== undefined) errors.add(precision, error);
  }
  return errors;
}

/** What was stored of a typical hour, made from other days than its own; and from how many. */
async function forecastOf(
  typical: TypicalHour,
  week: TypicalWeek,
  spans: StoredSpans,
  observed: ObservedHours,
): Promise<{ readonly hour: TileHour; readonly weeks: number } | undefined> {
  const span = typicalSpanOf(typical);
  const stored = (await spans.of([span])).get(span);
  if (stored === undefined) return undefined;
  const { date } = typical;
  const others = datesOf(stored.madeFrom, typical, week).filter((each) => each !== date);
  const hour = stored.madeFrom.includes(date)
    ? await typicalHourFrom(others, typical, week, observed)
    : readTileDay(stored.hours).openHour(typical.ofDay);
  return hour && { hour, weeks: Math.min(others.length, weeksRemembered) };
}
