/** What a timeline marks among its hours: days, nights and labelled hours. */
import { clockLabel, dateOf, dayLabel, hourOfDay } from "../base/time.ts";

/** Consecutive hours: from the first up to the last, which is not among them. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The hours that are shaded: from 22:00 to 06:00. */
export const night = { from: 22, to: 6 } as const;

/** The days of some hours, in the chosen time zone. */
export function daysOf(starts: readonly Date[]): Span[] {
  return spansOf(starts.map(dateOf));
}

/** The nights among some hours, in the chosen time zone. */
export function nightsOf(starts: readonly Date[]): Span[] {
  const isNight = starts.map((start) => hourOfDay(start) >= night.from || hourOfDay(start) < night.to);
  return spansOf(isNight).filter(({ from }) => isNight[from]);
}

function spansOf(keys: readonly unknown[]): Span[] {
  const firsts = keys.flatMap((key, index) => (index > 0 && key === keys[index - 1] ? [] : [index]));
  return firsts.map((from, place) => ({ from, to: firsts[place + 1] ?? keys.length }));
}

/** A label at the start of an hour. */
export interface Tick {
  readonly hour: number;
  readonly text: string;
  readonly isDay: boolean;
}

/** The space that a label of a day, and of an hour, takes in pixels. */
const [dayWidth, hourWidth] = [84, 42];

/** The labels for which there is room: days first, then as many hours of the day as fit between them. */
export function ticksOf(starts: readonly Date[], width: number): Tick[] {
  const pixels = width / Math.max(1, starts.length);
  const days = labelledDays(
    daysOf(starts).map(({ from }) => from),
    starts.length,
    dayWidth / pixels,
  );
  const step = [1, 2, 3, 6, 12].find((hours) => hours * pixels >= hourWidth) ?? 24;
  const isFree = (hour: number) =>
    (starts.length - hour) * pixels >= hourWidth &&
    days.every((day) => Math.abs(day - hour) * pixels >= (day < hour ? dayWidth : hourWidth));
  return starts.flatMap((start, hour): Tick[] => {
    if (days.includes(hour)) return [{ hour, text: dayLabel(start), isDay: true }];
    if (step === 24 || hourOfDay(start) % step !== 0 || !isFree(hour)) return [];
    return [{ hour, text: clockLabel(start), isDay: false }];
  });
}

/** The first hours of days that are far enough from each other; the rest of a first day gives way to a whole one. */
function labelledDays(firsts: readonly number[], count: number, room: number): number[] {
  const candidates =
    (firsts[1] ?? room) < room && count - (firsts[1] ?? count) >= room ? firsts.slice(1) : firsts;
  const labelled: number[] = [];
  for (const hour of candidates) {
    const isAlone = labelled.length === 0;
    if (isAlone || (hour - (labelled.at(-1) ?? 0) >= room && count - hour >= room)) labelled.push(hour);
  }
  return labelled;
}
