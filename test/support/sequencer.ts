import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Seconds of files that take long for their size, as measured on two busy processors, those in a browser whole, most
 * others sampled: a run without results of an earlier one would begin some of them last.
 */
const durations: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(resolve(import.meta.dirname, "durations.json"), "utf8"),
);
const pathOf = ({ moduleId }: TestSpecification) => relative(process.cwd(), moduleId);
const secondsOf = (file: TestSpecification) => durations[pathOf(file)] ?? 0;

/**
 * Long files, then those in a browser, then the others by Vitest's order, by size, each group with its longest first: a
 * run ends with short files, and several browsers at once do not run beside the checks with which CI begins.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    const sorted = bySize.toSorted((one, other) => secondsOf(other) - secondsOf(one));
    const isLong = (file: TestSpecification) => secondsOf(file) > 0;
    const isInBrowser = (file: TestSpecification) => /^test.console\b/.test(pathOf(file));
    const long = sorted.filter(isLong);
    return [
      ...long.filter((file) => !isInBrowser(file)),
      ...long.filter(isInBrowser),
      ...sorted.filter((file) => !isLong(file)),
    ];
  }
}
