import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type * as z from "zod";
import { type Answer, bodyOf } from "../../functions/population-density/answer/json.ts";
import {
  retrievePopulationDensity,
  summarizePopulationDensity,
} from "../../functions/population-density/contract.ts";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { populationBandOf } from "../../functions/population-density/summary/ground-risk.ts";
import { type Summary, summaryOf } from "../../functions/population-density/summary/summary.ts";
import { summaryFormats } from "../../functions/population-density/summary/summary-formats.ts";
import { answers, collect } from "../support/answers.ts";
import { hoursToCome } from "../support/areas.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { boxIn, cellIn, freshTile, type Slot, storeTile } from "../support/densities.ts";
import { runs } from "../support/sample.ts";

type PublishedDensities = z.infer<(typeof retrievePopulationDensity.responses)[200]>;
type PublishedCell =
  PublishedDensities["timedPopulationDensityData"][number]["cellPopulationDensityData"][number];

const published = (body: unknown) => retrievePopulationDensity.responses[200].parse(body);

/** The covered shares of the cells in each hour, in their order. */
type Shares = readonly (readonly number[])[];

/** What a caller computes of the answer to a request for densities, as plainly as can be. */
function computedFrom(
  { status, timedPopulationDensityData }: PublishedDensities,
  shares: Shares = [],
): Summary {
  const intervals = timedPopulationDensityData.map(
    ({ startTime, endTime, cellPopulationDensityData: cells }, hour) => ({
      startTime,
      endTime,
      ...peopleIn(cells, shares[hour]),
      groundRisk: classes.map((name) => {
        const ofClass = cells.filter((cell) => classOf(cell) === name);
        return { class: name, cells: ofClass.length, areaKm2: Number(areaOf(ofClass).toPrecision(6)) };
      }),
    }),
  );
  const counted = intervals.flatMap(({ startTime, endTime, people }) =>
    people === undefined ? [] : [{ startTime, endTime, people }],
  );
  const fewest = Math.min(...counted.map(({ people }) => people));
  const most = Math.max(...counted.map(({ people }) => people));
  const quietestHour = counted.find(({ people }) => people === fewest);
  const busiestHour = counted.find(({ people }) => people === most);
  return {
    status,
    ...(quietestHour === undefined ? {} : { quietestHour }),
    ...(busiestHour === undefined ? {} : { busiestHour }),
    intervals,
  };
}

const classes = [
  ...(["BELOW_5", "BELOW_50", "BELOW_500", "BELOW_5000", "BELOW_50000", "FROM_50000"] as const),
  ...(["LOW_DENSITY", "NO_DATA"] as const),
];

function classOf({ dataType, maxPplDensity = 0 }: PublishedCell) {
  if (dataType !== "DENSITY_ESTIMATION") return dataType;
  return classes[[5, 50, 500, 5_000, 50_000].filter((limit) => maxPplDensity >= limit).length];
}

const areaOf = (cells: readonly PublishedCell[]) =>
  cells.reduce((sum, { geohash }) => sum + cellArea(geohash), 0);

function peopleIn(cells: readonly PublishedCell[], shares: readonly number[] = []) {
  const estimates = cells.flatMap(({ geohash, pplDensity, minPplDensity = 0, maxPplDensity = 0 }, index) =>
    pplDensity === undefined
      ? []
      : [{ share: shares[index] ?? 1, densities: { geohash, pplDensity, minPplDensity, maxPplDensity } }],
  );
  const [densestCell] = estimates
    .map(({ densities }) => densities)
    .toSorted((one, other) => other.pplDensity - one.pplDensity);
  if (densestCell === undefined) return {};
  const sum = (name: "pplDensity" | "minPplDensity" | "maxPplDensity") =>
    estimates.reduce(
      (people, { densities, share }) =>
        people + densities[name] * cellArea(densities.geohash) * (name === "maxPplDensity" ? share : 1),
      0,
    );
  return {
    people: Math.round(sum("pplDensity")),
    minPeople: Math.floor(sum("minPplDensity")),
    maxPeople: Math.ceil(sum("maxPplDensity")),
    densestCell,
  };
}

async function sharesIn({ tiles, hours, openHour }: Answer): Promise<Shares> {
  const shares: number[][] = [];
  for (const hour of hours.keys()) {
    const ofHour: number[] = [];
    for (const [index, { cells }] of tiles.entries()) {
      const opened = await openHour(index, hour);
      for (const cell of cells) ofHour.push(opened?.share(cell) ?? 0);
    }
    shares.push(ofHour);
  }
  return shares;
}

