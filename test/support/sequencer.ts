import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What starts servers, services or programs of its own, or looks at queues, waits more than it computes. */
const waiting =
  /from "(?:node:(?:http|net|child_process)|[./]+(?:support\/)?(?:npm|own-service|started-sample|jobs|use-harness|faulty-endpoint)\.ts)"/;

/**
 * Vitest's order, longest files first, but each project begins with files that wait and files that compute in turn:
 * while some wait, others use the processors. Without results of an earlier run Vitest takes the largest files for the
 * longest.
 */
export class WaitingInTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort();
    return projects.flatMap((name) => inTurn(sorted.filter(({ project }) => project.name === name)));
  }
}

function inTurn(files: readonly TestSpecification[]): TestSpecification[] {
  const waits = ({ moduleId }: TestSpecification) => waiting.test(readFileSync(moduleId, "utf8"));
  const own = files.filter((file) => waits(file));
  const others = files.filter((file) => !waits(file));
  const turns = Array.from({ length: Math.max(own.length, others.length) }, (_, turn) => [
    own[turn],
    others[turn],
  ]);
  return turns.flat().filter((file) => file !== undefined);
}
