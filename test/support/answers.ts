import fc from "fast-check";
import type { Answer, CellsOfTile } from "../../functions/population-density/answer/json.ts";
import { maxDensity, TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { anyText } from "./any-text.ts";

/** The characters of a geohash. */
export const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz";

/** All chunks of a body. */
export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const collected: Buffer[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

/** The cells of a whole tile. */
export const everyCell = Uint16Array.from({ length: 1_024 }, (_, cell) => cell);

const density = fc.oneof(
  fc.integer({ min: 0, max: 20_000 }),
  fc.constantFrom(0, 9, 10, 99, 100, 999, 1_000, 9_999, 10_000, 99_999, 100_000, 1e8, maxDensity),
  fc.double({ min: 0, max: maxDensity, noNaN: true }),
);

/** Least value, value and greatest value. */
export const estimate = fc
  .tuple(density, density, density)
  .map((densities) => densities.toSorted((one, other) => one - other));

/** An hour of which every cell has one of the slots: the numbers of an estimate, too few people, or no data. */
export function hourOf(slots: readonly (readonly number[] | "LOW_DENSITY" | undefined)[]): TileHour {
  const hour = new TileHour();
  for (let cell = 0; cell < 1_024; cell++) {
    // Every cell has one of the slots.
    const slot = slots[(cell * 7 + (cell >> 5)) % slots.length];
    if (slot === "LOW_DENSITY") hour.setSuppressed(cell);
    if (slot === undefined || slot === "LOW_DENSITY") continue;
    const [minimum = 0, value = 0, maximum = 0] = slot;
    hour.setEstimate(cell, value, minimum, maximum);
  }
  return hour;
}

const tileHour = fc
  .tuple(
    fc.array(
      fc.oneof({ weight: 4, arbitrary: estimate }, fc.constantFrom("LOW_DENSITY" as const, undefined)),
      { minLength: 1, maxLength: 12 },
    ),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
  )
  .map(([slots, shares]) => {
    const hour = hourOf(slots);
    for (const [cell, share] of shares.entries()) hour.setShare(cell * 83, share);
    return hour;
  });

/** Answers with a few cells in a few tiles and hours. */
export const answers: fc.Arbitrary<Answer> = fc.integer({ min: 1, max: 12 }).chain((precision) => {
  const geohash = fc.string({
    unit: fc.constantFrom(...alphabet),
    minLength: Math.max(0, precision - 2),
    maxLength: Math.max(0, precision - 2),
  });
  const cells = fc
    .uniqueArray(fc.nat({ max: precision === 1 ? 31 : 1_023 }), { maxLength: 60 })
    .map((list) => Uint16Array.from(list).sort());
  const text = fc.option(anyText({ maxLength: 30 }), { nil: undefined });
  return fc
    .record({
      operationId: text,
      status: fc.constantFrom(
        "SUPPORTED_AREA" as const,
        "PART_OF_AREA_NOT_SUPPORTED" as const,
        "AREA_NOT_SUPPORTED" as const,
        "OPERATION_NOT_COMPLETED" as const,
      ),
      statusInfo: text,
      tiles: fc.array(fc.record({ geohash, cells }), { maxLength: 4 }),
      hours: fc.array(fc.integer({ min: 0, max: 2_000_000 }), { maxLength: 4 }),
      opened: fc.array(fc.option(tileHour, { nil: undefined }), { minLength: 1, maxLength: 5 }),
      bases: fc.array(fc.constantFrom("OBSERVED" as const, "TYPICAL" as const, undefined), { minLength: 1 }),
      later: fc.boolean(),
    })
    .map(({ opened, bases, later, ...rest }) => ({
      ...rest,
      precision,
      openHour: (tile: number, hour: number) => {
        const one = opened[(3 * tile + hour) % opened.length];
        return later ? Promise.resolve(one) : one;
      },
      basisOf: (tile: number, hour: number) => bases[(3 * tile + hour) % bases.length],
    }));
});

/** Tiles with all of their cells: 140 to 150 KB an hour each. */
export function fullTiles(count: number): CellsOfTile[] {
  return Array.from({ length: count }, (_, index) => ({
    geohash: `u05k${alphabet[index]}`,
    cells: everyCell,
  }));
}
