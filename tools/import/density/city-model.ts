import type { Tile } from "../../../functions/population-density/cover/cover.ts";
import { cellOf, gridOf, suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import { densityOf, kernelsOf } from "./city-kernels.ts";
import { placeKinds, sharesIn } from "./city-week.ts";
import { type DrawnCity, type Place, type Position, populatedCentres } from "./drawn-city.ts";
import { groundOf, type Metres, planeAround, ringArea } from "./ground.ts";
import type { Layer, Model } from "./modelled-days.ts";

/** Between points at which a cell is looked at: rivers are some times as wide. */
const sampleDegrees = 0.0005;

/**
 * The people of a drawn city: at home around the centres of their communes; away where they work, shop and meet, on the
 * way and in parks, by hour and weekday. Nobody is on water. Every hour has all people of all communes, of whom a small
 * box has some.
 */
export function cityModel(city: DrawnCity): Model {
  return async ({ west, south, east, north }, precision) => {
    const metresOf = planeAround([(west + east) / 2, (south + north) / 2]);
    const densitiesAt = densitiesOf(city, await populatedCentres(city), metresOf);
    const shareOf = sharesIn(city.timeZone);
    const { cellHeight, cellWidth } = gridOf(precision);
    const [high, wide] = [Math.ceil(cellHeight / sampleDegrees), Math.ceil(cellWidth / sampleDegrees)];
    const [width, height] = metresOf([west + cellWidth / wide, south + cellHeight / high]).map(
      (metres, axis) => metres - (metresOf([west, south])[axis] ?? 0),
    ) as [number, number];
    const suffixes = suffixesOf(precision);

    return ({ geohash, cells }: Tile): Layer[] => {
      const people = placeKinds.map(() => new Float64Array(cells.length));
      for (const [index, cell] of cells.entries()) {
        const { row, column } = cellOf(geohash + (suffixes[cell] ?? ""));
        for (let sample = 0; sample < high * wide; sample++) {
          const longitude = (column + (Math.floor(sample / high) + 0.5) / wide) * cellWidth - 180;
          const latitude = (row + ((sample % high) + 0.5) / high) * cellHeight - 90;
          const densities = densitiesAt(metresOf([longitude, latitude]));
          for (const [kind, density] of densities.entries()) {
            const there = people[kind];
            if (there !== undefined) there[index] = (there[index] ?? 0) + density * width * height;
          }
        }
      }
      return placeKinds.map((kind, position) => ({
        people: people[position] ?? new Float64Array(cells.length),
        shareAt: (middle) => shareOf(kind, middle),
      }));
    };
  };
}

/** People per square metre at a point, if all were at places of one kind; in the order of `placeKinds`. */
function densitiesOf(
  city: DrawnCity,
  centres: readonly Place[],
  metresOf: (position: Position) => Metres,
): (point: Metres) => number[] {
  const groundAt = groundOf(city, metresOf);
  const all = centres.reduce((sum, { weight }) => sum + weight, 0);
  const homes = kernelsOf(centres, all, metresOf, (point) => groundAt(point).residents);
  const others = [city.workplaces, city.attractions, city.stations].map((places) =>
    kernelsOf(places, all, metresOf, (point) => groundAt(point).workers),
  );
  const visits = city.open.reduce(
    (sum, { ring, visitors }) => sum + visitors * ringArea(ring.map(metresOf)),
    0,
  );
  return (point) => {
    const { residents, workers, visitors } = groundAt(point);
    return [
      residents * densityOf(homes, point),
      ...others.map((kernels) => workers * densityOf(kernels, point)),
      visits === 0 ? 0 : (all * visitors) / visits,
    ];
  };
}
