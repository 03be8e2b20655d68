import { ImportError } from "./import-error.ts";

/** Maximum of different problems that are reported. */
export const problemsNamed = 20;

/** The first problems, and how many more there are. */
export function firstProblems(problems: readonly string[]): string[] {
  const more = problems.length - problemsNamed;
  return [...problems.slice(0, problemsNamed), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** Maximum of problems that are counted: to read on would take minutes, and say nothing new. */
const problemsCounted = 1_000_000;

/** What a file consists of: rows are told by their line, records by their position. */
type Unit = "row" | "record";

const placeOf: Readonly<Record<Unit, string>> = { row: "line", record: "record" };

/** Equal problems of a file. */
interface Found {
  readonly file: number;
  readonly column: string | undefined;
  readonly reason: string;
  /** Line of the first of them, or its position as a record. */
  place: number | undefined;
  count: number;
}

/** Collects the problems of an import, so that an operator sees more than the first one; equal ones are counted. */
export class Problems {
  readonly #files: readonly string[];
  readonly #unit: Unit;
  readonly #found = new Map<string, Found>();
  #count = 0;

  /** @param files the names of the files for reports; elsewhere a file is given by its index in this list. */
  constructor(files: readonly string[], unit: Unit = "row") {
    this.#files = files;
    this.#unit = unit;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * @param reason why it is refused, without values from the file.
   * @param place its line, or its position as a record, counted from 1; absent for a problem of the whole file.
   * @param count of equal problems, of which the first is in this place.
   * @throws {ImportError} once there are enough problems to report.
   */
  add(file: number, reason: string, place?: number, column?: string, count = 1): void {
    const key = `${file}\n${column ?? ""}\n${reason}`;
    const known = this.#found.get(key);
    if (known === undefined) this.#found.set(key, { file, reason, place, column, count });
    else {
      known.count += count;
      // What is read at once may be added in any order.
      if (place !== undefined && known.place !== undefined) known.place = Math.min(known.place, place);
    }
    this.#count += count;
    if (this.#found.size >= problemsNamed) this.#stop(file, `${problemsNamed} different ones`);
    if (this.#count >= problemsCounted)
      this.#stop(file, `${problemsCounted.toLocaleString("en")} ${this.#unit}s`);
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
    const found = [...this.#found.values()].sort(
      (one, other) => one.file - other.file || (one.place ?? 0) - (other.place ?? 0),
    );
    return found.map((each) => `${this.#files[each.file]}: ${textOf(each, this.#unit)}`);
  }
}

function textOf({ place, column, reason, count }: Found, unit: Unit): string {
  const ofColumn = column === undefined ? reason : `${column}: ${reason}`;
  const at = `${placeOf[unit]} ${place}`;
  if (count > 1) return `${count.toLocaleString("en")} ${unit}s: ${ofColumn}, first in ${at}`;
  if (place === undefined) return ofColumn;
  return column === undefined ? `${at}: ${reason}` : `${at}, ${ofColumn}`;
}
