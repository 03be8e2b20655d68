import { ImportError } from "./import-error.ts";

/** Maximum of reported problems: a file in the wrong format has one in every row. */
export const problemsNamed = 20;

/** Collects the problems of an import, so that an operator sees more than the first one. */
export class Problems {
  readonly #files: readonly string[];
  readonly #found: string[] = [];

  /** @param files the names of the files for reports; elsewhere a file is given by its index in this list. */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  get count(): number {
    return this.#found.length;
  }

  /**
   * @param reason why it is refused, without values from the file.
   * @param line counted from 1; absent for a problem of the whole file.
   * @throws {ImportError} once there are enough problems to report.
   */
  add(file: number, reason: string, line?: number, column?: string): void {
    const position =
      line === undefined ? [] : [column === undefined ? `line ${line}` : `line ${line}, ${column}`];
    this.#found.push([this.#files[file], ...position, reason].join(": "));
    if (this.#found.length < problemsNamed) return;
    const more = `${this.#files[file]}: there may be more problems: the check stops after ${problemsNamed}`;
    throw new ImportError([...this.#found, more]);
  }

  /** @throws {ImportError} with every problem so far, if there are any. */
  refuse(): void {
    if (this.#found.length > 0) throw new ImportError(this.#found);
  }
}
