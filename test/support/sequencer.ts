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
const secondsOf = ({ moduleId }: TestSpecification) => durations[relative(process.cwd(), moduleId)] ?? 0;

/** Longest files first, and then Vitest's order, by size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    return bySize.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}
