import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeTileDay,
  hoursOf,
  hoursPerDay,
  isCovered,
  maxItemBytes,
  readTileDay,
} from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile, maxDensity, TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";
import { seeded } from "../../support/random.ts";
import { runs } from "../../support/sample.ts";

const density = fc.oneof(
  fc.integer({ min: 0, max: 5_000 }),
  fc.double({ min: 0, max: 2_000_000, noNaN: true }),
  fc.double({ min: 0, max: maxDensity, noNaN: true }),
);

/** Densities that have the same code or the next one: distances that are stored exactly. */
const closeDensities = fc
  .tuple(fc.double({ min: 4_096, max: 2_000_000, noNaN: true }), fc.nat(9), fc.nat(9))
  .map(([value, below, above]) => [value * (1 - below / 20_000), value, value * (1 + above / 20_000)]);

/** Minimum, value and maximum. */
const range = fc
  .oneof(fc.tuple(density, density, density), closeDensities)
  .map((densities) => densities.toSorted((one, other) => one - other) as [number, number, number]);

/** One cell after `setEstimate`. */
function stored(value: number, minimum = value, maximum = value) {
  const hour = new TileHour();
  hour.setEstimate(7, value, minimum, maximum);
  return {
    code: hour.codes[7] ?? Number.NaN,
    value: hour.value(7),
    minimum: hour.minimum(7),
    maximum: hour.maximum(7),
  };
}

describe("a slot", () => {
  test("a stored density up to 4,096 is exact", () => {
    const changed: unknown[] = [];
    for (let value = 0; value <= 4_096; value++) {
      const kept = stored(value);
      const isExact = kept.value === value && kept.minimum === value && kept.maximum === value;
      if (!isExact) changed.push([value, kept]);
    }
    expect(changed).toEqual([]);
  });

  test("a stored density above 4,096 is rounded by at most 1/4,096", () => {
    fc.assert(
      fc.property(fc.double({ min: 4_096, max: maxDensity, noNaN: true }), (value) => {
        const kept = stored(value).value;
        expect(Number.isSafeInteger(kept)).toBe(true);
        expect(Math.abs(kept - value)).toBeLessThanOrEqual(value / 4_096);
      }),
    );
    expect(stored(maxDensity).value).toBe(maxDensity);
    expect(maxDensity).toBeGreaterThan(1_000_000);
  });

  test("every code of a tile hour has a greater value than the code before", () => {
    const hour = new TileHour();
    let previous = -1;
    for (let code = 2; code <= 0xffff; code++) {
      hour.codes[0] = code;
      const value = hour.value(0);
      if (value <= previous) throw new Error(`code ${code} is ${value}, after ${previous}`);
      if (stored(value).code !== code)
        throw new Error(`code ${code} is ${value}, which is stored as another`);
      previous = value;
    }
    expect(previous).toBe(maxDensity);
  });

  test("a stored range is rounded outwards around its value", () => {
    fc.assert(
      fc.property(range, ([minimum, value, maximum]) => {
        const slot = stored(value, minimum, maximum);
        expect(slot.minimum).toBeLessThanOrEqual(Math.min(minimum, slot.value));
        expect(slot.maximum).toBeGreaterThanOrEqual(Math.max(maximum, slot.value));
        expect(slot.minimum).toBeGreaterThanOrEqual(0);
        expect(slot.maximum).toBeLessThanOrEqual(maxDensity);
      }),
      { numRuns: runs(1_000, 200) },
    );
  });

  test("a stored range of exact values is at most a sixteenth wider on either side", () => {
    const exact = fc.integer({ min: 0, max: 4_095 });
    fc.assert(
      fc.property(exact, exact, exact, (...values) => {
        const [minimum = 0, value = 0, maximum = 0] = values.toSorted((one, other) => one - other);
        const slot = stored(value, minimum, maximum);
        expect(minimum - slot.minimum).toBeLessThanOrEqual((value - minimum) / 16);
        // Above 4,096 one code is two.
        expect(slot.maximum - maximum).toBeLessThanOrEqual(2 * Math.ceil((maximum - value) / 16));
      }),
    );
  });

  test("a density that was read is stored as the same code", () => {
    fc.assert(
      fc.property(range, ([minimum, value, maximum]) => {
        const slot = stored(value, minimum, maximum);
        expect(stored(slot.value, slot.minimum, slot.maximum)).toEqual(slot);
      }),
    );
  });

  test.each([
    ["a negative minimum", 1, -1, 2],
    ["a minimum above the value", 1, 2, 3],
    ["a maximum below the value", 3, 1, 2],
    ["a maximum that is too great", 1, 1, maxDensity + 1],
    ["an infinite maximum", 1, 1, Number.POSITIVE_INFINITY],
    ["a value that is no number", Number.NaN, 1, 2],
    ["a minimum that is no number", 1, Number.NaN, 2],
    ["a maximum that is no number", 1, 1, Number.NaN],
  ])("an estimate is refused with %s", (_, value, minimum, maximum) => {
    expect(() => stored(value, minimum, maximum)).toThrow(RangeError);
  });

  test.each([-1, 1_024, 0.5, Number.NaN])("cell %d is refused, and has NO_DATA", (cell) => {
    const hour = new TileHour();

    expect(() => hour.setSuppressed(cell)).toThrow(RangeError);
    expect(() => hour.setEstimate(cell, 1, 1, 1)).toThrow(RangeError);
    expect(hour.kind(cell)).toBe("NO_DATA");
  });

  test("no data, low density and an estimate of 0 are told apart", () => {
    const hour = new TileHour();
    hour.setSuppressed(1);
    hour.setEstimate(2, 0, 0, 0);
    hour.setEstimate(3, 12, 9, 15);

    expect([0, 1, 2, 3].map((cell) => hour.kind(cell))).toEqual([
      "NO_DATA",
      "LOW_DENSITY",
      "DENSITY_ESTIMATION",
      "DENSITY_ESTIMATION",
    ]);
    hour.setSuppressed(3);
    expect(hour.kind(3)).toBe("LOW_DENSITY");
  });
});

