import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answer, bodyOf } from "../../../functions/population-density/answer/json.ts";
import { TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";
import { alphabet, answers, collect, estimate, everyCell, fullTiles, hourOf } from "../../support/answers.ts";

const maxChunkBytes = 65_536;

async function textOf(answer: Answer): Promise<string> {
  return Buffer.concat(await collect(bodyOf(answer))).toString();
}

/** The same value built as objects. */
async function expectedText(answer: Answer): Promise<string> {
  const { operationId, status, statusInfo, precision, tiles, hours, openHour } = answer;
  const timedPopulationDensityData = [];
  for (const [hourIndex, hour] of hours.entries()) {
    const cellPopulationDensityData = [];
    for (const [tileIndex, { geohash: prefix, cells }] of tiles.entries()) {
      const tileHour = await openHour(tileIndex, hourIndex);
      for (const cell of cells) {
        const geohash = `${prefix}${precision === 1 ? "" : alphabet[cell >> 5]}${alphabet[cell & 31]}`;
        const dataType = tileHour?.kind(cell) ?? "NO_DATA";
        cellPopulationDensityData.push(
          tileHour === undefined || dataType !== "DENSITY_ESTIMATION"
            ? { geohash, dataType }
            : {
                geohash,
                dataType,
                pplDensity: tileHour.value(cell),
                minPplDensity: tileHour.minimum(cell),
                maxPplDensity: tileHour.maximum(cell),
              },
        );
      }
    }
    timedPopulationDensityData.push({
      startTime: timeOf(hour),
      endTime: timeOf(hour + 1),
      cellPopulationDensityData,
    });
  }
  return JSON.stringify({ operationId, status, timedPopulationDensityData, statusInfo });
}

function timeOf(hour: number): string {
  return new Date(hour * 3_600_000).toISOString().replace(".000Z", "Z");
}

const first: Answer = {
  status: "PART_OF_AREA_NOT_SUPPORTED",
  precision: 7,
  tiles: [{ geohash: "u05kp", cells: Uint16Array.of(662, 663, 664) }],
  hours: [Date.UTC(2026, 10, 20, 10) / 3_600_000],
  openHour: () => {
    const hour = new TileHour();
    hour.setEstimate(662, 12, 9, 15);
    hour.setSuppressed(663);
    return hour;
  },
  basisOf: () => "OBSERVED",
};

describe("the body of an answer", () => {
  test("a JSON body has the members of specification 2.11 in their order", async () => {
    expect(await textOf(first)).toBe(
      '{"status":"PART_OF_AREA_NOT_SUPPORTED","timedPopulationDensityData":[' +
        '{"startTime":"2026-11-20T10:00:00Z","endTime":"2026-11-20T11:00:00Z","cellPopulationDensityData":[' +
        '{"geohash":"u05kpnq","dataType":"DENSITY_ESTIMATION","pplDensity":12,"minPplDensity":9,"maxPplDensity":15},' +
        '{"geohash":"u05kpnr","dataType":"LOW_DENSITY"},{"geohash":"u05kpns","dataType":"NO_DATA"}]}]}',
    );
  });

  test("a JSON body has the bytes of JSON.stringify", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (one) => {
        expect(await textOf(one)).toBe(await expectedText(one));
      }),
      { numRuns: 300 },
    );
  });

  test("a JSON body of many chunks has the bytes of JSON.stringify", async () => {
    const slots = fc.sample(estimate, { numRuns: 500, seed: 1 });
    const hours = [hourOf([...slots, "LOW_DENSITY", undefined]), undefined, hourOf(slots)];
    const large: Answer = {
      ...first,
      tiles: fullTiles(7),
      hours: [1, 2, 3, 4],
      openHour: (tile, hour) => hours[(tile + hour) % hours.length],
    };

    expect((await textOf(large)) === (await expectedText(large))).toBe(true);
  });

  test("a JSON body lists every cell of every precision by its own geohash", async () => {
    for (let precision = 2; precision <= 12; precision++) {
      const geohash = "u05kpq1z8x".slice(0, precision - 2);
      const all: Answer = { ...first, precision, tiles: [{ geohash, cells: everyCell }] };
      expect((await textOf(all)) === (await expectedText(all))).toBe(true);
    }
    const coarsest: Answer = {
      ...first,
      precision: 1,
      tiles: [{ geohash: "", cells: everyCell.slice(0, 32) }],
    };
    expect(await textOf(coarsest)).toBe(await expectedText(coarsest));
  });

  test("a JSON body of a failed operation has its id and statusInfo, however long", async () => {
    const failed: Answer = {
      ...first,
      operationId: 'é "1"',
      status: "OPERATION_NOT_COMPLETED",
      statusInfo: "€\n".repeat(70_000),
      hours: [],
    };

    expect((await textOf(failed)) === (await expectedText(failed))).toBe(true);
  });
});

describe("the chunks of a body", () => {
  const hour = hourOf([[1_000, 2_000, 3_000], "LOW_DENSITY"]);
  const large: Answer = { ...first, tiles: fullTiles(12), hours: [0, 1, 2], openHour: () => hour };

  test("a JSON body comes in chunks of nearly 64 KiB", async () => {
    const chunks = await collect(bodyOf(large));

    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(maxChunkBytes);
    expect(Math.min(...chunks.slice(0, -1).map(({ length }) => length))).toBeGreaterThan(maxChunkBytes - 512);
  });

  test("a JSON body never overwrites a chunk that was not returned", async () => {
    const copies: Buffer[] = [];
    const chunks: Buffer[] = [];
    for await (const chunk of bodyOf(large)) {
      chunks.push(chunk);
      copies.push(Buffer.from(chunk));
    }

    expect(Buffer.concat(chunks).equals(Buffer.concat(copies))).toBe(true);
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(chunks.length);
  });

  test("a JSON body ignores returned buffers of another length", async () => {
    const foreign = [Buffer.from("other"), Buffer.alloc(10), Buffer.alloc(maxChunkBytes + 1)];
    const before = Buffer.concat(foreign);
    const bufferPool = [...foreign];
    const body = Buffer.concat(await collect(bodyOf(large, bufferPool)));

    expect(body.toString() === (await expectedText(large))).toBe(true);
    expect(Buffer.concat(foreign).equals(before)).toBe(true);
  });

  test("a JSON body opens each tile only when the chunks before it were read", async () => {
    const asked: string[] = [];
    const body = bodyOf({
      ...large,
      openHour: (tile, hourIndex) => {
        asked.push(`${hourIndex}:${tile}`);
        return hour;
      },
    });
    await body.next();
    expect(asked).toEqual(["0:0"]);
    await collect(body);
    const everyPair = [0, 1, 2].flatMap((hourIndex) => large.tiles.map((_, tile) => `${hourIndex}:${tile}`));
    expect(asked).toEqual(everyPair);
  });
});
