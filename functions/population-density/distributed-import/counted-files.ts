import { problemsNamed } from "../../../shared/import/problems.ts";
import { union } from "../privacy/parts.ts";
import {
  coverageOf,
  eachJson,
  folders,
  type ImportOrder,
  type PrefixPlan,
  type ReadFile,
  readFile,
} from "./execution-objects.ts";

/** A file without its cells and its partitions, of which there may be many. */
export type CountedFile = Omit<ReadFile, "partitions" | "problems" | "tiles">;

/** Where rows of the files are. */
type RowRange = PrefixPlan["rows"][number];

/**
 * What the files of an import say together. Cells that many files name are kept once, and a partition as four numbers:
 * they fit into memory for any number of files.
 */
export class CountedFiles {
  /** In the order in which they were listed, which is that of their keys. */
  readonly files: CountedFile[] = [];
  /** Why the files are refused, as far as it is named. */
  readonly problems = new Set<string>();
  rows = 0;
  /** The cells that rows name. */
  readonly coverage = new Map<string, Uint8Array>();
  /** By prefix: day, file, offset and bytes of one range after the other. */
  readonly #ranges = new Map<string, number[]>();

  /** Reads what the steps of an execution have read of all files. */
  static async read({ id }: ImportOrder): Promise<CountedFiles> {
    const all = new CountedFiles();
    for await (const { value } of eachJson(readFile, folders.read(id))) all.#add(value);
    return all;
  }

  #add(read: ReadFile): void {
    for (const { prefix, day, offset, bytes } of read.partitions) {
      const ranges = this.#ranges.get(prefix) ?? [];
      ranges.push(day, this.files.length, offset, bytes);
      this.#ranges.set(prefix, ranges);
    }
    const { bytes, file, hours, precision, rows, rowsKey, sha256 } = read;
    this.files.push({ bytes, file, hours, precision, rows, rowsKey, sha256 });
    this.rows += rows;
    for (const problem of read.problems) {
      if (this.problems.size < problemsNamed) this.problems.add(problem);
    }
    for (const [geohash, bits] of coverageOf(read.tiles)) {
      const before = this.coverage.get(geohash);
      this.coverage.set(geohash, before === undefined ? bits : union(before, bits));
    }
  }

  /** Where the rows with a prefix are, in the order of the files. */
  rowsWith(prefix: string): RowRange[] {
    const numbers = this.#ranges.get(prefix) ?? [];
    return Array.from({ length: numbers.length / 4 }, (_, index) => {
      const [day = 0, file = 0, offset = 0, bytes = 0] = numbers.slice(4 * index, 4 * index + 4);
      return { day, file, offset, bytes };
    });
  }
}
