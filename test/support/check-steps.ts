import { expect } from "vitest";
import { CannotRun, Unexpected } from "../../tools/verify/features/ending.ts";
import type { FeatureScenario } from "../../tools/verify/features/parse-features.ts";
import { stepOf } from "../../tools/verify/features/run-scenarios.ts";
import { type Surroundings, World } from "../../tools/verify/features/world.ts";
import { wrongAnswers } from "./wrong-answers.ts";

/**
 * Runs a scenario, and checks that each sentence about the answer refuses wrong ones where it accepts the right one.
 * @returns the sentences that accepted the right one.
 */
export async function checkOutcomes(
  scenario: FeatureScenario,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  const world = new World(surroundings, scenario);
  const steps = scenario.steps.map((step) => ({ ...step, ...stepOf(step.text) }));
  for (const { arrange } of steps) arrange?.(world);
  const accepted: string[] = [];
  for (const { text, isOutcome, run } of steps) {
    try {
      await run(world);
    } catch (error) {
      if (error instanceof CannotRun) return accepted;
      if (error instanceof Unexpected) continue;
      throw error;
    }
    if (!isOutcome) continue;
    accepted.push(text);
    const { answer, delivery } = world;
    for (const [index, makeWrong] of wrongAnswers(world, text).entries()) {
      makeWrong(world);
      await expect(
        (async () => await run(world))(),
        `wrong answer ${index + 1} for: ${text} (${scenario.name})`,
      ).rejects.toBeInstanceOf(Unexpected);
      Object.assign(world, { answer, delivery, surroundings });
    }
  }
  return accepted;
}
