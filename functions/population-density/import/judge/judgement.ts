/**
 * The judgement of a day before it is published: by itself, and next to the same typical hours of the last weeks. Usual
 * is what is near the median of these weeks, so that one bad week spoils nothing.
 */
import { hourMilliseconds } from "../../../../shared/calendar.ts";
import { plural } from "../../../../shared/plural.ts";
import { type Finding, type FindingCode, findingCodes } from "../../tiles/findings.ts";
import { hoursPerDay } from "../../tiles/tile.ts";
import type { TypicalWeek } from "../../tiles/typical-calendar.ts";
import { type Figures, hasHour } from "./figures.ts";
import type { RowFigures } from "./row-sums.ts";
import { shiftOf, shiftText } from "./shifted-hours.ts";
import { countText, lastWeeks, peopleText, percentText, rangesText } from "./texts.ts";
import type { JudgementThresholds } from "./thresholds.ts";
import {
  type ComparedHour,
  deviationOf,
  type EarlierDay,
  firstHourOf,
  leastWeeks,
  median,
  UsualHours,
} from "./usual.ts";

/** A day that an import is about to publish. */
export interface DayToJudge {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  /** Figures of its parts; all are counted in the same hours. */
  readonly figures: readonly Figures[];
  readonly rows: RowFigures;
  /** Hours that are published of the same parts, a bit each; the import leaves them as they are. */
  readonly hoursBefore: number;
}

