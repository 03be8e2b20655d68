import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Imports of what starts programs or services, or waits for queues: tests with these wait more than they compute. */
const waiting = /from "[./]+(?:support\/)?(?:npm|own-service|started-sample|jobs)\.ts"/;

/**
 * Vitest's order, longest files first, but in each project with those in front that wait most. Without results of an
 * earlier run Vitest takes the largest files for the longest.
 */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      `${project.name} ${waiting.test(readFileSync(moduleId, "utf8")) ? 0 : 1}`;
    return sorted
      .map((file) => ({ file, rank: rank(file) }))
      .sort((one, other) => (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0))
      .map(({ file }) => file);
  }
}
