import { inspect } from "../../../../shared/import/lines.ts";
import { problemsNamed } from "../../../../shared/import/problems.ts";
import { csvFields, type Header } from "./csv-lines.ts";
import { ndjsonFields } from "./ndjson-lines.ts";
import { addPlainRows, maxPlainRows } from "./plain-csv.ts";
import { type PackedRows, RowWriter } from "./row-batch.ts";
import { type LineProblem, RowCheck } from "./row-check.ts";

/** Whole lines of a file, without the header. */
export interface LinesToParse {
  readonly bytes: Buffer;
  /** The columns of CSV; undefined for NDJSON. */
  readonly header: Header | undefined;
  /** The length of geohashes; if undefined, the first one determines it. */
  readonly precision: number | undefined;
  /** Memory for the rows: that of earlier rows, which have been read. */
  readonly memory?: SharedArrayBuffer | undefined;
}

/** What the lines say. */
export interface ParsedLines {
  /** How many there are. */
  readonly lines: number;
  readonly rows: PackedRows;
  /** Equal ones once, in the order of their first lines; at most the number that ends an import. */
  readonly problems: readonly LineProblem[];
  readonly precision: number | undefined;
  /** Why the file cannot be read from line `lines` on. */
  readonly unreadable?: string | undefined;
}

/** Parses lines of counted people, wherever they come from. It remembers nothing that would change a result. */
export class LineParser {
  readonly #check = new RowCheck();
  readonly #rows = new RowWriter();

  parse(lines: LinesToParse): ParsedLines {
    this.#check.precision = lines.precision;
    const parsed = this.#parsePlain(lines) ?? this.#parseAny(lines);
    return { ...parsed, rows: this.#rows.packed(), precision: this.#check.precision };
  }

  #parsePlain({ bytes, header, memory }: LinesToParse): Parsed | undefined {
    if (header === undefined) return undefined;
    this.#rows.begin(maxPlainRows(bytes), memory);
    const lines = addPlainRows(bytes, header, this.#check, this.#rows);
    return lines === undefined ? undefined : { lines, problems: [] };
  }

  #parseAny({ bytes, header, precision, memory }: LinesToParse): Parsed {
    this.#check.precision = precision;
    const { lines, reason } = inspect(bytes);
    this.#rows.begin(reason === undefined ? lines : 0, memory);
    if (reason !== undefined) return { lines, problems: [], unreadable: reason };
    const problems = new Map<string, LineProblem>();
    const refuse = (problem: LineProblem) => {
      const key = `${problem.column ?? ""}\n${problem.reason}`;
      const { count = 0, ...first } = problems.get(key) ?? problem;
      problems.set(key, { ...first, count: count + 1 });
    };
    const text = bytes.toString();
    const fieldsOfLines =
      header === undefined ? ndjsonFields(text, lines, refuse) : csvFields(text, lines, header, refuse);
    for (const fields of fieldsOfLines) {
      const row = this.#check.rowOf(fields, refuse);
      if (row !== undefined) {
        const { tile, cell, hour, people, min, max } = row;
        this.#rows.add(this.#rows.tilePosition(tile), cell, hour, fields.line, people, min, max);
      }
      if (problems.size >= problemsNamed) break;
    }
    return { lines, problems: [...problems.values()] };
  }
}

type Parsed = Pick<ParsedLines, "lines" | "problems" | "unreadable">;
