/** The squares of the detailed ground, of which the page loads those around what is covered. */
import type { Coverage } from "../data/capabilities.ts";
import { boxOfRing } from "../data/outlines.ts";

/** The side of a square in degrees: four of them around a place in Europe, with every town, take 125 kB. */
export const groundSide = 3;

/** How far around the coverage the ground is detailed, in degrees of latitude: 60 km. */
const margin = 0.54;

/** What a square has (`tools/console/ground-pieces.ts` makes the features). */
export interface PieceProperties {
  readonly kind: "sea" | "land" | "border" | "town";
  readonly name?: string;
  readonly people?: number;
}

/** Which squares have a piece, and the hash that the names of all pieces end with. */
export interface PieceIndex {
  readonly hash: string;
  readonly squares: readonly string[];
}

/** The file with the piece of a square. */
export function pieceFile(square: string, hash: string): string {
  return `ground.${square}-${hash}.json`;
}

/** The name of a square: its south-western corner is at (column × side, row × side) degrees. */
export function squareName({ column, row }: { readonly column: number; readonly row: number }): string {
  return `${column},${row}`;
}

/** The column of a square on the world itself: shapes that cross the antimeridian go on beyond 180 degrees. */
export function wrapped(column: number): number {
  const columns = 360 / groundSide;
  return ((((column + columns / 2) % columns) + columns) % columns) - columns / 2;
}

/** The names of the squares within 60 km of what is covered; at most some, those of the first polygons. */
export function squaresAround({ coordinates }: Coverage, most = 24): string[] {
  const names = new Set<string>();
  for (const [outer = []] of coordinates) {
    const box = boxOfRing(outer);
    const [south, north] = [box.south - margin, box.north + margin];
    const stretch = 1 / Math.max(0.1, Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180));
    const [west, east] = [box.west - margin * stretch, box.east + margin * stretch];
    for (let column = Math.floor(west / groundSide); column * groundSide <= east; column++) {
      for (let row = Math.floor(south / groundSide); row * groundSide <= north; row++) {
        if (names.size < most) names.add(squareName({ column: wrapped(column), row }));
      }
    }
  }
  return [...names];
}