describe("the summary of an answer", () => {
  test("the summary of an answer is what a caller computes from the numbers that are published of it", async () => {
    const ofThisTime = answers.filter(({ status }) => status !== "OPERATION_NOT_COMPLETED");
    await fc.assert(
      fc.asyncProperty(ofThisTime, async (answer) => {
        const body = JSON.parse(Buffer.concat(await collect(bodyOf(answer))).toString());
        expect(await summaryOf(answer)).toEqual(computedFrom(published(body), await sharesIn(answer)));
      }),
      { numRuns: runs(300, 40) },
    );
  });

  test.each([
    [0, "BELOW_5"],
    [4, "BELOW_5"],
    [5, "BELOW_50"],
    [499, "BELOW_500"],
    [500, "BELOW_5000"],
    [49_999, "BELOW_50000"],
    [50_000, "FROM_50000"],
    [4_000_000, "FROM_50000"],
  ])("a density of %i is in the population band %s", (density, band) => {
    expect(populationBandOf(density)).toBe(band);
  });

  test("the summary as CSV has the numbers of the summary as JSON, a row for each hour", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const summary = await summaryOf(answer);
        const rows: Record<string, string>[] = parse(summaryFormats["text/csv"].textOf(summary), {
          columns: true,
          record_delimiter: "\r\n",
        });
        expect(rows).toEqual(
          summary.intervals.map(({ densestCell, groundRisk, ...interval }) => ({
            startTime: interval.startTime,
            endTime: interval.endTime,
            people: String(interval.people ?? ""),
            minPeople: String(interval.minPeople ?? ""),
            maxPeople: String(interval.maxPeople ?? ""),
            densestGeohash: densestCell?.geohash ?? "",
            densestPplDensity: String(densestCell?.pplDensity ?? ""),
            densestMinPplDensity: String(densestCell?.minPplDensity ?? ""),
            densestMaxPplDensity: String(densestCell?.maxPplDensity ?? ""),
            ...Object.fromEntries(
              groundRisk.flatMap(({ class: name, cells, areaKm2 }) => [
                [`${name}_cells`, String(cells)],
                [`${name}_areaKm2`, String(areaKm2)],
              ]),
            ),
            isQuietest: String(interval.startTime === summary.quietestHour?.startTime),
            isBusiest: String(interval.startTime === summary.busiestHour?.startTime),
          })),
        );
      }),
      { numRuns: runs(100, 20) },
    );
  });
});

const scope = "population-density-data:read";

function requestOf(boundary: unknown, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    area: { areaType: "POLYGON", boundary },
    ...hoursToCome(5),
    ...changes,
  };
}

describe("POST /summary", () => {
  beforeAll(useTables);

  test.each(["/populationdensitydata", "/population-density-data/v0.3"])(
    "POST %s/summary returns the totals of the answer of its /retrieve",
    async (family) => {
      const tile = freshTile();
      const slots = new Map<number, Slot>();
      for (let cell = 0; cell < 1_024; cell++) {
        if (cell % 7 > 0) slots.set(cell, cell % 5 === 0 ? "low" : 10 ** (cell % 6) - 1);
      }
      slots.set(cellIn(2, 3), 70_000);
      const weekdays = Array.from({ length: 7 }, (_, index) => `week#${index + 1}`);
      await Promise.all(weekdays.map((day) => storeTile(tile, day, slots)));
      const body = requestOf(boxIn(tile, [1, 1], [20, 25]));
      const token = await tokenWith({ scope, client: crypto.randomUUID() });
      const ask = async (path: string) => await call(`${family}${path}`, { method: "POST", body, token });
      const densities = published((await ask("/retrieve")).body);
      const { headers, body: answered } = await ask("/summary");
      const summary = summarizePopulationDensity.responses[200].parse(answered);
      expect(summary).toEqual(computedFrom(densities));
      expect(answered).toEqual(summary);
      expect(summary.intervals).toHaveLength(5);
      expect(headers.get("x-area-status")).toBe("PART_OF_AREA_NOT_SUPPORTED");
      expect(headers.get("x-density-basis")).toBe("TYPICAL;hours=5");
    },
  );
});
