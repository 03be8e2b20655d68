/** The squares of the detailed ground, of which the page loads those around what is covered. */
import type { Coverage } from "../request/capabilities.ts";

/** The side of a square in degrees. */
export const groundSide = 10;

/** How far around the coverage the ground is detailed, in degrees of latitude: 60 km. */
const margin = 0.54;

/** What a square has (`tools/console/ground-pieces.ts` makes the features). */
export interface PieceProperties {
  readonly kind: "sea" | "land" | "border" | "town";
  readonly name?: string;
  readonly people?: number;
}

/** The name of a square: its south-western corner is at (column × side, row × side) degrees. */
export function squareName({ column, row }: { readonly column: number; readonly row: number }): string {
  return `${column},${row}`;
}

/** The names of the squares within 60 km of what is covered; at most some, those of the first polygons. */
export function squaresAround({ coordinates }: Coverage, most = 24): string[] {
  const names = new Set<string>();
  for (const [outer = []] of coordinates) {
    const latitudes = outer.map(([, latitude = 0]) => latitude);
    const [south, north] = [Math.min(...latitudes) - margin, Math.max(...latitudes) + margin];
    const stretch = 1 / Math.max(0.1, Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180));
    const longitudes = outer.map(([longitude = 0]) => longitude);
    const [west, east] = [
      Math.min(...longitudes) - margin * stretch,
      Math.max(...longitudes) + margin * stretch,
    ];
    for (let column = Math.floor(west / groundSide); column * groundSide <= east; column++) {
      for (let row = Math.floor(south / groundSide); row * groundSide <= north; row++) {
        if (names.size < most) names.add(squareName({ column, row }));
      }
    }
  }
  return [...names];
}
