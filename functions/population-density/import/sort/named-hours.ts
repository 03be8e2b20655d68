/** What the first row of an hour is refused for whose typical weekday has the hour of another date. */
export const secondDate = {
  column: "startTime",
  reason: "is an hour of a weekday that another date has too",
} as const;

/** The hours that any row names: in these every covered tile is counted. */
export class NamedHours {
  /** Days since 1970; a bit for each hour. */
  readonly #bitsByDay = new Map<number, number>();

  /** A bit for each hour of a day that is named. */
  bitsOf(day: number): number {
    return this.#bitsByDay.get(day) ?? 0;
  }

  /** @param day counted from 1970. @returns the bits of the day, with this hour. */
  add(day: number, hour: number): number {
    const bits = this.bitsOf(day) | (1 << hour);
    this.#bitsByDay.set(day, bits);
    return bits;
  }

  /** Whether the hour is named of any day of the same weekday. */
  hasOfWeekday(day: number, hour: number): boolean {
    return [...this.#bitsByDay].some(
      ([other, bits]) => (other - day) % daysPerWeek === 0 && ((bits >> hour) & 1) === 1,
    );
  }

  /** The days in ascending order, each with its bits. */
  days(): readonly (readonly [day: number, bits: number])[] {
    return [...this.#bitsByDay].sort(([one], [other]) => one - other);
  }
}

const daysPerWeek = 7;
