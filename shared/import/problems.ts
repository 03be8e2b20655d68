import { ImportError } from "./import-error.ts";

/** Maximum of reported problems: a file of the wrong form has one in every row. */
export const problemsNamed = 20;

/** The problems of an import, collected so that an operator sees more than the first. */
export class Problems {
  readonly #files: readonly string[];
  readonly #found: string[] = [];

  /** @param files the files' names as they are reported; elsewhere a file is its position here, counted from 0. */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  get count(): number {
    return this.#found.length;
  }

  /**
   * @param reason why it is refused, without a value of the file.
   * @param line counted from 1; absent for a problem of the whole file.
   * @throws {ImportError} when there are enough problems to report.
   */
  add(file: number, reason: string, line?: number, column?: string): void {
    const place =
      line === undefined ? [] : [column === undefined ? `line ${line}` : `line ${line}, ${column}`];
    this.#found.push([this.#files[file], ...place, reason].join(": "));
    if (this.#found.length < problemsNamed) return;
    const more = `${this.#files[file]}: there may be more problems: only ${problemsNamed} are looked for`;
    throw new ImportError([...this.#found, more]);
  }

  /** @throws {ImportError} with every problem so far, if there are any. */
  refuse(): void {
    if (this.#found.length > 0) throw new ImportError(this.#found);
  }
}
