/** The ground in detail, in squares of which the page loads those around what is covered. */
import type { Feature, FeatureCollection, Geometry } from "geojson";
import { merge } from "topojson-client";
import { continuous, type Position } from "../../console/data/outlines.ts";
import {
  groundSide,
  type PieceIndex,
  type PieceProperties,
  pieceFile,
  squareName,
  wrapped,
} from "../../console/map/ground-grid.ts";
import { lineInSquares, ringInSquares, type Square } from "./clip.ts";
import { countriesIn } from "./outlines.ts";
import { citiesOf, demoArea } from "./places.ts";

/** Corners that span less, in square degrees, are left out: 200 metres. */
const minCornerArea = 5e-6;

/** All places that GeoNames' list has but those of the world's overview, which are not repeated. */
const people = { from: 1_000, to: 100_000 } as const;

type PieceFeature = Feature<Geometry, PieceProperties>;

/**
 * The files of the ground, by their names, and their index. They have one hash in common: an index with thousands of
 * them would be longer than a piece.
 */
export async function groundFiles(
  hashOf: (texts: Iterable<string>) => string,
): Promise<{ readonly index: PieceIndex; readonly files: ReadonlyMap<string, string> }> {
  const pieces = await groundPieces();
  const hash = hashOf(pieces.values());
  const files = new Map([...pieces].map(([square, text]) => [pieceFile(square, hash), text]));
  return { index: { hash, squares: [...pieces.keys()] }, files };
}

/**
 * The squares that have land, as GeoJSON by the name of the square: the sea, which covers the coarse land of the
 * overview, the land on it, borders, and cities. The coast is that of Natural Earth at 1:10 million.
 */
async function groundPieces(): Promise<ReadonlyMap<string, string>> {
  const { topology, countries, borders } = await countriesIn("1:10 million", minCornerArea);
  const pieces = new Map<string, PieceFeature[]>();
  const add = (square: Square, feature: PieceFeature) => {
    const name = squareName(square);
    const features = pieces.get(name) ?? [seaOf(square)];
    pieces.set(name, features);
    features.push(feature);
  };
  for (const rings of merge(topology, countries).coordinates as Position[][][]) {
    addLand(rings.map(continuous), add);
  }
  for (const part of borders.flatMap((line) => lineInSquares(line, groundSide))) {
    add(part, pieceOf("border", { type: "LineString", coordinates: part.positions.map(rounded) }));
  }
  const isInDemo = await demoArea();
  for (const { name, population, at } of await citiesOf(people)) {
    const [longitude = 0, latitude = 0] = at;
    if (isInDemo(at)) continue;
    const square = { column: Math.floor(longitude / groundSide), row: Math.floor(latitude / groundSide) };
    add(square, {
      type: "Feature",
      properties: { kind: "town", name, people: Number(population.toPrecision(2)) },
      geometry: { type: "Point", coordinates: at },
    });
  }
  return new Map(
    [...pieces].map(([name, features]) => {
      const collection: FeatureCollection = { type: "FeatureCollection", features };
      return [name, JSON.stringify(collection)];
    }),
  );
}

/** Adds a polygon of land to each square that it is in. A ring around a pole needs no detail. */
function addLand(rings: readonly Position[][], add: (square: Square, feature: PieceFeature) => void): void {
  const [outer = []] = rings;
  if (outer[0]?.[0] !== outer.at(-1)?.[0]) return;
  const inSquares = new Map<string, { readonly square: Square; readonly rings: Position[][] }>();
  for (const ring of rings) {
    for (const { column, row, positions } of ringInSquares(ring.slice(0, -1), groundSide)) {
      const square = { column: wrapped(column), row };
      const shift = (square.column - column) * groundSide;
      const closed = [...positions, positions[0] ?? [0, 0]].map(([longitude, latitude]) =>
        rounded([longitude + shift, latitude]),
      );
      const found = inSquares.get(squareName(square)) ?? { square, rings: [] };
      inSquares.set(squareName(square), found);
      found.rings.push(closed);
    }
  }
  for (const { square, rings: parts } of inSquares.values()) {
    add(square, pieceOf("land", { type: "Polygon", coordinates: parts }));
  }
}

function seaOf({ column, row }: Square): PieceFeature {
  const [west, south] = [column * groundSide, row * groundSide];
  const [east, north] = [west + groundSide, south + groundSide];
  return pieceOf("sea", {
    type: "Polygon",
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  });
}

function pieceOf(kind: "sea" | "land" | "border", geometry: Geometry): PieceFeature {
  return { type: "Feature", properties: { kind }, geometry };
}

/** To about a hundred metres. */
function rounded([longitude, latitude]: Position): Position {
  const round = (degrees: number) => Math.round(degrees * 1_000) / 1_000;
  return [round(longitude), round(latitude)];
}
