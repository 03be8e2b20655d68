import { dirname } from "node:path";
import type { Findings } from "../../findings.ts";
import type { Outcome } from "../../run-scenario.ts";
import type { Skipped } from "../../scenarios.ts";
import { readDefinitions } from "../definitions.ts";
import { CannotRun, Unexpected } from "../ending.ts";
import { type FeatureScenario, parseFeatures } from "../parse-features.ts";
import { readPlan } from "../plan.ts";
import { openReceiver } from "../receiver.ts";
import { Tokens } from "../tokens.ts";
import { type Surroundings, World } from "../world.ts";
import { answerSteps } from "./answer.ts";
import { callerSteps } from "./callers.ts";
import { cellSteps } from "./cells.ts";
import { deliverySteps } from "./deliveries.ts";
import { densitySteps } from "./densities.ts";
import { deviceSteps } from "./devices.ts";
import { numberSteps } from "./numbers.ts";
import { profileSteps } from "./profiles.ts";
import { pseudonymSteps } from "./pseudonyms.ts";
import { requestSteps } from "./request.ts";
import type { Step } from "./step.ts";

/** When two match a sentence, the first one counts: steps of an API are before those of any. */
const allSteps = [
  ...densitySteps,
  ...cellSteps,
  ...deliverySteps,
  ...deviceSteps,
  ...numberSteps,
  ...profileSteps,
  ...callerSteps,
  ...requestSteps,
  ...pseudonymSteps,
  ...answerSteps,
];

/** A run of feature files. */
export interface FeatureRun {
  /** Without a trailing slash. */
  readonly url: string;
  /** The folder of the feature files. */
  readonly features: string;
  /** The folder of the API definitions. */
  readonly definitions: string;
  /** The file of the test plan. */
  readonly plan: string;
  /** Only scenarios whose names contain it. */
  readonly only?: string | undefined;
  readonly onProgress?: (progress: { readonly done: number; readonly all: number }) => void;
}

/**
 * Runs the scenarios of feature files, one after the other.
 * @throws {Error} when nothing answers, a login is refused, or a file is not as it must be.
 */
export async function verifyFeatures(run: FeatureRun): Promise<Findings> {
  const { url, features, only = "", onProgress } = run;
  const wanted = (await parseFeatures(features)).filter(({ name }) => name.includes(only));
  const surroundings = await openSurroundings(run);
  const outcomes: Outcome[] = [];
  const skipped: Skipped[] = [];
  try {
    for (const scenario of wanted) {
      const found = await runFeatureScenario(scenario, surroundings);
      if ("reason" in found) skipped.push(found);
      else outcomes.push(found);
      onProgress?.({ done: outcomes.length + skipped.length, all: wanted.length });
    }
  } finally {
    await surroundings.receiver?.close();
  }
  return { url, outcomes, skipped };
}

/** What the scenarios of a run share. The caller closes the receiver. */
async function openSurroundings({ url, definitions, plan: file }: FeatureRun): Promise<Surroundings> {
  const [defined, plan] = await Promise.all([readDefinitions(definitions), readPlan(file)]);
  const receiver = plan.receiver === undefined ? undefined : await openReceiver(plan.receiver);
  const tokens = new Tokens(url, plan, dirname(file));
  return { url, plan, definitions: defined, tokens, receiver, learned: new Map() };
}

async function runFeatureScenario(
  scenario: FeatureScenario,
  surroundings: Surroundings,
): Promise<Outcome | Skipped> {
  const { name } = scenario;
  const begun = performance.now();
  const world = new World(surroundings, scenario);
  const ended = (failure?: string) => ({
    name,
    milliseconds: performance.now() - begun,
    failure,
    notes: [...new Set(world.notes)],
  });
  try {
    const steps = scenario.steps.map(({ text }) => ({ text, ...stepOf(text) }));
    for (const { arrange } of steps) arrange?.(world);
    for (const { text, run } of steps) await runStep(text, () => run(world));
    return ended();
  } catch (error) {
    if (error instanceof CannotRun) return { name, reason: error.message };
    if (error instanceof Unexpected) return ended(error.message);
    throw error;
  }
}

/** What a sentence means. @throws {CannotRun} for one that no step knows. */
export function stepOf(text: string): {
  readonly arrange: Step["arrange"];
  readonly run: (world: World) => void | Promise<void>;
} {
  for (const { pattern, arrange, run } of allSteps) {
    const groups = pattern.exec(text)?.slice(1);
    if (groups === undefined) continue;
    return { arrange, run: (world) => run(world, ...groups.map((group) => group ?? "")) };
  }
  throw new CannotRun(`no step is known for: ${text}`);
}

async function runStep(text: string, run: () => void | Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Unexpected) throw new Unexpected(`${error.message} (${text})`, { cause: error });
    if (error instanceof CannotRun) throw new CannotRun(`${error.message} (${text})`, { cause: error });
    throw error;
  }
}