/** Hours of which every bit is random in a share of the cells and the others have no data. */
function randomDay(seed: number, share: number, absent: readonly number[] = []): (TileHour | undefined)[] {
  // fast-check would take too long for 98,304 bytes.
  const random = seeded(seed);
  const next = () => Math.floor(256 * random());
  return Array.from({ length: hoursPerDay }, (_, index) => {
    if (absent.includes(index)) return undefined;
    const hour = new TileHour();
    for (let cell = 0; cell < cellsPerTile; cell++) {
      if (next() >= 256 * share) continue;
      hour.codes[cell] = (next() << 8) | next();
      hour.below[cell] = next();
      hour.above[cell] = next();
    }
    return hour;
  });
}

function everyHour(make: () => TileHour | undefined): (TileHour | undefined)[] {
  return Array.from({ length: hoursPerDay }, make);
}

function lowHour(): TileHour {
  const hour = new TileHour();
  hour.codes.fill(1);
  return hour;
}

describe("a tile's day", () => {
  test("a stored day has every slot as it was written, and absent hours as absent", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.constantFrom(0, 0.001, 0.05, 0.5, 1),
        fc.uniqueArray(fc.nat({ max: 23 })),
        (seed, share, absent) => {
          const hours = randomDay(seed, share, absent);
          const day = readTileDay(encodeTileDay(hours));
          for (const [index, hour] of hours.entries()) {
            const opened = day.openHour(index);
            expect(opened === undefined).toBe(hour === undefined);
            if (hour === undefined || opened === undefined) continue;
            expect(Buffer.compare(bytesOf(opened), bytesOf(hour))).toBe(0);
          }
        },
      ),
      { numRuns: runs(40, 15) },
    );
  });

  test("a stored share is within 1/4,096 of the cell's, also next to hours without shares", () => {
    const hours = everyHour(lowHour);
    const shares = Array.from({ length: cellsPerTile }, (_, cell) => 2 ** (-29 * Math.sin(cell) ** 2));
    for (const [cell, share] of shares.entries()) hours[5]?.setShare(cell, share);
    const day = readTileDay(encodeTileDay(hours));

    for (const [cell, share] of shares.entries()) {
      expect(Math.abs((day.openHour(5)?.share(cell) ?? 0) / share - 1)).toBeLessThanOrEqual(2 ** -12);
    }
    expect(day.openHour(6)?.share(7)).toBe(1);
    expect(hoursOf(day).map((hour) => hour && bytesOf(hour))).toEqual(
      hours.map((hour) => hour && bytesOf(hour)),
    );
    expect(readTileDay(encodeTileDay(everyHour(lowHour))).openHour(5)?.shares).toBeUndefined();
  });

  test("a tile's day covers the cells that have data in any hour", () => {
    fc.assert(
      fc.property(fc.integer(), fc.uniqueArray(fc.nat({ max: 23 })), (seed, absent) => {
        const hours = randomDay(seed, 0.02, absent);
        const day = readTileDay(encodeTileDay(hours));
        for (let cell = 0; cell < cellsPerTile; cell++) {
          const known = hours.some((hour) => hour !== undefined && hour.kind(cell) !== "NO_DATA");
          if (isCovered(day.coverage, cell) !== known)
            throw new Error(`cell ${cell} is ${known ? "" : "not "}covered`);
        }
      }),
      { numRuns: runs(20, 10) },
    );
  });

  test("a tile's day is within its bound, which is under 150 KiB and the limit of an item", () => {
    const widest = everyHour(() => {
      const hour = new TileHour();
      for (let cell = 0; cell < cellsPerTile; cell += 2) {
        hour.codes[cell] = 0xffff;
        hour.below[cell] = 0xff;
        hour.above[cell] = 0xff;
      }
      hour.shares = hour.codes;
      return hour;
    });

    expect(encodeTileDay(widest).length).toBe(maxItemBytes);
    expect(encodeTileDay(randomDay(1, 1)).length).toBeLessThanOrEqual(maxItemBytes);
    expect(maxItemBytes).toBeLessThan(150 * 1_024);
    expect(maxItemBytes).toBeLessThan(400_000);
  });

  test("a stored day is read anywhere in a buffer", () => {
    const bytes = encodeTileDay(randomDay(2, 0.1));
    const within = Buffer.alloc(bytes.length + 10, 0xff);
    within.set(bytes, 3);
    const hour = readTileDay(within.subarray(3, 3 + bytes.length)).openHour(23);

    expect(hour).toEqual(readTileDay(bytes).openHour(23));
  });

  test.each([0, 23, 25])("a day of %d hours is refused", (count) => {
    expect(() => encodeTileDay(new Array(count).fill(undefined))).toThrow(RangeError);
  });

  test.each([-1, 24, 0.5, Number.NaN])("readTileDay refuses hour %d", (hour) => {
    const day = readTileDay(encodeTileDay(everyHour(lowHour)));

    expect(() => day.openHour(hour)).toThrow("is not an hour of a day");
  });
});

