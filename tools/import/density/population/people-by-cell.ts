import type { Box } from "../../../../functions/population-density/cover/box.ts";
import { areaFromEquator } from "../../../../functions/population-density/cover/cell-area.ts";
import type { Tile } from "../../../../functions/population-density/cover/cover.ts";
import { cellOf, codeAt, gridOf, tileSide } from "../../../../functions/population-density/cover/geohash.ts";
import { cellsPerTile } from "../../../../functions/population-density/tiles/tile-hour.ts";
import { areaOf, clipToRectangles, type Overlap, overlapOf, stepAt } from "./overlap.ts";
import type { Place, PopulatedPixels, PopulatedPoint, PopulatedPolygon } from "./places.ts";

/**
 * The people in the cells of a box. Each cell gets of a place's people the share of the place's area that they have in
 * common inside the box. All areas are taken in a plane whose axes are the longitude in degrees and the ellipsoid's area
 * from the equator on, so that a place and a cell of the same density have it to the last digits at any latitude.
 */
export class PeopleByCell {
  /** In the box. */
  people = 0;
  /** People of the places that are elsewhere, and of the parts of places that are. */
  peopleOutside = 0;
  /** Whether a point outside of the box would be inside with its latitude and longitude swapped. */
  isPerhapsSwapped = false;
  readonly #box: Box;
  readonly #precision: number;
  readonly #firstRow: number;
  readonly #firstColumn: number;
  readonly #rows: number;
  readonly #columns: number;
  /** Between the columns, the box's west and east included. */
  readonly #meridians: Float64Array;
  /** Between the rows, the box's south and north included. */
  readonly #parallels: Float64Array;
  /** The same by their area from the equator. */
  readonly #areas: Float64Array;
  /** Row by row from the south-west. */
  readonly #counts: Float64Array;

  /** @param box one that does not cross the antimeridian. */
  constructor(box: Box, precision: number) {
    const grid = gridOf(precision);
    this.#box = box;
    this.#precision = precision;
    this.#firstColumn = Math.floor((box.west + 180) / grid.cellWidth);
    this.#firstRow = Math.floor((box.south + 90) / grid.cellHeight);
    this.#meridians = bordersOf(box.west, box.east, -180, grid.cellWidth);
    this.#parallels = bordersOf(box.south, box.north, -90, grid.cellHeight);
    this.#areas = this.#parallels.map(areaFromEquator);
    this.#columns = this.#meridians.length - 1;
    this.#rows = this.#parallels.length - 1;
    this.#counts = new Float64Array(this.#rows * this.#columns);
  }

  add(place: Place): void {
    if ("ring" in place) this.#addPolygon(place);
    else if ("latitudes" in place) this.#addPixels(place);
    else this.#addPoint(place);
  }

  /** The people of a tile's cells, in their order. */
  inTile({ geohash, cells }: Tile): Float64Array {
    const { row, column } = cellOf(geohash);
    const all = new Float64Array(cellsPerTile);
    for (let down = 0; down < tileSide; down++) {
      const inRows = row * tileSide + down - this.#firstRow;
      if (inRows < 0 || inRows >= this.#rows) continue;
      for (let across = 0; across < tileSide; across++) {
        const inColumns = column * tileSide + across - this.#firstColumn;
        if (inColumns < 0 || inColumns >= this.#columns) continue;
        all[codeAt(down, across, this.#precision)] = this.#counts[inRows * this.#columns + inColumns] ?? 0;
      }
    }
    return Float64Array.from(cells, (cell) => all[cell] ?? 0);
  }

  #addPoint({ longitude, latitude, people }: PopulatedPoint): void {
    if (!isIn(this.#box, longitude, latitude)) {
      this.peopleOutside += people;
      this.isPerhapsSwapped ||= isIn(this.#box, latitude, longitude);
      return;
    }
    this.#give(stepAt(this.#parallels, latitude), stepAt(this.#meridians, longitude), people);
    this.people += people;
  }

  #addPixels({ longitudes, latitudes, people }: PopulatedPixels): void {
    const areas = latitudes.map(areaFromEquator);
    const columns = Array.from(longitudes.subarray(1), (east, column) =>
      overlapOf(this.#meridians, longitudes[column] as number, east),
    );
    for (let row = 0; row + 1 < areas.length; row++) {
      const [one, other] = [areas[row] as number, areas[row + 1] as number];
      const inRows = overlapOf(this.#areas, Math.min(one, other), Math.max(one, other));
      for (let column = 0; column < columns.length; column++) {
        const here = people[row * columns.length + column] as number;
        if (here > 0) this.#addRectangle(inRows, columns[column] as Overlap, here);
      }
    }
  }

  #addRectangle(rows: Overlap, columns: Overlap, people: number): void {
    const inside = people * rows.inside * columns.inside;
    this.people += inside;
    this.peopleOutside += people - inside;
    for (let row = 0; row < rows.shares.length; row++) {
      const inRow = people * (rows.shares[row] as number);
      for (let column = 0; column < columns.shares.length; column++) {
        this.#give(rows.first + row, columns.first + column, inRow * (columns.shares[column] as number));
      }
    }
  }

  #addPolygon({ ring: { longitudes, latitudes }, people }: PopulatedPolygon): void {
    const ys = latitudes.map(areaFromEquator);
    const total = areaOf({ xs: longitudes, ys });
    let inside = 0;
    for (const turn of [-360, 0, 360]) {
      const xs = longitudes.map((longitude) => longitude + turn);
      clipToRectangles({ xs, ys }, this.#meridians, this.#areas, (row, column, area) => {
        const here = people * (area / total);
        this.#give(row, column, here);
        inside += here;
      });
    }
    this.people += inside;
    this.peopleOutside += Math.max(people - inside, 0);
  }

  #give(row: number, column: number, people: number): void {
    const cell = row * this.#columns + column;
    this.#counts[cell] = (this.#counts[cell] as number) + people;
  }
}

/** The borders of cells strictly inside a range, between its ends. */
function bordersOf(from: number, to: number, origin: number, cell: number): Float64Array {
  const first = Math.floor((from - origin) / cell) + 1;
  const last = Math.ceil((to - origin) / cell) - 1;
  const borders = new Float64Array(Math.max(last - first + 1, 0) + 2);
  for (let at = 1; at + 1 < borders.length; at++) borders[at] = origin + (first + at - 1) * cell;
  borders[0] = from;
  borders[borders.length - 1] = to;
  return borders;
}

function isIn({ west, south, east, north }: Box, longitude: number, latitude: number): boolean {
  return longitude >= west && longitude <= east && latitude >= south && latitude <= north;
}
