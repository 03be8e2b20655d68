import { expect, test } from "vitest";
import { runs } from "../../../support/sample.ts";
import { runModel } from "./model.ts";

const count = runs(400, 40, 10_000);

test("every accepted job ends with one outcome, and no permit or place is leaked, when workers are killed and calls or messages are lost, repeated or late", async () => {
  const broken: string[] = [];
  const sum = { calls: 0, kills: 0, lostAnswers: 0, lateCalls: 0, redelivered: 0 };
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= count; seed++) {
    const run = await runModel(seed);
    broken.push(...run.broken.map((what) => `${what} (seed ${seed})`));
    sum.calls += run.calls;
    sum.kills += run.kills;
    sum.lostAnswers += run.lostAnswers;
    sum.lateCalls += run.lateCalls;
    sum.redelivered += run.redelivered;
    for (const outcome of run.outcomes) outcomes.add(outcome);
  }
  console.log(`${count} runs of the model: ${JSON.stringify(sum)}`);
  expect(broken).toEqual([]);
  // The runs have been through something.
  expect(sum.calls).toBeGreaterThan(50 * count);
  expect(sum.kills).toBeGreaterThan(count / 2);
  expect(sum.lostAnswers).toBeGreaterThan(count / 4);
  expect(sum.lateCalls).toBeGreaterThan(count / 4);
  expect(sum.redelivered).toBeGreaterThan(count / 4);
  for (const outcome of ["delivered", "refused", "failed", "cancelled", "withdrawn"])
    expect(outcomes).toContain(outcome);
});
