import { expect, test } from "vitest";
import type { WorkerPorts } from "../../../functions/population-density/delivery/ports.ts";
import { sweep } from "../../../functions/population-density/delivery/sweep-jobs.ts";
import { workOn } from "../../../functions/population-density/delivery/work-on-job.ts";
import type { Count, MetricName } from "../../../shared/aws/metrics.ts";
import { visibilitySeconds } from "../../../shared/sqs/queues.ts";
import { someJob } from "../../support/some-job.ts";
import { VirtualTime } from "../../support/virtual-time.ts";
import { MemoryQueue } from "./model/memory-queue.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./model/memory-stores.ts";
import { Chance } from "./model/random.ts";

/** What a call of a table and what an invocation takes; a worker without a message looks for one every second. */
const [callMilliseconds, invokeMilliseconds, pollMilliseconds] = [5, 10, 1_000];

const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };

/**
 * Delivers jobs that are all due at once, with a sweep every minute. Says how long that took, how often their messages
 * were received, and what was measured of first attempts.
 */
async function deliver(
  sinks: readonly { readonly caller: string; readonly sink: string }[],
  uploadSeconds: number,
  workers: number,
) {
  const time = new VirtualTime();
  const chance = new Chance(1);
  const [jobs, permits] = [new MemoryJobs(), new MemoryPermits()];
  const queue = new MemoryQueue(visibilitySeconds, 1_000);
  const { signal } = new AbortController();
  const call = async <Value>(run: () => Value): Promise<Value> => {
    await time.wait(callMilliseconds);
    return run();
  };
  const measured: Count[] = [];
  const valuesOf = (metric: MetricName) =>
    measured.filter((one) => one.metric === metric).map(({ value = 1 }) => value);
  const ports: WorkerPorts = {
    ...portsOf(jobs, permits, (_, run) => call(run)),
    sinks: {
      post: async (_, beforeLastChunk) => {
        await beforeLastChunk();
        await time.wait(uploadSeconds * 1_000);
        return { outcome: "delivered", status: 204, sentWhole: true, bytes: 1 };
      },
      hostOf: (sink) => sink,
    },
    clock: { now: () => time.now, deadline: () => signal, pause: (wait) => time.wait(wait) },
    random: chance.random,
    newId: () => crypto.randomUUID(),
    log: (_event, _details, counts = []) => void measured.push(...counts),
    writeMetrics: (counts) => void measured.push(...counts),
    schedule: [],
    workers,
  };
  for (const { caller, sink } of sinks) {
    const job = { ...someJob(sink, request, { requestedAt: 0 }), caller, queuedAt: 0 };
    jobs.store(job, undefined);
    queue.send(job.operationId, 0, 0, 0);
  }
  let receives = 0;
  const work = async () => {
    while (jobs.pending().length > 0) {
      const message = queue.receive(time.now, (visible) => chance.pick(visible));
      if (message === undefined) {
        const next = Math.min(...queue.visibleTimes());
        await time.wait(Math.max(1, Math.min(next - time.now, pollMilliseconds)));
        continue;
      }
      receives++;
      await time.wait(invokeMilliseconds);
      const verdict = await workOn(message, ports, signal);
      await call(() => queue.settle(message, verdict, time.now, false));
    }
  };
  const sweepEveryMinute = async () => {
    while (jobs.pending().length > 0) {
      await sweep({ ...ports, queues: { send: async () => {} } }, signal);
      await time.wait(60_000);
    }
  };
  const delivering = async () => {
    await Promise.all(Array.from({ length: workers }, work));
    return time.now / 1_000;
  };
  const [seconds] = await time.pass(Promise.all([delivering(), sweepEveryMinute()]));
  return {
    seconds,
    receivesOfJob: receives / sinks.length,
    firstAttempts: valuesOf("FirstAttemptSeconds"),
    oldestUnstarted: Math.max(...valuesOf("OldestUnstartedJobSeconds")),
  };
}

test.each([
  { uploadSeconds: 1, workers: 10, idealSeconds: 25 },
  { uploadSeconds: 10, workers: 50, idealSeconds: 250 },
])(
  "$workers workers finish 100 uploads of $uploadSeconds s to one host within 1.25 of the ideal time",
  async ({ uploadSeconds, workers, idealSeconds }) => {
    const sinks = Array.from({ length: 100 }, (_, index) => ({
      caller: `caller-${index % 5}`,
      sink: "host",
    }));

    const { seconds, receivesOfJob } = await deliver(sinks, uploadSeconds, workers);

    expect(seconds).toBeLessThanOrEqual(1.25 * idealSeconds);
    // Each job asks every 5 to 20 s.
    expect(receivesOfJob).toBeLessThanOrEqual(2 + seconds / 2 / 5);
  },
);

test("jobs that wait behind the slow uploads of their own caller are not measured as waiting for workers", async () => {
  const sinks = Array.from({ length: 20 }, () => ({ caller: "caller", sink: "slow" }));

  const { seconds, firstAttempts, oldestUnstarted } = await deliver(sinks, 300, 10);

  expect(seconds).toBeGreaterThan(30 * 60);
  expect(firstAttempts.length).toBeLessThan(sinks.length / 4);
  expect(Math.max(...firstAttempts)).toBeLessThan(60);
  expect(oldestUnstarted).toBeLessThan(60);
});

test("jobs that wait for a free worker are measured until it begins them", async () => {
  const sinks = Array.from({ length: 20 }, (_, index) => ({
    caller: `${index}-caller`,
    sink: `${index}-host`,
  }));

  const { firstAttempts, oldestUnstarted } = await deliver(sinks, 300, 2);

  expect(firstAttempts).toHaveLength(sinks.length);
  expect(oldestUnstarted).toBeGreaterThan(30 * 60);
});