/** What days are judged by. */
export interface Yardstick {
  readonly earlier: readonly EarlierDay[];
  readonly week: TypicalWeek;
  readonly timeZone: string;
  readonly thresholds: JudgementThresholds;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A finding of the import. */
export interface FoundFinding extends Finding {
  /** Whether it follows from published numbers alone; only then it may be kept and told. */
  readonly isPublic: boolean;
}

/** A finding in one hour. */
interface HourFinding {
  readonly code: FindingCode;
  readonly isCritical: boolean;
  readonly hour: number;
  /** The hour with the largest one is described. */
  readonly size: number;
  /** @param several whether it is the largest of several. */
  readonly text: (several: boolean) => string;
  readonly isPublic: boolean;
}

const allHours = Array.from({ length: hoursPerDay }, (_, hour) => hour);

/**
 * What is unusual about a day, in the order of codes: of each code one finding, or two where one of them may be told and
 * the other not.
 */
export function judgeDay(day: DayToJudge, yardstick: Yardstick): FoundFinding[] {
  const usual = new UsualHours(day.date, day.figures, yardstick.earlier, yardstick.week);
  const hours = allHours.map((hour) =>
    isCounted(day, hour) ? usual.compared(hour, yardstick.thresholds.tile) : undefined,
  );
  const found = [
    ...missingHours(day, usual, yardstick),
    ...judgedRows(day, usual, yardstick.thresholds),
    ...hours.flatMap((hour) => (hour === undefined ? [] : judgedHour(hour, day.date, yardstick))),
  ];
  return findingCodes.flatMap((code) =>
    [true, false].flatMap((isPublic) => {
      // What is public must not depend on what is not.
      const alike = found.filter((each) => each.code === code && each.isPublic === isPublic);
      if (alike.length === 0) return [];
      const finding = together(alike, day.date, yardstick);
      const shifted = code === "PEOPLE_UNUSUAL" ? shiftOfDay(hours, day.date, yardstick) : "";
      return [{ ...finding, text: `${finding.text}${shifted}` }];
    }),
  );
}

/** What to add about a day whose people are those of other hours; nothing where they are not. */
function shiftOfDay(
  hours: readonly (ComparedHour | undefined)[],
  date: string,
  { week, timeZone }: Pick<Yardstick, "timeZone" | "week">,
): string {
  const people = hours.map(
    (hour) => hour && { now: hour.now.people, usual: median(hour.weeks.map(({ people: each }) => each)) },
  );
  const shift = shiftOf(people);
  if (shift === 0) return "";
  const localHour = Number(week.localTimeOf(firstHourOf(date)).time.slice(0, 2));
  return `; ${shiftText(shift, timeZone === "UTC" ? undefined : localHour)}`;
}

function isCounted({ figures }: DayToJudge, hour: number): boolean {
  return figures.some((each) => hasHour(each, hour));
}

/** One finding of those in several hours, in the words of the largest one. */
function together(
  found: readonly HourFinding[],
  date: string,
  { week, timeZone }: Pick<Yardstick, "timeZone" | "week">,
): FoundFinding {
  const largest = found.reduce((one, other) => (other.size > one.size ? other : one));
  const hours = found.map(({ hour }) => hour).sort((one, other) => one - other);
  const ranges = () =>
    rangesText(
      hours.map((hour) => firstHourOf(date) + hour),
      week,
    );
  const times = hours.length === hoursPerDay ? "all day (UTC)" : `${ranges()} ${timeZone}`;
  return {
    code: largest.code,
    level: found.some(({ isCritical }) => isCritical) ? "critical" : "warning",
    hours,
    text: `${times}: ${largest.text(hours.length > 1)}`,
    isPublic: largest.isPublic,
  };
}

/** Hours that the files do not name, although they are over and earlier weeks have them, or hours around them are there. */
function missingHours(day: DayToJudge, usual: UsualHours, { now }: Yardstick): HourFinding[] {
  const isThere = (hour: number) => isCounted(day, hour) || ((day.hoursBefore >> hour) & 1) === 1;
  const there = allHours.filter(isThere);
  const [first = hoursPerDay, last = 0] = [there.at(0), there.at(-1)];
  return allHours.flatMap((hour): HourFinding[] => {
    const isOver = (firstHourOf(day.date) + hour + 1) * hourMilliseconds <= now;
    if (isThere(hour) || !isOver) return [];
    const weeks = usual.weeksWith(hour);
    if (weeks < leastWeeks && (hour < first || hour > last)) return [];
    const text = (several: boolean) =>
      weeks < leastWeeks
        ? "not in the files, which name hours before and after"
        : `not in the files, although ${weeks} weeks before have ${several ? "them" : "it"}`;
    return [{ code: "HOURS_MISSING", isCritical: false, hour, size: weeks, text, isPublic: true }];
  });
}

/** Fewer hours of a day say nothing about how many rows are usual. */
const leastHours = 3;

/**
 * Hours with too few rows, and hours in which all are equal. They refuse an import only where weeks before it are
 * published: anyone who tries the service may import any numbers.
 */
function judgedRows(day: DayToJudge, usual: UsualHours, thresholds: JudgementThresholds): HourFinding[] {
  const { rows, withPeople, least, most, numbers, leastNumber } = day.rows;
  const hours = allHours.filter((hour) => isCounted(day, hour));
  const middle = median(hours.map((hour) => rows[hour] as number));
  return hours.flatMap((hour) => {
    // With two hours, neither is the usual one.
    const share = hours.length < leastHours ? 1 : (rows[hour] as number) / middle;
    const mayRefuse = usual.weeksWith(hour) >= leastWeeks;
    const found: HourFinding[] = [];
    if (share < thresholds.rows.warning) {
      const isCritical = share < thresholds.rows.critical;
      // Rows of suppressed cells are among them: their number is not printed.
      const limit = percentText(isCritical ? thresholds.rows.critical : thresholds.rows.warning);
      found.push({
        code: "ROWS_MISSING",
        isCritical: mayRefuse && isCritical,
        hour,
        size: 1 - share,
        text: () => `fewer than ${limit} of the rows that a usual hour of this day has`,
        isPublic: false,
      });
    }
    const numbersAreEqual = (numbers[hour] as number) >= thresholds.equal && leastNumber[hour] === most[hour];
    const rowsAreEqual = (withPeople[hour] as number) >= thresholds.equal && least[hour] === most[hour];
    if (numbersAreEqual || rowsAreEqual) {
      found.push({
        code: "ROWS_EQUAL",
        isCritical: mayRefuse,
        hour,
        size: 1,
        text: () =>
          numbersAreEqual
            ? `all ${countText(numbers[hour] as number)} cells with a number have the same`
            : "all rows with people have the same number of people",
        isPublic: numbersAreEqual,
      });
    }
    return found;
  });
}

/** What is unusual about an hour next to the same one of earlier weeks. */
function judgedHour(compared: ComparedHour, date: string, yardstick: Yardstick): HourFinding[] {
  const people = median(compared.weeks.map((each) => each.people));
  // Where there are few people, anything is usual.
  if (people < yardstick.thresholds.leastPeople) return [];
  const local = yardstick.week.localTimeOf(firstHourOf(date) + compared.hour);
  const before = lastWeeks(compared.weeks.length, local.weekday);
  return [
    ...judgedPeople(compared, people, before, local.time, yardstick.thresholds),
    ...judgedSuppression(compared, before, yardstick.thresholds),
    ...judgedLargest(compared, before, yardstick.thresholds),
    ...judgedTiles(compared, people, yardstick.thresholds),
  ];
}

function judgedPeople(
  { hour, weeks, now }: ComparedHour,
  middle: number,
  before: string,
  time: string,
  { people, deviations }: JudgementThresholds,
): HourFinding[] {
  const spread =
    deviations *
    deviationOf(
      weeks.map((each) => each.people),
      middle,
    );
  const difference = Math.abs(now.people - middle);
  const usual = Math.max(people.warning * middle, spread);
  if (difference <= usual) return [];
  const share = difference / middle;
  const range = peopleText(Math.max(0, middle - usual), middle + usual);
  const text = (several: boolean) =>
    `${several ? "up to " : ""}${percentText(share)} ${now.people < middle ? "fewer" : "more"} people than ${before} ` +
    `(${peopleText(now.people)}${several ? ` at ${time}` : ""}, usual ${range})`;
  const isCritical = difference > Math.max(people.critical * middle, spread);
  return [{ code: "PEOPLE_UNUSUAL", isCritical, hour, size: share, text, isPublic: true }];
}

function judgedSuppression(
  { hour, weeks, now, cells }: ComparedHour,
  before: string,
  { suppressed, deviations }: JudgementThresholds,
): HourFinding[] {
  const shareOf = (numbers: number) => 1 - numbers / cells;
  const shares = weeks.map(({ numbers }) => shareOf(numbers));
  const middle = median(shares);
  const share = shareOf(now.numbers);
  const spread = deviations * deviationOf(shares, middle);
  const difference = Math.abs(share - middle);
  if (difference <= Math.max(suppressed.warning, spread)) return [];
  const text = () =>
    `${percentText(share)} of ${countText(cells)} ${plural(cells, "cell is", "cells are")} suppressed, ` +
    `${percentText(middle)} ${before}`;
  const isCritical = difference > Math.max(suppressed.critical, spread);
  return [{ code: "SUPPRESSION_UNUSUAL", isCritical, hour, size: difference, text, isPublic: true }];
}

function judgedLargest(
  { hour, weeks, now }: ComparedHour,
  before: string,
  { largest, deviations }: JudgementThresholds,
): HourFinding[] {
  const sizes = weeks.map((each) => each.largest);
  const middle = median(sizes);
  const spread = deviations * deviationOf(sizes, middle);
  if (middle === 0 || now.largest <= Math.max(largest.warning * middle, middle + spread)) return [];
  const times = now.largest / middle;
  const text = () =>
    `the largest cell has ${peopleText(now.largest)} people, ${times.toFixed(1)} times as many as ${before} ` +
    `(${peopleText(middle)})`;
  const isCritical = now.largest > Math.max(largest.critical * middle, middle + spread);
  return [{ code: "LARGEST_CELL_UNUSUAL", isCritical, hour, size: times, text, isPublic: true }];
}

function judgedTiles(
  { hour, tiles, emptyTiles, emptyPeople }: ComparedHour,
  middle: number,
  thresholds: JudgementThresholds,
): HourFinding[] {
  const share = emptyPeople / middle;
  if (emptyTiles === 0 || share < thresholds.emptyTiles.warning) return [];
  const text = (several: boolean) =>
    `${several ? "up to " : ""}${countText(emptyTiles)} of ${countText(tiles)} tiles are empty, which usually have ` +
    `${percentText(share)} of the people`;
  const isCritical = share >= thresholds.emptyTiles.critical;
  return [{ code: "TILES_EMPTY", isCritical, hour, size: share, text, isPublic: true }];
}
