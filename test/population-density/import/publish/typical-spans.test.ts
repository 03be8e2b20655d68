import { beforeEach, expect, test } from "vitest";
import { answerTo } from "../../../../functions/population-density/answer/answer-to.ts";
import { cellArea } from "../../../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../../../functions/population-density/cover/geohash.ts";
import type { DayStorage } from "../../../../functions/population-density/import/publish/day-storage.ts";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { parseDensityRequest } from "../../../../functions/population-density/query/parse.ts";
import { addToDataSet, readDataSet } from "../../../../functions/population-density/tiles/data-set-store.ts";
import { forecastQuality } from "../../../../functions/population-density/tiles/forecast-error.ts";
import { spanAt } from "../../../../functions/population-density/tiles/span.ts";
import { readSpans, tileName, typicalDay } from "../../../../functions/population-density/tiles/store.ts";
import { readTileDay } from "../../../../functions/population-density/tiles/tile.ts";
import { boxIn } from "../../../support/densities.ts";
import {
  type Counts,
  dayOf,
  finest,
  freshTile,
  observed,
  signal,
  tileOf,
  typical,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

const calendar = { timeZone: "Europe/Madrid", holidays: ["2026-12-08"] };
const inMadrid: DayStorage = { ...observed, ...finest, calendar };
let tile = "";
beforeEach(() => {
  tile = freshTile();
});

/** People of a cell of the tile in one hour; undefined if nothing is stored of it. */
async function peopleOn(day: string, hour: number, cell: number): Promise<number | undefined> {
  const [item] = await readSpans(tileName(7, tile), [spanAt(day, hour)], signal());
  const found = item && readTileDay(item.hours).openHour(hour);
  return found && Math.round(found.value(cell) * cellArea(tile + suffixesOf(7)[cell]));
}

/** Stores a day of the tile and adds its comparison to the data set, as an import does. */
async function importDay(date: string, counts: Counts, storage: DayStorage): Promise<void> {
  const { compared } = await storeDay(dayOf(date, tileOf(tile, counts)), storage);
  await addToDataSet({ compared: [compared] });
}

test("a typical Monday at 8:00 in Madrid is made of days before and after a clock change", async () => {
  // 8:00 in Madrid: 6:00 UTC until 24 October, then 7:00 UTC.
  await importDay("2026-10-19", { 6: { 0: 100 }, 7: { 0: 900 } }, inMadrid);
  await importDay("2026-10-26", { 7: { 0: 200 }, 8: { 0: 1_100 } }, inMadrid);

  expect(await peopleOn(typicalDay(1), 7, 0)).toBe(150);
  expect(await peopleOn(typicalDay(1), 8, 0)).toBe(1_000);
});

test("an answer has the same local hour after a clock change, and a holiday's from a Sunday", async () => {
  await importDay("2026-10-26", { 7: { 0: 200 }, 8: { 0: 900 } }, inMadrid);
  await importDay("2026-10-25", { 7: { 0: 50 } }, inMadrid);
  const densityAt = async (startTime: string) => {
    const area = { boundary: boxIn(tile, [0, 0], [0.5, 0.5]) };
    const now = new Date(Date.parse(startTime) - 3_600_000);
    const query = parseDensityRequest({ area, startTime, endTime: startTime, precision: 7 }, now);
    if ("code" in query) throw new Error(query.code);
    const answer = await answerTo(query, signal());
    const density = (await answer.openHour(0, 0))?.value(0) ?? 0;
    return Math.round(density * cellArea(`${tile}00`));
  };

  // Both at 8:00 on a Monday in Madrid.
  expect(await densityAt("2026-11-30T07:00:00Z")).toBe(200);
  expect(await densityAt("2027-03-29T06:00:00Z")).toBe(200);
  expect(await densityAt("2027-03-29T07:00:00Z")).toBe(900);
  expect(await densityAt("2026-12-08T07:00:00Z")).toBe(50);
});

/** What is kept of the comparisons, in people. */
async function kept() {
  const compared = (await readDataSet(signal()))?.compared ?? [];
  return compared.map(({ day, errors }) => {
    const [error] = errors;
    const { slots = 0, within = 0, weeks = 0 } = error ?? {};
    const wape = (error?.error ?? 0) / (error?.observed ?? 1);
    return { day, slots, within, weeks, wape: Math.round(100 * wape) };
  });
}

test("an import compares an observed day with the typical weekday before it, and once", async () => {
  const storage: DayStorage = { ...observed, ...finest };
  await importDay("2026-11-02", { 8: { 0: 100, 1: 3, 2: 3 } }, storage);
  expect(await kept()).toEqual([]);
  await importDay("2026-11-09", { 8: { 0: 300, 1: 3, 2: 200 } }, storage);
  // Typical were 100 people, and none known of the others: the third had 200, the second none known again.
  const ninth = { day: "2026-11-09", slots: 2, within: 0, weeks: 1, wape: 80 };
  expect(await kept()).toEqual([ninth]);
  await importDay("2026-11-16", { 8: { 0: 250, 1: 3, 2: 3 } }, storage);
  // Typical were 200, from 100 to 300; the third cell was suppressed on one day of two, and so is the typical one.
  const sixteenth = { day: "2026-11-16", slots: 1, within: 1, weeks: 2, wape: 20 };
  expect(await kept()).toEqual([sixteenth, ninth]);

  await importDay("2026-11-09", { 8: { 0: 300, 1: 3, 2: 200 } }, storage);
  await importDay("2026-11-16", { 8: { 0: 250, 1: 3, 2: 3 } }, storage);
  expect(await kept()).toEqual([sixteenth, ninth]);

  // Corrected counts are compared with what was typical without the day.
  await importDay("2026-11-16", { 8: { 0: 400, 1: 3, 2: 3 } }, storage);
  expect(await kept()).toEqual([{ ...sixteenth, within: 0, wape: 50 }, ninth]);
});

test("an import compares an observed day with the typical weekday that a model gave", async () => {
  await importDay("2026-11-02", { 8: { 0: 100 } }, { ...typical, ...finest });
  await importDay("2026-11-09", { 8: { 0: 80 } }, { ...observed, ...finest });
  expect(await kept()).toEqual([{ day: "2026-11-09", slots: 1, within: 0, weeks: 0, wape: 25 }]);
});

test("the forecast quality of a precision names each region that was compared once", () => {
  const [lyon, oslo] = [
    { west: 4.7, south: 45.7, east: 5, north: 45.9 },
    { west: 10.6, south: 59.8, east: 10.9, north: 60 },
  ];
  const errors = [{ precision: 7, slots: 10, within: 9, observed: 100, error: 5, weeks: 4 }];
  const compared = [
    { day: "2026-11-16", area: "a", box: lyon, errors },
    { day: "2026-11-16", area: "b", box: oslo, errors },
    { day: "2026-11-09", area: "a", box: lyon, errors },
    { day: "2026-11-02", area: "a", errors },
  ];
  expect(forecastQuality(compared)).toMatchObject([{ precision: 7, days: 3, boxes: [lyon, oslo] }]);
});

test("the forecast quality of a precision adds up its days", () => {
  const of = (day: string, precision: number, error: number) => ({
    day,
    area: "a",
    errors: [{ precision, slots: 10, within: 9, observed: 100, error, weeks: 4 }],
  });
  expect(forecastQuality([of("2026-11-16", 6, 5), of("2026-11-16", 7, 20), of("2026-11-09", 7, 40)])).toEqual(
    [
      { precision: 7, days: 2, newestDay: "2026-11-16", weeks: 4, wape: 0.3, withinRange: 0.9 },
      { precision: 6, days: 1, newestDay: "2026-11-16", weeks: 4, wape: 0.05, withinRange: 0.9 },
    ],
  );
});
