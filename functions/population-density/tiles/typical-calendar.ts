import * as z from "zod/mini";
import { dayMilliseconds, dayOf, hourMilliseconds } from "../../../shared/calendar.ts";

/** What typical weekdays follow. */
export const typicalCalendar = z.object({
  /** IANA name of the operator's time zone. */
  timeZone: z.string(),
  /** Local dates, `YYYY-MM-DD`, that count as Sundays; ascending. */
  holidays: z.array(z.string()),
});

/** What typical weekdays follow. */
export type TypicalCalendar = z.infer<typeof typicalCalendar>;

/** A change of a calendar. */
const calendarChange = z.extend(z.partial(typicalCalendar), {
  /** Whether the time zone may be another one than that of what is stored. */
  replacesTimeZone: z.optional(z.boolean()),
});

/** A change of a calendar. */
export type CalendarChange = z.infer<typeof calendarChange>;

/** A calendar after a change: what that does not have stays as it was. */
export function changedCalendar(
  before: TypicalCalendar,
  { timeZone = before.timeZone, holidays = before.holidays }: CalendarChange = {},
): TypicalCalendar {
  return { timeZone, holidays };
}

/**
 * Why a change of the calendar is refused: another time zone would be that of all stored typical weekdays too.
 * @param before undefined before the first import.
 */
export function refusalOfChange(
  before: TypicalCalendar | undefined,
  { timeZone, replacesTimeZone = false }: CalendarChange = {},
): string | undefined {
  if (before === undefined || timeZone === undefined || replacesTimeZone) return undefined;
  if (zoneNamed(timeZone) === zoneNamed(before.timeZone)) return undefined;
  return (
    `--time-zone is ${timeZone}, but typical weekdays follow ${before.timeZone}, and there is one time zone for all ` +
    `data: leave it out, or add --replace-time-zone to let all weekdays follow ${timeZone} from their next imports on`
  );
}

/** The same for all names of a zone, such as Europe/Kiev and Europe/Kyiv. */
export function zoneNamed(name: string): string {
  return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
}

/** The calendar of densities for which none was ever given. */
export const utcCalendar: TypicalCalendar = { timeZone: "UTC", holidays: [] };

/** Whether a text names a time zone that this runtime knows. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** An hour of the typical week. */
export interface TypicalHour {
  /** 1 for Monday to 7 for Sunday. */
  readonly weekday: number;
  /** 0…23. */
  readonly ofDay: number;
  /** The day by which typical weekdays name what they are made from, `YYYY-MM-DD`. */
  readonly date: string;
}

/**
 * A typical week has the UTC hours of the week from this Monday. Every other hour belongs to the hour of that week that
 * has its local weekday and time: with UTC that is the same hour of the same weekday.
 */
const referenceWeek = Date.UTC(2026, 0, 5);

/** Which hours belong to which hour of the typical week. Hours are counted from 1970-01-01T00:00Z. */
export class TypicalWeek {
  readonly #holidays: ReadonlySet<string>;
  /** Undefined for UTC. */
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #referenceOffset: number;
  readonly #excluded: ReadonlySet<string>;
  readonly #known = new Map<number, TypicalHour>();
  readonly #found = new Map<string, readonly number[]>();

  /** @param excluded dates, UTC, whose hours stay out of typical weekdays. */
  constructor({ timeZone, holidays }: TypicalCalendar, excluded: ReadonlySet<string> = new Set()) {
    this.#excluded = excluded;
    this.#holidays = new Set(holidays);
    this.#format = timeZone === "UTC" ? undefined : new Intl.DateTimeFormat("en-US", { ...parts, timeZone });
    this.#referenceOffset = this.#offsetAt(referenceWeek);
  }

  /** The typical hour of an hour. On a holiday it is that of a Sunday. */
  hourOf(hour: number): TypicalHour {
    const known = this.#known.get(hour) ?? this.#hourOf(hour);
    this.#known.set(hour, known);
    return known;
  }

