import type { Outcome } from "./run-scenario.ts";
import type { Skipped } from "./scenarios.ts";

/** What a verification found. */
export interface Findings {
  readonly url: string;
  readonly outcomes: readonly Outcome[];
  readonly skipped: readonly Skipped[];
}

/** How many scenarios passed, failed and were skipped. */
export function countsOf({ outcomes, skipped }: Findings) {
  const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
  return { passed: outcomes.length - failed, failed, skipped: skipped.length };
}
