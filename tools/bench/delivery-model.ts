import { runModel } from "../delivery-model/model.ts";
import type { Bench, Row } from "./bench.ts";

const runs = 10_000;

/** Whether deliveries keep their guarantees whatever happens to the processes. */
export const deliveryModel: Bench = {
  about: [
    "The code of deliveries on stores, a queue, sinks and a clock in memory. Each run has a seed of its own: up to 60",
    "operations of five callers; calls of all processes in random order; processes killed before and after calls; calls",
    "refused, responses lost, calls made late; messages duplicated and late, and hidden by the rules of SQS; clocks that",
    "differ by up to 6 s; sinks that answer 2xx, 4xx and 5xx, early, late or not at all; callers that cancel, and have",
    "answers delivered again. Each run checks that a sink gets one kind of outcome, and none after its operation was",
    "cancelled as not delivered, that nothing accepted is lost, that nothing refused with 503 is delivered, that nothing is",
    "sent too late, that the limits of uploads hold, that no permit is free for more than 20 s while a job that may have it",
    "is due, and that no place and no permit is leaked.",
  ].join("\n"),
  run: async () => {
    const sums = { calls: 0, kills: 0, lostAnswers: 0, lateCalls: 0 };
    const outcomes = new Map<string, number>();
    const broken: string[] = [];
    for (let seed = 1; seed <= runs; seed++) {
      const run = await runModel(seed);
      sums.calls += run.calls;
      sums.kills += run.kills;
      sums.lostAnswers += run.lostAnswers;
      sums.lateCalls += run.lateCalls;
      for (const outcome of run.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      broken.push(...run.broken.map((what) => `${what} (seed ${seed})`));
    }
    for (const what of broken) console.error(what);
    return [
      shown("runs", runs),
      shown("calls of stores, queue and sinks", sums.calls),
      shown("processes killed", sums.kills),
      shown("answers lost", sums.lostAnswers),
      shown("calls that happened after they were given up", sums.lateCalls),
      ...[...outcomes].sort().map(([outcome, count]) => shown(`operations ${outcome}`, count)),
      { what: "guarantees broken", measured: String(broken.length), bar: "0", holds: broken.length === 0 },
    ];
  },
};

function shown(what: string, count: number): Row {
  return { what, measured: count.toLocaleString("en"), holds: true };
}
