/** Where a row is. */
export interface RowPosition {
  readonly file: number;
  readonly line: number;
}

/**
 * Lines of several files, counted through all of them: an entry has room for a number, and none for its file.
 *
 * ```text
 * file              0         1               2
 * line in it        1 … 400   1 … 250         1 …
 * counted through   1 … 400   401 … 650       651 …
 * ```
 */
export class RowPositions {
  readonly #files: { readonly file: number; readonly linesBefore: number }[] = [];
  #lines = 0;

  /** How many lines are before those of a file. Files come one after the other. */
  linesBefore(file: number): number {
    const current = this.#files.at(-1);
    if (current?.file === file) return current.linesBefore;
    this.#files.push({ file, linesBefore: this.#lines });
    return this.#lines;
  }

  /** Says how far rows were read. @param line of the last row, counted through all files. */
  readTo(line: number): void {
    this.#lines = line;
  }

  /** @param line counted through all files. */
  of(line: number): RowPosition {
    const of = this.#files.findLast(({ linesBefore }) => linesBefore < line);
    if (of === undefined) throw new RangeError(`line ${line} is before the first file`);
    return { file: of.file, line: line - of.linesBefore };
  }
}
