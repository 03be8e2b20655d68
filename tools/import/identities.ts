import { Spool } from "./spool.ts";

/** A problem of a record; its position counts from 0. */
interface RecordProblem {
  readonly record: number;
  readonly field: string;
  readonly message: string;
}

/**
 * A value of a record: identifying it, or one that must identify some record; then with what is wrong if it does not.
 */
type Entry = readonly [value: string, record: number, field: string, otherwise?: string];

/** The values that identify the records of a file, on disk, so that any number of them can be compared. */
export class Identities {
  readonly #spool = new Spool<Entry>();

  /** A value that no other record may have. @param record its position, counted from 0. */
  add(record: number, { field, value }: { readonly field: string; readonly value: string }): void {
    this.#spool.add(value, [value, record, field]);
  }

  /** A value that some record of the file must have. @param otherwise the problem if none has. */
  require(value: string, { record, field, message }: RecordProblem): void {
    this.#spool.add(value, [value, record, field, message]);
  }

  /** Values that a record before has, and required ones that none has. */
  *problems(): Generator<RecordProblem> {
    for (const entries of this.#spool.partitions()) {
      const first = new Map<string, number>();
      for (const [value, record, field, otherwise] of entries) {
        if (otherwise !== undefined) continue;
        const before = first.get(value);
        if (before === undefined) first.set(value, record);
        else yield { record, field, message: `the same as in record ${before + 1}` };
      }
      for (const [value, record, field, otherwise] of entries) {
        if (otherwise !== undefined && !first.has(value)) yield { record, field, message: otherwise };
      }
    }
  }

  remove(): void {
    this.#spool.remove();
  }
}
