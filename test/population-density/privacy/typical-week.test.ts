import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { typicalHourOf, weekdayOf } from "../../../functions/population-density/privacy/typical-week.ts";
import {
  encodeTileDay,
  readTileDay,
  type TileDay,
} from "../../../functions/population-density/tiles/tile.ts";
import { maxDensity, TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";
import { runs } from "../../support/sample.ts";

/** What a day knows of a cell in an hour: nothing, that it is suppressed, or its minimum, value and maximum. */
type Slot = undefined | "suppressed" | readonly [min: number, value: number, max: number];

const density = fc.oneof(
  fc.integer({ min: 0, max: 50_000 }),
  fc.double({ min: 0, max: maxDensity, noNaN: true }),
);
const slot: fc.Arbitrary<Slot> = fc.oneof(
  fc.constant(undefined),
  fc.constant("suppressed" as const),
  fc
    .tuple(density, density, density)
    .map((densities) => densities.toSorted((one, other) => one - other) as [number, number, number]),
);

const cells = [0, 1, 31, 500, 1_023];
const hours = [0, 5, 23];

/** The slots of `cells` in each of `hours`, or undefined for an hour that is not known. */
const days = fc.array(
  fc.array(fc.option(fc.array(slot, { minLength: 5, maxLength: 5 }), { nil: undefined }), {
    minLength: 3,
    maxLength: 3,
  }),
  { maxLength: 4 },
);

function hourOf(slots: readonly Slot[]): TileHour {
  const hour = new TileHour();
  for (const [index, known] of slots.entries()) {
    const cell = cells[index] ?? -1;
    if (known === "suppressed") hour.setSuppressed(cell);
    else if (known !== undefined) hour.setEstimate(cell, known[1], known[0], known[2]);
  }
  return hour;
}

function dayOf(slots: readonly (readonly Slot[] | undefined)[]): TileDay {
  const day = Array.from({ length: 24 }, (_, hour) => slots[hours.indexOf(hour)]);
  return readTileDay(encodeTileDay(day.map((known) => known && hourOf(known))));
}

function typicalHours(observed: readonly TileDay[]): (TileHour | undefined)[] {
  return Array.from({ length: 24 }, (_, hour) =>
    typicalHourOf(observed.flatMap((day) => day.openHour(hour) ?? [])),
  );
}

describe("a typical day", () => {
  test("a typical hour has of each cell the kind that most of up to four days have, and the mean of their estimates", () => {
    fc.assert(
      fc.property(days, (observed) => {
        const typical = typicalHours(observed.map(dayOf));
        expect(typical).toHaveLength(24);
        for (const [index, hour] of hours.entries()) {
          const known = observed.flatMap((day) => (day[index] === undefined ? [] : [hourOf(day[index])]));
          const found = typical[hour];
          expect(found === undefined).toBe(known.length === 0);
          for (const cell of found === undefined ? [] : cells) {
            const published = known.filter((each) => each.kind(cell) === "DENSITY_ESTIMATION");
            const suppressed = known.filter((each) => each.kind(cell) === "LOW_DENSITY");
            if (published.length + suppressed.length === 0) expect(found?.kind(cell)).toBe("NO_DATA");
            else if (suppressed.length * 2 >= published.length + suppressed.length)
              expect(found?.kind(cell)).toBe("LOW_DENSITY");
            else {
              const expected = new TileHour();
              expected.setEstimate(
                cell,
                published.reduce((sum, each) => sum + each.value(cell), 0) / published.length,
                suppressed.length > 0 ? 0 : Math.min(...published.map((each) => each.minimum(cell))),
                Math.max(...published.map((each) => each.maximum(cell))),
              );
              const one = (each: TileHour | undefined) => [
                each?.value(cell),
                each?.minimum(cell),
                each?.maximum(cell),
              ];
              expect(one(found)).toEqual(one(expected));
            }
          }
          expect(found?.codes.filter((code, cell) => code !== 0 && !cells.includes(cell)) ?? []).toHaveLength(
            0,
          );
        }
      }),
      { numRuns: runs(300, 100) },
    );
  });

  /** A day on which only the first cell is known, in the first hour. */
  const coveredDay = (share: number, slot: readonly [number, number, number] | "suppressed") => {
    const hour = hourOf([slot]);
    hour.setShare(cells[0] ?? -1, share);
    return readTileDay(encodeTileDay([hour, ...Array.from({ length: 23 }, () => undefined)]));
  };

  test("a typical cell of two days with a covered share of 0.3 keeps that share and all numbers", () => {
    const [hour] = typicalHours([coveredDay(0.3, [100, 110, 120]), coveredDay(0.3, [90, 100, 125])]);

    expect([hour?.minimum(0), hour?.value(0), hour?.maximum(0)]).toEqual([90, 105, 125]);
    expect(hour?.share(0)).toBeCloseTo(0.3, 4);
  });

  test("a typical cell of days with other covered shares has the mean and the lowest people of the whole cell", () => {
    const [hour] = typicalHours([
      coveredDay(1, [90, 100, 110]),
      coveredDay(0.1, [100, 110, 120]),
      coveredDay(0.5, "suppressed"),
    ]);
    const share = hour?.share(0) ?? 0;

    expect((hour?.value(0) ?? 0) * share).toBeCloseTo((100 * 1 + 110 * 0.1) / 2, 1);
    expect(hour?.minimum(0)).toBe(0);
    expect(hour?.maximum(0)).toBe(120);
    const [without] = typicalHours([coveredDay(1, [90, 100, 110]), coveredDay(0.1, [100, 110, 120])]);
    expect((without?.minimum(0) ?? 0) * (without?.share(0) ?? 0)).toBeLessThanOrEqual(10);
    expect((without?.minimum(0) ?? 0) * (without?.share(0) ?? 0)).toBeGreaterThan(8);
  });

  test("a typical cell that is suppressed on all days has the largest of their covered shares", () => {
    const [low] = typicalHours([coveredDay(0.25, "suppressed"), coveredDay(0.5, "suppressed")]);
    expect([low?.kind(0), low?.share(0)]).toEqual(["LOW_DENSITY", 0.5]);
  });
});

test.each([
  ["2026-11-16", 1],
  ["2026-11-22", 7],
  ["2024-02-29", 4],
  ["1970-01-01", 4],
])("%s is weekday %i", (date, weekday) => {
  expect(weekdayOf(date)).toBe(weekday);
});
