import { expect, test } from "vitest";
import type { Fault } from "../../support/faulty-endpoint.ts";
import { run, storedJob, storeJob } from "../../support/jobs.ts";
import { someJob } from "../../support/some-job.ts";
import { deliveryPorts, expectEnd, held, sweepAt, useWorker } from "../../support/worker.ts";

// A schedule may run twice at once, and an index of DynamoDB may miss the most recent writes.

const { deliver, delivered, densities, harness, queued, sink } = useWorker();
/** The index shows nothing that was written after the first query. */
const lateIndex: Fault = ({ parameters }) => ("IndexName" in parameters ? "repeat" : "pass");

/** A caller's three uploads to a sink that waits for `answer`, so that its fourth job waits for a permit. */
async function blockedCaller() {
  const { answer, after } = held();
  const caller = crypto.randomUUID();
  const blocking = [];
  for (let index = 0; index < 3; index++) {
    const job = someJob(sink().urlOf({ status: 204, after }), densities().request, { caller });
    blocking.push(await storeJob(job));
  }
  await harness().send("density-jobs", ...blocking);
  const running = run(deliver, await harness().receive("density-jobs"));
  await expect.poll(() => sink().received()).toHaveLength(3);
  return { caller, answer, running };
}

/** Lets the index of waiting jobs show what it holds now, and nothing later. */
async function freezeWaiting(job: Parameters<typeof storeJob>[0]): Promise<void> {
  const { sinks } = await import("../../../functions/population-density/delivery/send.ts");
  const { jobs } = await deliveryPorts();
  harness().tables.inject(lateIndex);
  const host = sinks.hostOf(job.sink ?? "");
  const waiting = await jobs.waitingFor(host, AbortSignal.timeout(10_000));
  expect(waiting.map(({ operationId }) => operationId)).toContain(job.operationId);
}

test("a sink receives one answer when the index shows neither its job's messages nor its end to two sweeps", async () => {
  const job = await storeJob(someJob(sink().urlOf(), densities().request));
  harness().tables.inject(lateIndex);

  await sweepAt(job.requestedAt + 20_000);
  expect(await run(deliver, await harness().receive("density-jobs"))).toEqual([]);
  const ended = await storedJob(job.operationId);
  await sweepAt(job.requestedAt + 80_000);
  expect(await run(deliver, await harness().receive("density-jobs"))).toEqual([]);

  expect(sink().received()).toHaveLength(1);
  expect(await storedJob(job.operationId)).toEqual(ended);
  await expectEnd(job, "delivered");
});

test("a sink receives one answer of a job that the index still shows as waiting", async () => {
  const { caller, answer, running } = await blockedCaller();
  const { job, message } = await queued(sink().urlOf(), { caller });
  expect(await delivered(message)).toBeLessThanOrEqual(20);
  await freezeWaiting(job);
  answer();
  expect(await running).toEqual([]);
  expect(sink().received()).toHaveLength(4);

  const { job: next, message: ofNext } = await queued(sink().urlOf(), { caller });
  expect(await delivered(ofNext)).toBe("ack");

  expect(sink().received()).toHaveLength(5);
  expect(await delivered(message)).toBe("ack");
  expect(sink().received()).toHaveLength(5);
  for (const one of [job, next]) await expectEnd(one, "delivered");
});

test("a job that has failed is left to its own message although the index shows no attempt", async () => {
  const { caller, answer, running } = await blockedCaller();
  const { job, message } = await queued(sink().urlOf({ status: 503 }), { caller });
  expect(await delivered(message)).toBeLessThanOrEqual(20);
  await freezeWaiting(job);
  answer();
  expect(await running).toEqual([]);
  expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, state: "pending" });

  const { message: ofNext } = await queued(sink().urlOf(), { caller });
  expect(await delivered(ofNext)).toBe("ack");

  expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, state: "pending" });
});
