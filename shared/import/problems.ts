import { ImportError } from "./import-error.ts";

/** Maximum of different problems that are reported. */
export const problemsNamed = 20;

/** Maximum of rows with problems that are counted: to read on would take minutes, and say nothing new. */
const problemsCounted = 1_000_000;

/** Equal problems of a file. */
interface Found {
  readonly file: number;
  readonly column: string | undefined;
  readonly reason: string;
  /** Line of the first of them. */
  readonly line: number | undefined;
  count: number;
}

/** Collects the problems of an import, so that an operator sees more than the first one; equal ones are counted. */
export class Problems {
  readonly #files: readonly string[];
  readonly #found = new Map<string, Found>();
  #count = 0;

  /** @param files the names of the files for reports; elsewhere a file is given by its index in this list. */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * @param reason why it is refused, without values from the file.
   * @param line counted from 1; absent for a problem of the whole file.
   * @param count of equal problems, of which the first is in this line.
   * @throws {ImportError} once there are enough problems to report.
   */
  add(file: number, reason: string, line?: number, column?: string, count = 1): void {
    const key = `${file}\n${column ?? ""}\n${reason}`;
    const known = this.#found.get(key);
    if (known === undefined) this.#found.set(key, { file, reason, line, column, count });
    else known.count += count;
    this.#count += count;
    if (this.#found.size >= problemsNamed) this.#stop(file, `${problemsNamed} different ones`);
    if (this.#count >= problemsCounted) this.#stop(file, `${problemsCounted.toLocaleString("en")} rows`);
  }

  /** @throws {ImportError} with every problem so far, if there are any. */
  refuse(): void {
    if (this.#found.size > 0) throw new ImportError(this.#texts());
  }

  #stop(file: number, limit: string): never {
    const more = `${this.#files[file]}: there may be more problems: the check stops after ${limit}`;
    throw new ImportError([...this.#texts(), more]);
  }

  #texts(): string[] {
    return Array.from(this.#found.values(), (found) => `${this.#files[found.file]}: ${textOf(found)}`);
  }
}

function textOf({ line, column, reason, count }: Found): string {
  const ofColumn = column === undefined ? reason : `${column}: ${reason}`;
  if (count > 1) return `${count.toLocaleString("en")} rows: ${ofColumn}, first in line ${line}`;
  if (line === undefined) return ofColumn;
  return column === undefined ? `line ${line}: ${reason}` : `line ${line}, ${ofColumn}`;
}
