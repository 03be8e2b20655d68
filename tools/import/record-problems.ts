import { ImportError } from "../../shared/import/import-error.ts";

/** A problem of a record; its position counts from 0. */
export interface RecordProblem {
  readonly record: number;
  readonly field: string;
  readonly message: string;
}

/** A file of the wrong form has a problem in every record. */
const problemsNamed = 20;

/** Any number of problems of a file: the first are named, the others counted. */
export class RecordProblems {
  readonly #file: string;
  #named: RecordProblem[] = [];
  #count = 0;

  /** @param file the file's name as it is reported. */
  constructor(file: string) {
    this.#file = file;
  }

  get count(): number {
    return this.#count;
  }

  add(problem: RecordProblem): void {
    this.#count++;
    this.#named.push(problem);
    if (this.#named.length === 2 * problemsNamed) this.#named = this.#first();
  }

  /** @throws {ImportError} that names the first problems and says how many more there are, if there are any. */
  refuse(): void {
    if (this.#count === 0) return;
    const first = this.#first();
    const lines = first.map(
      ({ record, field, message }) => `${this.#file}: record ${record + 1}, ${field}: ${message}`,
    );
    const others = this.#count - first.length;
    const more = others === 0 ? [] : [`${this.#file}: and ${others} more problem${others === 1 ? "" : "s"}`];
    throw new ImportError([...lines, ...more]);
  }

  #first(): RecordProblem[] {
    return this.#named.sort((one, other) => one.record - other.record).slice(0, problemsNamed);
  }
}
