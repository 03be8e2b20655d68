import { hoursPerDay } from "../../tiles/tile.ts";
import { Entries, entryBytes } from "./entries.ts";
import { firstKeyOf, rowKeyOf } from "./row-key.ts";

/** Rows in the order of their lines. Threads share the memory of the entries; the rest is copied between them. */
export interface PackedRows {
  readonly count: number;
  /** The tiles of the rows, each once. The geohashes of all rows of an import are equally long. */
  readonly tiles: readonly string[];
  /** Rows that follow each other and are of one tile and day: `runNumbers` numbers each. */
  readonly runs: Uint32Array;
  /** The memory of their `Entries`, and perhaps more; lines are counted from 0 from where these rows begin. */
  readonly entries: SharedArrayBuffer;
}

/** The numbers of a run. */
export const runNumbers = 3;

/** Where a run has which number: its tile's position in `tiles`, its day counted from 1970, its first row. */
export const run = { tile: 0, day: 1, first: 2 } as const;

/** Some of the rows of a file. */
export interface RowBatch {
  readonly rows: PackedRows;
  /** The first of the rows, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly file: number;
  /** Line number of the rows' line 0. */
  readonly firstLine: number;
}

/** Packs rows. */
export class RowWriter {
  #memory = new SharedArrayBuffer(0);
  #entries = new Entries(this.#memory);
  /** Used again and again. */
  #runs = new Uint32Array(0);
  #tiles: string[] = [];
  readonly #tilePositions = new Map<string, number>();
  /** The first row key of each tile. */
  #firstKeys: number[] = [];
  #count = 0;
  #runCount = 0;
  /** Tile, day and first row key of the row before. */
  #tile = -1;
  #day = -1;
  #firstKey = 0;

  /**
   * Begins with no rows.
   * @param rows the maximum that is added.
   * @param memory where they are put, if there is enough of it.
   */
  begin(rows: number, memory?: SharedArrayBuffer): void {
    const isEnough = memory !== undefined && memory.byteLength >= entryBytes * rows;
    this.#memory = isEnough ? memory : new SharedArrayBuffer(entryBytes * rows);
    this.#entries = new Entries(this.#memory, rows);
    if (this.#runs.length < runNumbers * rows) this.#runs = new Uint32Array(runNumbers * rows);
    this.#tiles = [];
    this.#tilePositions.clear();
    this.#firstKeys = [];
    this.#count = 0;
    this.#runCount = 0;
    this.#tile = -1;
  }

  /** The position of a tile, by what its geohashes have in common. */
  tilePosition(tile: string): number {
    const known = this.#tilePositions.get(tile);
    if (known !== undefined) return known;
    this.#tilePositions.set(tile, this.#tiles.length);
    this.#firstKeys.push(firstKeyOf(tile));
    return this.#tiles.push(tile) - 1;
  }

  /** @param tile its position. @param hour counted from 1970. @param line counted from 0. */
  add(
    tile: number,
    cell: number,
    hour: number,
    line: number,
    people: number,
    min: number,
    max: number,
  ): void {
    const day = Math.floor(hour / hoursPerDay);
    if (tile !== this.#tile || day !== this.#day) this.#beginRun(tile, day);
    const key = rowKeyOf(this.#firstKey, hour - day * hoursPerDay, cell);
    this.#entries.set(this.#count++, key, line, people, min, max);
  }

  /** The rows that were added. */
  packed(): PackedRows {
    return {
      count: this.#count,
      tiles: this.#tiles,
      runs: this.#runs.slice(0, runNumbers * this.#runCount),
      entries: this.#memory,
    };
  }

  #beginRun(tile: number, day: number): void {
    this.#tile = tile;
    this.#day = day;
    this.#firstKey = this.#firstKeys[tile] as number;
    const at = runNumbers * this.#runCount++;
    this.#runs[at + run.tile] = tile;
    this.#runs[at + run.day] = day;
    this.#runs[at + run.first] = this.#count;
  }
}
