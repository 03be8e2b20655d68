import { type CoordPair, cellToBoundary } from "h3-js";
import type { Ring } from "./places.ts";

/**
 * The ring of an H3 cell, a hexagon or a pentagon, whose edges are arcs of great circles. A ring around a pole goes to
 * the pole and back along a meridian.
 */
export function ringOf(h3: string): Ring {
  const corners = cellToBoundary(h3);
  const longitudes: number[] = [];
  const latitudes: number[] = [];
  for (const [index, corner] of corners.entries()) {
    for (const [latitude, longitude] of arc(corner, corners[(index + 1) % corners.length] ?? corner)) {
      longitudes.push(unwrapped(longitude, longitudes.at(-1) ?? longitude));
      latitudes.push(latitude);
    }
  }
  const [start, latitude] = [longitudes[0] as number, latitudes[0] as number];
  const end = unwrapped(start, longitudes.at(-1) as number);
  if (end !== start) {
    const pole = Math.sign(latitude) * 90;
    longitudes.push(end, end, start);
    latitudes.push(latitude, pole, pole);
  }
  return { longitudes, latitudes };
}

/** A longitude at most 180 degrees away from the one before, beyond ±180 if need be. */
function unwrapped(longitude: number, before: number): number {
  return longitude + 360 * Math.round((before - longitude) / 360);
}

const earthRadiusKm = 6_371;

/** A straight edge of this length is a third of a metre away from its arc, at 45 degrees. */
const pieceKm = 4;

/** The points of an arc from one to before the other. */
function arc(from: CoordPair, to: CoordPair): CoordPair[] {
  const [start, end] = [vectorAt(from), vectorAt(to)];
  const lengthKm = earthRadiusKm * Math.hypot(...start.map((each, axis) => each - (end[axis] as number)));
  // The nearer to a pole, the more an arc bends away from parallels.
  const bend = Math.max(...[start, between(start, end, 0.5), end].map(tangentOfLatitude));
  const pieces = Math.min(Math.ceil((lengthKm / pieceKm) * Math.sqrt(bend)), 1_000);
  const inner = Array.from({ length: Math.max(pieces - 1, 0) }, (_, piece) =>
    pointAt(between(start, end, (piece + 1) / pieces)),
  );
  return [from, ...inner];
}

/** A direction from the middle of the Earth, of any length above 0. */
type Vector = readonly [x: number, y: number, z: number];

function vectorAt([latitude, longitude]: CoordPair): Vector {
  const [phi, lambda] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

function pointAt([x, y, z]: Vector): CoordPair {
  return [(Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI, (Math.atan2(y, x) * 180) / Math.PI];
}

function tangentOfLatitude([x, y, z]: Vector): number {
  return Math.abs(z) / Math.hypot(x, y);
}

function between([x, y, z]: Vector, [toX, toY, toZ]: Vector, share: number): Vector {
  return [x + share * (toX - x), y + share * (toY - y), z + share * (toZ - z)];
}
