import { ImportError } from "../../../../shared/import/import-error.ts";
import { suffixesOf } from "../../cover/geohash.ts";
import { setPeople } from "../../privacy/anonymous-tiles.ts";
import type { CountedDay, CountedTile } from "../../privacy/counted.ts";
import { scaledUp } from "../../privacy/market-share.ts";
import { mergedHours } from "../../privacy/merged-parts.ts";
import { cellsIn } from "../../privacy/parts.ts";
import { cellAreas } from "../../privacy/tile-pyramid.ts";
import { spansOf } from "../../tiles/span.ts";
import { tileName } from "../../tiles/store.ts";
import { TileHour } from "../../tiles/tile-hour.ts";
import type { CheckedDay } from "./day-parts.ts";
import { type DayStorage, dayKey } from "./day-storage.ts";
import { StoredSpans } from "./stored-spans.ts";
import { storedParts } from "./tile-items.ts";

/**
 * Rows of cells that stay as they are published must say what is published.
 * @throws {ImportError} for the first row that does not.
 */
export async function refuseContradictions(
  day: CountedDay,
  storage: DayStorage,
  found: Pick<CheckedDay, "division" | "parts">,
): Promise<void> {
  if (found.division.kept.size === 0) return;
  const { threshold, marketShare = 1, precisions } = storage;
  for await (const tile of day.tiles) {
    const kept = found.division.kept.get(tile.geohash);
    if (kept === undefined) continue;
    const cells = cellsIn(kept).filter((cell) => tile.hours.some((hour) => (hour?.people[cell] ?? 0) > 0));
    if (cells.length === 0) continue;
    const published = precisions.includes(day.precision)
      ? await publishedHours(tile, day, storage, found)
      : [];
    const areas = cellAreas(tile.geohash, day.precision);
    for (const [hour, counted] of tile.hours.entries()) {
      for (const cell of counted === undefined ? [] : cells) {
        const people = counted?.people[cell] ?? 0;
        if (people === 0) continue;
        const wanted = new TileHour();
        if (people < threshold) wanted.setSuppressed(cell);
        else {
          const range = scaledUp({ people, min: people, max: people }, marketShare);
          setPeople(wanted, cell, range, areas[cell] ?? Number.NaN);
        }
        if (published[hour]?.codes[cell] === wanted.codes[cell]) continue;
        const geohash = tile.geohash + suffixesOf(day.precision)[cell];
        throw new ImportError([
          `${day.date}: cell ${geohash} in hour ${hour} was published with another number, ` +
            "by an import that covers further cells: import everything that it covered, or leave the cell out",
        ]);
      }
    }
  }
}

/** What the day's parts have in a tile of the finest precision. */
async function publishedHours(
  tile: CountedTile,
  day: CountedDay,
  storage: DayStorage,
  found: Pick<CheckedDay, "parts">,
): Promise<readonly (TileHour | undefined)[]> {
  const spans = new StoredSpans(tileName(day.precision, tile.geohash));
  const published: (TileHour | undefined)[] = [];
  for (const span of spansOf(dayKey(day, storage))) {
    const item = (await spans.of([span])).get(span);
    const parts = await storedParts(spans, item, found.parts);
    const merged = mergedHours(
      [...parts.values()].map((hours) => ({
        hours,
        areas: new Float64Array(),
        bounds: new Uint32Array(),
        boundPeople: 0,
      })),
      new Float64Array(),
    );
    for (const [hour, tileHour] of merged.entries()) published[hour] ??= tileHour;
  }
  return published;
}
