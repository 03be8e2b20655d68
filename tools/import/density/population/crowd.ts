import { areaFromEquator } from "../../../../functions/population-density/cover/cell-area.ts";
import { maxPeople } from "../../../../functions/population-density/import/rows/row-check.ts";
import { areaOf } from "./overlap.ts";
import type { Place, PopulatedPixels } from "./places.ts";

/**
 * The maximum of people per km² in a pixel or an H3 cell: five on each square metre. The Kowloon Walled City, the
 * densest place that people have lived in, had less than two million.
 */
const maxPeoplePerSquareKm = 5_000_000;

/**
 * Whether more people are in a place than in any city: what is in its file is no number of people.
 * @returns which place and what may be wrong; undefined if there are not too many.
 */
export function crowdIn(place: Place): string | undefined {
  if ("latitudes" in place) return crowdInPixels(place);
  if ("ring" in place) {
    const { longitudes, latitudes } = place.ring;
    const squareKm = Math.abs(areaOf({ xs: longitudes, ys: latitudes.map(areaFromEquator) }));
    if (place.people <= maxPeoplePerSquareKm * squareKm) return undefined;
    return `${inLine(place.line)}the H3 cell ${at(meanOf(longitudes), meanOf(latitudes))} has ${perSquareKm(place.people, squareKm)}`;
  }
  if (place.people <= maxPeople) return undefined;
  return (
    `${inLine(place.line)}the point ${at(place.longitude, place.latitude)} has ${place.people.toLocaleString("en")} people: ` +
    `at most ${maxPeople.toLocaleString("en")} are read`
  );
}

function inLine(line: number | undefined): string {
  return line === undefined ? "" : `line ${line}: `;
}

function crowdInPixels({ longitudes, latitudes, people, nameOf }: PopulatedPixels): string | undefined {
  const across = longitudes.length - 1;
  const width = ((longitudes[across] as number) - (longitudes[0] as number)) / across;
  for (let row = 0; row + 1 < latitudes.length; row++) {
    const [one, other] = [latitudes[row] as number, latitudes[row + 1] as number];
    const squareKm = width * Math.abs(areaFromEquator(other) - areaFromEquator(one));
    const most = maxPeoplePerSquareKm * squareKm;
    for (let index = row * across; index < (row + 1) * across; index++) {
      const here = people[index] as number;
      if (!(here > most) && here !== Number.NEGATIVE_INFINITY) continue;
      const column = index % across;
      const middle = meanOf([longitudes[column] as number, longitudes[column + 1] as number]);
      return (
        `${nameOf?.(index) ?? "the pixel"} ${at(middle, (one + other) / 2)} has ${perSquareKm(here, squareKm)}. Was the ` +
        "no-data value lost? gdal_edit.py -a_nodata VALUE FILE says which one it is"
      );
    }
  }
  return undefined;
}

function perSquareKm(people: number, squareKm: number): string {
  if (!Number.isFinite(people)) return `an infinite number of people (${people})`;
  return (
    `${people < 1e15 ? people.toLocaleString("en") : people.toPrecision(3)} people, more than ${maxPeoplePerSquareKm.toLocaleString("en")} per km² (it has ${squareKm.toPrecision(3)} km²), ` +
    "which no city has"
  );
}

function at(longitude: number, latitude: number): string {
  return `at ${Number(longitude.toFixed(6))} E, ${Number(latitude.toFixed(6))} N`;
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