  #hourOf(hour: number): TypicalHour {
    const local = new Date(hour * hourMilliseconds + this.#offsetAt(hour * hourMilliseconds));
    // The same local time where the offset is that of the reference week.
    const stored = new Date(local.getTime() - this.#referenceOffset);
    const daysToSunday = this.#holidays.has(dayOf(local)) ? (7 - local.getUTCDay()) % 7 : 0;
    return {
      weekday: (stored.getUTCDay() + daysToSunday) % 7 || 7,
      ofDay: stored.getUTCHours(),
      date: dayOf(stored),
    };
  }

  /** The local time at which an hour begins, and its weekday: 1 for Monday to 7 for Sunday or a holiday. */
  localTimeOf(hour: number): { readonly weekday: number; readonly time: string } {
    const local = new Date(hour * hourMilliseconds + this.#offsetAt(hour * hourMilliseconds));
    const isHoliday = this.#holidays.has(dayOf(local));
    return { weekday: isHoliday ? 7 : local.getUTCDay() || 7, time: local.toISOString().slice(11, 16) };
  }

  /**
   * The hours that belong to a typical hour and its date: none of a local hour that a clock change leaves out, two of
   * one that it repeats, and none of an excluded day.
   */
  hoursOf(typical: TypicalHour): readonly number[] {
    const { weekday, ofDay, date } = typical;
    const key = `${weekday} ${ofDay} ${date}`;
    const found = this.#found.get(key) ?? this.#hoursOf(typical);
    this.#found.set(key, found);
    return found;
  }

  #hoursOf({ weekday, ofDay, date }: TypicalHour): readonly number[] {
    const local = Date.parse(`${date}T00:00:00Z`) + ofDay * hourMilliseconds + this.#referenceOffset;
    // The offset may change on that day, once.
    const offsets = [local - dayMilliseconds, local + dayMilliseconds].map((at) => this.#offsetAt(at));
    const hours = offsets.map((offset) => (local - offset) / hourMilliseconds);
    return [...new Set(hours.flatMap((hour) => [Math.floor(hour), Math.ceil(hour)]))]
      .filter((hour) => !this.isExcluded(hour))
      .filter((hour) => {
        const own = this.hourOf(hour);
        return own.weekday === weekday && own.ofDay === ofDay && own.date === date;
      })
      .sort((one, other) => one - other);
  }

  /** Whether an hour is of a day that stays out of typical weekdays. */
  isExcluded(hour: number): boolean {
    return this.#excluded.size > 0 && this.#excluded.has(dayOf(new Date(hour * hourMilliseconds)));
  }

  /** Whether the offset of a UTC day is all day that of the reference week. */
  hasReferenceOffset(date: string): boolean {
    const midnight = Date.parse(`${date}T00:00:00Z`);
    return [midnight, midnight + dayMilliseconds].every((at) => this.#offsetAt(at) === this.#referenceOffset);
  }

  /** Offset of local time from UTC, in milliseconds. */
  #offsetAt(milliseconds: number): number {
    if (this.#format === undefined) return 0;
    const seconds = Math.floor(milliseconds / 1_000) * 1_000;
    const local: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(seconds)) local[type] = Number(value);
    const { year = 0, month = 0, day, hour, minute, second } = local;
    return Date.UTC(year, month - 1, day, hour, minute, second) - seconds;
  }
}

const weeks = new WeakMap<TypicalCalendar, TypicalWeek>();

/**
 * The week of a calendar object, made once for each: making its format takes longer than all else of a small answer. The
 * object is read again every `CACHE_SECONDS`.
 */
export function typicalWeekOf(calendar: TypicalCalendar): TypicalWeek {
  const known = weeks.get(calendar);
  if (known !== undefined) return known;
  const week = new TypicalWeek(calendar);
  weeks.set(calendar, week);
  return week;
}

const parts = {
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
  hourCycle: "h23",
} as const;
