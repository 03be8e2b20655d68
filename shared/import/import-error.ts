/** A file was refused and nothing was written. Each problem names file, record or line, and field, never a value. */
export class ImportError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ImportError";
  }
}
