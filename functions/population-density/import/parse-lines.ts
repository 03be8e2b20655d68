import { inspect } from "../../../shared/import/lines.ts";
import { problemsNamed } from "../../../shared/import/problems.ts";
import { csvFields, type Header } from "./csv-lines.ts";
import { ndjsonFields } from "./ndjson-lines.ts";
import { addPlainRows } from "./plain-csv.ts";
import { type PackedRows, RowWriter } from "./row-batch.ts";
import { type LineProblem, RowCheck } from "./row-check.ts";

/** Whole lines of a file, without the header. */
export interface LinesToParse {
  readonly bytes: Buffer;
  /** Of CSV; undefined for NDJSON. */
  readonly header: Header | undefined;
  /** The length of geohashes; if undefined, the first one determines it. */
  readonly precision: number | undefined;
}

/** What the lines say. */
export interface ParsedLines {
  /** How many there are. */
  readonly lines: number;
  readonly rows: PackedRows;
  /** In the order of the lines; so many at most that they end an import. */
  readonly problems: readonly LineProblem[];
  readonly precision: number | undefined;
  /** Why the file cannot be read from line `lines` on. */
  readonly unreadable?: string | undefined;
}

/** Parses lines of counted people, wherever they come from. It remembers nothing that would change a result. */
export class LineParser {
  readonly #check = new RowCheck();
  readonly #rows = new RowWriter();

  parse({ bytes, header, precision }: LinesToParse): ParsedLines {
    this.#check.precision = precision;
    const lines = header && addPlainRows(bytes, header, this.#check, this.#rows);
    if (lines === undefined) {
      this.#check.precision = precision;
      return this.#parseAny(bytes, header);
    }
    return { lines, rows: this.#rows.packed(), problems: [], precision: this.#check.precision };
  }

  #parseAny(bytes: Buffer, header: Header | undefined): ParsedLines {
    const { lines, reason } = inspect(bytes);
    const rows = this.#rows;
    rows.begin(reason === undefined ? lines : 0);
    const problems: LineProblem[] = [];
    if (reason === undefined) {
      const refuse = (problem: LineProblem) => problems.push(problem);
      const text = bytes.toString();
      const fieldsOfLines =
        header === undefined ? ndjsonFields(text, lines, refuse) : csvFields(text, lines, header, refuse);
      for (const fields of fieldsOfLines) {
        const row = this.#check.rowOf(fields, refuse);
        if (row !== undefined) {
          const { tile, cell, hour, people, min, max } = row;
          rows.add(rows.tilePosition(tile), cell, hour, fields.line, people, min, max);
        }
        if (problems.length >= problemsNamed) break;
      }
    }
    return { lines, rows: rows.packed(), problems, precision: this.#check.precision, unreadable: reason };
  }
}