describe("bytes that are not a tile's day are refused", () => {
  const bytes = encodeTileDay(randomDay(3, 0.002, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));

  function refusalOf(refused: Uint8Array): string {
    try {
      readTileDay(refused);
      return "not refused";
    } catch (error) {
      return String(error);
    }
  }

  test("a stored day of another version is refused", () => {
    const foreign = bytes.slice();
    foreign[0] = 3;

    expect(() => readTileDay(foreign)).toThrow("has version 3, not 1 or 2");
  });

  test("a stored day that is cut off anywhere is refused", () => {
    const others: string[] = [];
    for (let length = 1; length < bytes.length; length++) {
      const refusal = refusalOf(bytes.subarray(0, length));
      if (!refusal.includes("wrong length")) others.push(`${length} bytes: ${refusal}`);
    }
    expect(others).toEqual([]);
  });

  test("a stored day with any byte changed is refused", () => {
    const changed = bytes.slice();
    const others: string[] = [];
    for (const [index, byte] of bytes.entries()) {
      changed[index] = byte ^ (1 + (index % 255));
      const refusal = refusalOf(changed);
      if (!/version|wrong length|checksum/.test(refusal)) others.push(`byte ${index}: ${refusal}`);
      changed[index] = byte;
    }
    expect(others).toEqual([]);
    expect(() => readTileDay(changed)).not.toThrow();
  });
});

function bytesOf(hour: TileHour): Uint8Array {
  return new Uint8Array(hour.codes.buffer);
}
