import type { Range } from "./market-share.ts";

/** People counted in a cell in an hour, at most 10^9; one number that is the whole range if its file has none. */
export interface Row extends Range {
  /** What its geohash has in common with the other cells of its tile: all but the last two characters. */
  readonly tile: string;
  /** The last two characters of its geohash as a number from 0 to 1023. */
  readonly cell: number;
  /** In UTC, counted from 1970. */
  readonly hour: number;
  /** The position of its file among those of the import, counted from 0. */
  readonly file: number;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * Rows in the order of their lines, column by column: 38 bytes each, which pass from one thread to another without being
 * copied. Columns may be longer than there are rows.
 */
export interface RowColumns {
  readonly count: number;
  /** The tiles of the rows, each once. The geohashes of all rows of an import are equally long. */
  readonly tiles: readonly string[];
  /** The position of each row's tile in `tiles`. */
  readonly tile: Uint32Array<ArrayBuffer>;
  readonly cell: Uint16Array<ArrayBuffer>;
  readonly hour: Uint32Array<ArrayBuffer>;
  /** Counted from 0 from where the columns begin. */
  readonly line: Uint32Array<ArrayBuffer>;
  readonly people: Float64Array<ArrayBuffer>;
  readonly min: Float64Array<ArrayBuffer>;
  readonly max: Float64Array<ArrayBuffer>;
}

/** Some of the rows of a file. */
export interface RowBatch {
  readonly columns: RowColumns;
  /** The first of the rows in the columns, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly file: number;
  /** The number of the line that the columns call 0. */
  readonly firstLine: number;
}

/** A batch row by row. */
export function* rowsIn({ columns, from, to, file, firstLine }: RowBatch): Generator<Row> {
  for (let index = from; index < to; index++) {
    yield {
      tile: columns.tiles[columns.tile[index] as number] as string,
      cell: columns.cell[index] as number,
      hour: columns.hour[index] as number,
      people: columns.people[index] as number,
      min: columns.min[index] as number,
      max: columns.max[index] as number,
      file,
      line: firstLine + (columns.line[index] as number),
    };
  }
}

/** Columns that are being filled. */
export class ColumnWriter {
  readonly #tiles: string[] = [];
  readonly #tilePositions = new Map<string, number>();
  readonly #tile: RowColumns["tile"];
  readonly #cell: RowColumns["cell"];
  readonly #hour: RowColumns["hour"];
  readonly #line: RowColumns["line"];
  readonly #people: RowColumns["people"];
  readonly #min: RowColumns["min"];
  readonly #max: RowColumns["max"];
  #count = 0;

  /** @param rows at most so many. */
  constructor(rows: number) {
    this.#tile = new Uint32Array(rows);
    this.#cell = new Uint16Array(rows);
    this.#hour = new Uint32Array(rows);
    this.#line = new Uint32Array(rows);
    this.#people = new Float64Array(rows);
    this.#min = new Float64Array(rows);
    this.#max = new Float64Array(rows);
  }

  /** The position of a tile, by what its geohashes have in common. */
  tilePosition(tile: string): number {
    const known = this.#tilePositions.get(tile);
    if (known !== undefined) return known;
    this.#tilePositions.set(tile, this.#tiles.length);
    return this.#tiles.push(tile) - 1;
  }

  /** @param tile its position. */
  add(
    tile: number,
    cell: number,
    hour: number,
    line: number,
    people: number,
    min: number,
    max: number,
  ): void {
    const index = this.#count++;
    this.#tile[index] = tile;
    this.#cell[index] = cell;
    this.#hour[index] = hour;
    this.#line[index] = line;
    this.#people[index] = people;
    this.#min[index] = min;
    this.#max[index] = max;
  }

  columns(): RowColumns {
    return {
      count: this.#count,
      tiles: this.#tiles,
      tile: this.#tile,
      cell: this.#cell,
      hour: this.#hour,
      line: this.#line,
      people: this.#people,
      min: this.#min,
      max: this.#max,
    };
  }
}
