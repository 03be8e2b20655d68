import type { Box } from "../../../functions/population-density/cover/box.ts";
import type { CountedDay } from "../../../functions/population-density/privacy/counted.ts";
import { hourMilliseconds } from "../../../shared/calendar.ts";

/** Where and when an import has stored densities. */
export interface ImportedExtent {
  /** Around all covered cells. */
  readonly box: Box;
  /** The length of the cells' geohashes. */
  readonly precision: number;
  readonly isTypical: boolean;
  /** From the first to the last counted hour of the newest day; absent for a whole typical week. */
  readonly newest?: { readonly start: Date; readonly hours: number } | undefined;
}

/** From the first to the last counted hour of a day: every tile has the same. */
export async function countedHoursOf({ date, tiles }: CountedDay): Promise<ImportedExtent["newest"]> {
  for await (const { hours } of tiles) {
    const first = hours.findIndex((hour) => hour !== undefined);
    const last = hours.findLastIndex((hour) => hour !== undefined);
    const midnight = Date.parse(`${date}T00:00:00Z`);
    return { start: new Date(midnight + first * hourMilliseconds), hours: last - first + 1 };
  }
  return undefined;
}
