import * as z from "zod/mini";
import type { ParentSums } from "../privacy/tile-pyramid.ts";

const numbers = z.array(z.number());

const storedHour = z.nullable(
  z.object({ people: numbers, min: numbers, max: numbers, half: numbers, suppressed: numbers }),
);

const storedSums = z.object({
  precision: z.number(),
  geohash: z.string(),
  first: z.number(),
  parts: z.array(
    z.object({
      part: z.string(),
      coverage: numbers,
      areas: numbers,
      bounds: numbers,
      hours: z.array(storedHour),
    }),
  ),
});

/** The sums of one prefix and day. */
export const storedSumsOfDay = z.array(storedSums);

/** Sums as JSON has them, which keeps every bit of a finite number. */
export function jsonOfSums({ parts, ...tile }: ParentSums): z.infer<typeof storedSums> {
  return {
    ...tile,
    parts: parts.map(({ part, coverage, areas, bounds, hours }) => ({
      part,
      coverage: [...coverage],
      areas: [...areas],
      bounds: [...bounds],
      hours: hours.map((hour) =>
        hour === undefined
          ? null
          : {
              people: [...hour.people],
              min: [...hour.min],
              max: [...hour.max],
              half: [...hour.half],
              suppressed: [...hour.suppressed],
            },
      ),
    })),
  };
}

/** The sums that `jsonOfSums` made JSON of. */
export function sumsOfJson({ parts, ...tile }: z.infer<typeof storedSums>): ParentSums {
  return {
    ...tile,
    parts: parts.map(({ part, coverage, areas, bounds, hours }) => ({
      part,
      coverage: Uint8Array.from(coverage),
      areas: Float64Array.from(areas),
      bounds: Uint32Array.from(bounds),
      hours: hours.map((hour) =>
        hour === null
          ? undefined
          : {
              people: Float64Array.from(hour.people),
              min: Float64Array.from(hour.min),
              max: Float64Array.from(hour.max),
              half: Float64Array.from(hour.half),
              suppressed: Uint8Array.from(hour.suppressed),
            },
      ),
    })),
  };
}
