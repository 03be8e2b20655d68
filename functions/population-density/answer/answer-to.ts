import { coverOf, type Tile } from "../cover/cover.ts";
import { type AskedHour, storedDaysOf } from "../query/intervals.ts";
import type { DensityQuery } from "../query/parse.ts";
import { observedDay, publishedDays, tileName, typicalDay } from "../tiles/store.ts";
import { isCovered, type TileDay } from "../tiles/tile.ts";
import type { TileHour } from "../tiles/tile-hour.ts";
import type { Answer } from "./json.ts";

/**
 * Reads all tiles of a query and returns its answer (behaviour section 7). An hour that has begun comes from the
 * observed day, or from the typical weekday where nothing was observed; a future hour comes from the typical weekday.
 * Typical weekdays are read only where the observed days do not suffice.
 * @throws {Unavailable} when the store does not answer.
 */
export async function answerTo(
  { polygon, asked, precision }: DensityQuery,
  signal: AbortSignal,
): Promise<Answer> {
  const tiles = coverOf(polygon, precision);
  const { weekdays, dates } = storedDaysOf(asked);
  const days = [...weekdays.map(typicalDay), ...dates.map(observedDay)];
  const names = tiles.map(({ geohash }) => tileName(precision, geohash));
  const daysOf = await publishedDays(names, days, signal);
  const status = statusOf(tiles, daysOf);
  if (status === "AREA_NOT_SUPPORTED") {
    return { status, precision, tiles: [], hours: [], openHour: () => undefined };
  }
  return {
    status,
    precision,
    tiles,
    hours: asked.map(({ hour }) => hour),
    openHour: (tile, hour) => openHour(daysOf[tile], asked[hour]),
  };
}

/** How much of a cover is covered on any of the days. */
function statusOf(tiles: readonly Tile[], daysOf: readonly ReadonlyMap<string, TileDay>[]) {
  let covered = 0;
  let all = 0;
  for (const [index, { cells }] of tiles.entries()) {
    const coverages = [...(daysOf[index]?.values() ?? [])].map(({ coverage }) => coverage);
    all += cells.length;
    for (const cell of cells) if (coverages.some((coverage) => isCovered(coverage, cell))) covered++;
  }
  if (covered === 0) return "AREA_NOT_SUPPORTED";
  return covered === all ? "SUPPORTED_AREA" : "PART_OF_AREA_NOT_SUPPORTED";
}

function openHour(
  days: ReadonlyMap<string, TileDay> | undefined,
  asked: AskedHour | undefined,
): TileHour | undefined {
  if (days === undefined || asked === undefined) return undefined;
  const { date, weekday, ofDay } = asked;
  const opened = date === undefined ? undefined : days.get(observedDay(date))?.openHour(ofDay);
  return opened ?? days.get(typicalDay(weekday))?.openHour(ofDay);
}
