import * as z from "zod";
import type { Box } from "../../../functions/population-density/cover/box.ts";
import { type Polygon, polygonOf } from "../../../functions/population-density/cover/polygon.ts";

const longitude = z.number().min(-180).max(180);
const latitude = z.number().min(-90).max(90);

/** A box as GeoJSON has it, west, south, east and north, at most half around the globe. */
export const bbox = z
  .tuple([longitude, latitude, longitude, latitude])
  .transform(([west, south, east, north]): Box => ({ west, south, east, north }))
  .refine(isAtMostHalfAround, "must have its west before its east, at most 180 degrees")
  .refine(({ south, north }) => south < north, "must have its south before its north");

function isAtMostHalfAround({ west, east }: Box): boolean {
  const width = east < west ? east - west + 360 : east - west;
  return width > 0 && width <= 180;
}

/**
 * The box as a polygon.
 * @throws RangeError for a box that has no area or is wider than 180 degrees.
 */
export function polygonAround(box: Box): Polygon {
  const polygon = isAtMostHalfAround(box) ? polygonOf(cornersOf(box)) : undefined;
  if (polygon === undefined) throw new RangeError("the box has no area or is too wide");
  return polygon;
}

/** The corners of a box, counterclockwise from the south-west. */
export function cornersOf({ west, south, east, north }: Box) {
  return [
    { latitude: south, longitude: west },
    { latitude: south, longitude: east },
    { latitude: north, longitude: east },
    { latitude: north, longitude: west },
  ];
}

/** The box as a GeoJSON geometry. */
export function polygonOfBox(box: Box) {
  const ring = cornersOf(box).map(({ latitude, longitude }) => [longitude, latitude]);
  return { type: "Polygon" as const, coordinates: [[...ring, ...ring.slice(0, 1)]] };
}
