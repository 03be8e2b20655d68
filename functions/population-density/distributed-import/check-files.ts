import { ImportError } from "../../../shared/import/import-error.ts";
import { firstProblems, Problems } from "../../../shared/import/problems.ts";
import { refuseCoarse } from "../import/publish/import-order.ts";
import { otherPrecision } from "../import/rows/row-check.ts";
import { NamedHours, secondDate } from "../import/sort/named-hours.ts";
import { type ImportedFile, otherFile, readFiles } from "../import/store/journal-store.ts";
import type { CountedFile, CountedFiles } from "./counted-files.ts";
import type { ImportOrder } from "./execution-objects.ts";

/**
 * Checks the files against each other; each was checked by itself when it was read.
 * @returns the precision of their cells.
 * @throws {ImportError} that says why the files are refused.
 */
export async function checkFiles(
  order: ImportOrder,
  { files, problems }: Pick<CountedFiles, "files" | "problems">,
): Promise<number> {
  if (problems.size > 0) throw new ImportError([...problems]);
  if (order.replay !== undefined) refuseOtherFiles(files, order.replay, await readFiles(order.replay));
  const [first] = files;
  if (first?.precision === undefined) throw new ImportError([`${order.prefix}: has no files`]);
  refusePrecisions(files, first.precision);
  refuseCoarse(order, first.precision);
  if (order.typical) refuseSecondDates(files);
  return first.precision;
}

/** An import that is made again reads the same files. */
function refuseOtherFiles(
  files: readonly CountedFile[],
  number: number,
  imported: readonly ImportedFile[],
): void {
  const read = new Map(files.map((file) => [file.file, file.sha256]));
  const known = new Set(imported.map(({ name }) => name));
  const problems = [
    ...imported
      .filter(({ name, sha256 }) => read.get(name) !== sha256)
      .map((file) => otherFile(number, file, read.has(file.name))),
    ...[...read.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `${name}: is there, and import ${number} has not read it`),
  ];
  if (problems.length > 0) throw new ImportError(firstProblems(problems));
}

function refusePrecisions(files: readonly CountedFile[], precision: number): void {
  const problems = new Problems(files.map(({ file }) => file));
  for (const [index, file] of files.entries()) {
    if (file.precision === precision) continue;
    problems.add(index, otherPrecision(precision), file.hours[0]?.line, "geohash", file.rows);
  }
  problems.refuse();
}

/** A typical weekday may have an hour of one date only. */
function refuseSecondDates(files: readonly CountedFile[]): void {
  const problems = new Problems(files.map(({ file }) => file));
  const named = new NamedHours();
  for (const [index, { hours }] of files.entries()) {
    for (const first of hours) {
      if (named.has(first)) continue;
      if (named.hasOfWeekday(first)) problems.add(index, secondDate.reason, first.line, secondDate.column);
      named.add(first);
    }
  }
  problems.refuse();
}
