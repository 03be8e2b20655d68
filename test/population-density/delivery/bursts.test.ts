import { expect, test } from "vitest";
import type { WorkerPorts } from "../../../functions/population-density/delivery/ports.ts";
import { workOn } from "../../../functions/population-density/delivery/work-on-job.ts";
import { visibilitySeconds } from "../../../shared/sqs/queues.ts";
import { someJob } from "../../support/some-job.ts";
import { VirtualTime } from "../../support/virtual-time.ts";
import { MemoryQueue } from "./model/memory-queue.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./model/memory-stores.ts";
import { Chance } from "./model/random.ts";

/** What a call of a table and what an invocation takes; a worker without a message looks for one every second. */
const [callMilliseconds, invokeMilliseconds, pollMilliseconds] = [5, 10, 1_000];

const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };

/** Delivers jobs that are all due at once, and says how long that took and how often their messages were received. */
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
    log: () => {},
    writeMetrics: () => {},
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
  await time.pass(Promise.all(Array.from({ length: workers }, work)));
  return { seconds: time.now / 1_000, receivesOfJob: receives / sinks.length };
}

test.each([
  { uploadSeconds: 1, workers: 10, idealSeconds: 25 },
  { uploadSeconds: 1, workers: 50, idealSeconds: 25 },
  { uploadSeconds: 10, workers: 10, idealSeconds: 250 },
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
