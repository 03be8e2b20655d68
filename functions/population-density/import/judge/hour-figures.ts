import * as z from "zod/mini";
import { hoursPerDay } from "../../tiles/tile.ts";
import { type Figures, hasHour } from "./figures.ts";

/** What an import publishes in an hour, of all its parts together. */
export const hourFigures = z.object({
  /** 0…23 UTC. */
  hour: z.number(),
  /** In cells with a number. */
  people: z.number(),
  /** Covered cells, and those of them that are suppressed. */
  cells: z.number(),
  suppressed: z.number(),
  /** People in the largest cell. */
  largest: z.number(),
});

/** What an import publishes in an hour. */
export type HourFigures = z.infer<typeof hourFigures>;

/** What an import publishes in each hour that it has counted. */
export function figuresOfHours(parts: readonly Figures[]): HourFigures[] {
  const hours = Array.from({ length: hoursPerDay }, (_, hour) => hour);
  return hours.flatMap((hour) => {
    const counted = parts.filter((part) => hasHour(part, hour));
    if (counted.length === 0) return [];
    const sum = { hour, people: 0, cells: 0, suppressed: 0, largest: 0 };
    for (const { tiles, cells, people, numbers, largest } of counted) {
      for (let tile = 0; tile < tiles.length; tile++) {
        const at = tile * hoursPerDay + hour;
        sum.people += people[at] as number;
        sum.cells += cells[tile] as number;
        sum.suppressed += (cells[tile] as number) - (numbers[at] as number);
        sum.largest = Math.max(sum.largest, largest[at] as number);
      }
    }
    return [sum];
  });
}
