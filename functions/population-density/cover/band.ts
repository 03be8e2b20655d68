import { codeAt, tileSide } from "./geohash.ts";
import type { Runs } from "./runs.ts";

const codesPerTile = tileSide * tileSide;
const allCodes = Uint16Array.from({ length: codesPerTile }, (_, code) => code);
const fullRow = -1;

/**
 * One row of tiles, 32 rows of cells, filled with runs and emptied tile by tile. What it holds and does grows with
 * the tiles that a run enters, and not with those between them; only one number per tile of its width is kept.
 */
export class Band {
  /** For each tile from the left, 1 + its entry in the lists below; 0 for a tile that no run has entered. */
  readonly #entries: Int32Array;
  #tiles: number[] = [];
  #counts: number[] = [];
  /** 32 rows of 32 columns for each tile entered: bit `i` for column `i`. */
  #masks = new Int32Array(tileSide * 16);
  readonly #layout: Layout;
  /** The cells of one tile by code, 32 to a number. */
  readonly #codes = new Int32Array(tileSide);

  /** @param width in columns of cells. */
  constructor(width: number, precision: number) {
    this.#entries = new Int32Array(Math.ceil(width / tileSide));
    this.#layout = precision % 2 === 0 ? even : odd;
  }

  /** Adds runs of one row of tiles that neither overlap each other nor any added before. */
  add({ rows, firsts, lasts, length }: Runs): void {
    for (let run = 0; run < length; run++) {
      const row = (rows[run] as number) % tileSide;
      const first = firsts[run] as number;
      const last = lasts[run] as number;
      const [firstTile, lastTile] = [first >> 5, last >> 5];
      for (let tile = firstTile; tile <= lastTile; tile++) {
        const from = tile === firstTile ? first & 31 : 0;
        const to = tile === lastTile ? last & 31 : 31;
        const entry = this.#entryOf(tile);
        const mask = (fullRow >>> (31 - to + from)) << from;
        const index = entry * tileSide + row;
        this.#masks[index] = (this.#masks[index] as number) | mask;
        this.#counts[entry] = (this.#counts[entry] as number) + to - from + 1;
      }
    }
  }

  /** Empties the band: its tiles, counted from the left, in no order. */
  take(): { readonly tile: number; readonly cells: Uint16Array }[] {
    const taken = this.#tiles.map((tile, entry) => {
      this.#entries[tile] = 0;
      const count = this.#counts[entry] as number;
      return { tile, cells: count === codesPerTile ? allCodes : this.#cellsAt(entry, count) };
    });
    this.#tiles = [];
    this.#counts = [];
    return taken;
  }

  #entryOf(tile: number): number {
    const known = this.#entries[tile] as number;
    if (known > 0) return known - 1;
    const entry = this.#tiles.length;
    this.#tiles.push(tile);
    this.#counts.push(0);
    this.#entries[tile] = entry + 1;
    const start = entry * tileSide;
    if (start === this.#masks.length) {
      const masks = new Int32Array(2 * start);
      masks.set(this.#masks);
      this.#masks = masks;
    }
    this.#masks.fill(0, start, start + tileSide);
    return entry;
  }

  #cellsAt(entry: number, count: number): Uint16Array {
    this.#spread(entry);
    const cells = new Uint16Array(count);
    let length = 0;
    for (let word = 0; word < tileSide; word++) {
      for (let bits = this.#codes[word] as number; bits !== 0; bits &= bits - 1) {
        cells[length++] = word * tileSide + 31 - Math.clz32(bits & -bits);
      }
    }
    return cells;
  }

  /** Moves the cells of a tile from rows of columns to the order of their codes. */
  #spread(entry: number): void {
    const { columns, words, bits, rows } = this.#layout;
    this.#codes.fill(0);
    for (let row = 0; row < tileSide; row++) {
      let mask = this.#masks[entry * tileSide + row] as number;
      const rowCode = rows[row] as number;
      for (let column = 0; mask !== 0; column += columns, mask >>>= columns) {
        const part = mask & ((1 << columns) - 1);
        const word = (rowCode >> 5) | (words[column] as number);
        this.#codes[word] = (this.#codes[word] as number) | ((bits[part] as number) << (rowCode & 31));
      }
    }
  }
}

/** How codes of one parity of the precision follow from rows and columns. */
interface Layout {
  /** How many neighbours of a row have codes that differ in the lowest 5 bits only. */
  readonly columns: number;
  /** What a column adds to the upper 5 bits of a code. */
  readonly words: Uint8Array;
  /** For each set of so many neighbours in row 0, the set of their codes. */
  readonly bits: Int32Array;
  /** The code of column 0 of each row. */
  readonly rows: Uint16Array;
}

function layoutFor(precision: number): Layout {
  const columns = precision % 2 === 0 ? 4 : 8;
  const codes = Array.from({ length: columns }, (_, column) => codeAt(0, column, precision));
  return {
    columns,
    words: Uint8Array.from({ length: tileSide }, (_, column) => codeAt(0, column, precision) >> 5),
    bits: Int32Array.from({ length: 1 << columns }, (_, set) =>
      codes.reduce((sum, code, column) => sum | (((set >> column) & 1) << code), 0),
    ),
    rows: Uint16Array.from({ length: tileSide }, (_, row) => codeAt(row, 0, precision)),
  };
}

const [even, odd] = [layoutFor(2), layoutFor(3)];
