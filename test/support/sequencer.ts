import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Imports of what starts programs or services, or waits for queues: tests with these wait more than they compute. */
const waiting = /from "[./]+(?:support\/)?(?:npm|own-service|started-sample|jobs)\.ts"/;

/**
 * Vitest's order, longest files first, but each project begins with files that wait and files that compute in turn:
 * while some wait, others use the processors. Without results of an earlier run Vitest takes the largest files for the
 * longest.
 */
export class WaitingInTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort();
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      const waits = ({ moduleId }: TestSpecification) => waiting.test(readFileSync(moduleId, "utf8"));
      return inTurn(
        own.filter((file) => waits(file)),
        own.filter((file) => !waits(file)),
      );
    });
  }
}

function inTurn<Item>(some: readonly Item[], others: readonly Item[]): Item[] {
  const pairs = Array.from({ length: Math.max(some.length, others.length) }, (_, at) => [
    some[at],
    others[at],
  ]);
  return pairs.flat().filter((item) => item !== undefined);
}
