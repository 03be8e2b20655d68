import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import type { CountedDay, CountedTile } from "../../../functions/population-density/privacy/counted.ts";
import { isCovered } from "../../../functions/population-density/tiles/tile.ts";

/**
 * Counted days as `rowsOf` reads them, some rows at a time and the header first: a row for each covered cell of each
 * counted hour, so that reading them gives the same days, people to the thousandth.
 */
export async function* csvOf(days: Iterable<CountedDay>): AsyncGenerator<string> {
  yield "geohash,startTime,people,minPeople,maxPeople\n";
  for (const { date, tiles } of days) {
    for await (const tile of tiles) {
      for (const hour of tile.hours.keys()) {
        const rows = rowsOfHour(tile, hour, `${date}T${String(hour).padStart(2, "0")}:00:00Z`);
        if (rows !== "") yield rows;
      }
    }
  }
}

const suffixes = suffixesOf(2);

function rowsOfHour({ geohash, coverage, hours }: CountedTile, hour: number, startTime: string): string {
  const counted = hours[hour];
  if (counted === undefined) return "";
  const { people, min, max } = counted;
  return suffixes
    .map((suffix, cell) =>
      isCovered(coverage, cell)
        ? `${geohash}${suffix},${startTime},${[people, min, max].map((numbers) => rounded(numbers[cell])).join(",")}\n`
        : "",
    )
    .join("");
}

function rounded(people = 0): number {
  return Math.round(1_000 * people) / 1_000;
}
