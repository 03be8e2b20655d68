/** The regions that are covered, by the names of their cities. */
import { folded, isNameOf, plain } from "../../shared/place-names.ts";
import type { Box } from "./area.ts";
import type { Coverage } from "./capabilities.ts";
import { boxOfRing, isWithin, squareKilometresOf } from "./outlines.ts";

/** A city of the map, or a part of one. */
export interface City {
  readonly name: string;
  /** 0 for a part of a city. */
  readonly people: number;
  readonly longitude: number;
  readonly latitude: number;
  /** In other languages, and former ones. */
  readonly otherNames?: readonly string[];
  /** Two letters of the country, of the United States with the state: `US-TX`; undefined for small places. */
  readonly region?: string;
}

/** A polygon of what is covered. */
export interface Region {
  /** As {@link nameFor} says. */
  readonly name: string | undefined;
  readonly squareKilometres: number;
  readonly box: Box;
}

/** The regions, the largest first. */
export function regionsOf({ coordinates }: Coverage, places: readonly City[]): Region[] {
  const cities = places.filter(({ people }) => people > 0);
  return coordinates
    .map((polygon): Region => {
      const box = boxOfRing(polygon[0] ?? []);
      return { name: nameFor(polygon, cities), squareKilometres: sizeOf(polygon), box };
    })
    .sort((one, other) => other.squareKilometres - one.squareKilometres);
}

/** A city that was searched for. */
export interface FoundCity extends City {
  readonly isCovered: boolean;
}

/**
 * The cities whose names begin with a text, or have a word that does: first those with that very name, then those that
 * are covered, then the largest. After a comma is a country or a state.
 */
export function citiesNamed(
  text: string,
  cities: readonly City[],
  isCovered: (city: City) => boolean,
  most = 6,
): FoundCity[] {
  const wanted = plain(text);
  if (wanted === "") return [];
  const hasRegion = !/\d/.test(text) && text.includes(",");
  const found = cities
    .map((city) => {
      const names = [city.name, ...(city.otherNames ?? [])];
      // Of a small place nothing but the name is known.
      const asked = hasRegion && city.region === undefined ? text.replace(/,.*/s, "") : text;
      const isNamed = isNameOf(asked, names, city.region ?? "");
      const begins = (name: string) =>
        ` ${plain(name)}`.includes(` ${wanted}`) || folded(name).startsWith(folded(text));
      return { ...city, isNamed, isFound: isNamed || (!hasRegion && names.some(begins)) };
    })
    .filter(({ isFound }) => isFound)
    .map((city) => ({ ...city, isCovered: isCovered(city) }))
    .sort(
      (one, other) =>
        Number(other.isNamed) - Number(one.isNamed) ||
        Number(other.isCovered) - Number(one.isCovered) ||
        other.people - one.people,
    );
  return found
    .filter((city, index) => !found.slice(0, index).some((before) => isSameCity(before, city)))
    .slice(0, most);
}

/** Whether a city is another one's part of the same name, as the city proper of a commune. */
function isSameCity(one: City, other: City): boolean {
  const distance = Math.hypot(one.longitude - other.longitude, one.latitude - other.latitude);
  return one.name === other.name && distance < 0.2;
}

type Polygon = Coverage["coordinates"][number];

/** The name of a polygon's largest city, or `near` the nearest one; undefined where none is within two degrees. */
export function nameFor(polygon: Polygon, cities: readonly City[]): string | undefined {
  const inside = cities
    .filter(({ longitude, latitude }) => isWithin([longitude, latitude], polygon))
    .sort((one, other) => other.people - one.people);
  if (inside[0] !== undefined) return inside[0].name;
  const box = boxOfRing(polygon[0] ?? []);
  const [x, y] = [(box.west + box.east) / 2, (box.south + box.north) / 2];
  const distance = ({ longitude, latitude }: City) => {
    const east = longitude - x - 360 * Math.round((longitude - x) / 360);
    return Math.hypot(east * Math.cos((y * Math.PI) / 180), latitude - y);
  };
  const nearest = cities.reduce<City | undefined>(
    (best, city) => (best !== undefined && distance(best) <= distance(city) ? best : city),
    undefined,
  );
  return nearest === undefined || distance(nearest) > 2 ? undefined : `near ${nearest.name}`;
}

/** The area of a polygon without its holes. */
function sizeOf(polygon: Polygon): number {
  const [outer = 0, ...holes] = polygon.map(squareKilometresOf);
  return holes.reduce((size, hole) => size - hole, outer);
}
