import { expect, test } from "vitest";
import { sweep } from "../../../functions/population-density/delivery/sweep-jobs.ts";
import type { MetricName } from "../../../shared/aws/metrics.ts";
import { Unavailable } from "../../../shared/errors.ts";
import { someJob } from "../../support/some-job.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./model/memory-stores.ts";

const now = Date.UTC(2026, 10, 22);
const minute = 60_000;

const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };
const jobOf = (ageMilliseconds: number) =>
  someJob("https://sink.example.com/", request, { requestedAt: now - ageMilliseconds });

/** A sweep of jobs in memory, and what it sent and logged. */
async function sweepOf(
  memory: MemoryJobs,
  {
    read = (id: string) => memory.read(id),
    signal = new AbortController().signal,
    send = () => {},
    time = () => now,
    newestObservedDay = async (): Promise<string | undefined> => undefined,
  } = {},
) {
  const sent: string[] = [];
  const logged: string[] = [];
  const measured: Partial<Record<MetricName, number | undefined>> = {};
  await sweep(
    {
      jobs: {
        ...portsOf(memory, new MemoryPermits(), async (_, run) => run()).jobs,
        read: async (id) => read(id),
      },
      queues: {
        send: async (id, { aborted }) => {
          if (aborted) throw new Unavailable("SQS", "AbortError");
          sent.push(id);
          send();
        },
      },
      clock: { now: time, deadline: () => signal, pause: async () => {} },
      newestObservedDay,
      newId: () => crypto.randomUUID(),
      log: (event) => void logged.push(event),
      writeMetrics: (counts) => {
        for (const { metric, value } of counts) measured[metric] = value;
      },
    },
    signal,
  );
  return { sent, logged, measured };
}

test("the sweep handles the other jobs when one cannot be read", async () => {
  const memory = new MemoryJobs();
  const [unreadable, expired, unsent] = [jobOf(25 * 60 * minute), jobOf(24.5 * 60 * minute), jobOf(minute)];
  for (const one of [unreadable, expired, unsent]) memory.store(one, undefined);
  const { sent, logged } = await sweepOf(memory, {
    read: (id) => {
      if (id === unreadable.operationId) throw new TypeError("not a job");
      return memory.read(id);
    },
  });
  expect(memory.read(expired.operationId)).toMatchObject({ state: "failed", reason: "expired" });
  expect(sent).toEqual([unsent.operationId]);
  expect(logged).toContain("CRASH");
});

test("the sweep leaves jobs that it has no time for to the next one and logs at most one line", async () => {
  const memory = new MemoryJobs();
  for (let index = 0; index < 50; index++) memory.store(jobOf(minute + index), undefined);
  const time = new AbortController();
  const { sent, logged } = await sweepOf(memory, { signal: time.signal, send: () => time.abort() });
  expect(sent).toHaveLength(1);
  expect(logged.length).toBeLessThanOrEqual(1);
  expect((await sweepOf(memory)).sent).toHaveLength(49);
});

test("the sweep sends a new message for a job whose message is exhausted", async () => {
  const memory = new MemoryJobs();
  const begun = { ...jobOf(5 * minute), queuedAt: now - 4 * minute, startedAt: now - 3 * minute };
  memory.store(begun, undefined);
  expect((await sweepOf(memory)).sent).toEqual([]);

  memory.requestMessage(begun.operationId);

  expect((await sweepOf(memory)).sent).toEqual([begun.operationId]);
  expect(memory.read(begun.operationId)?.queuedAt).toBe(now);
  expect((await sweepOf(memory)).sent).toEqual([]);
});

test("the sweep records the time before it sent a message that took 20 minutes", async () => {
  const memory = new MemoryJobs();
  const found = jobOf(5 * minute);
  memory.store(found, undefined);
  let later = 0;
  const { sent } = await sweepOf(memory, { send: () => (later = 20 * minute), time: () => now + later });
  expect(sent).toEqual([found.operationId]);
  expect(memory.read(found.operationId)?.queuedAt).toBe(now);
});

test.each([
  { changes: { heldBackAt: now - minute }, is: "is still held back", minutes: 5 },
  { changes: { heldBackAt: now - 30 * minute }, is: "was held back half an hour ago", minutes: 30 },
  { changes: { waitsFor: "host" }, is: "waits for a permit because workers are in use", minutes: 60 },
])(
  "the sweep measures $minutes min of waiting for workers when an older job $is",
  async ({ changes, minutes }) => {
    const memory = new MemoryJobs();
    for (const one of [{ ...jobOf(60 * minute), ...changes }, jobOf(5 * minute)])
      memory.store(one, undefined);

    const { measured } = await sweepOf(memory);

    expect(measured).toEqual({ OldestJobSeconds: 60 * 60, OldestUnstartedJobSeconds: minutes * 60 });
  },
);

test("the sweep measures no waiting of a job that begins before the index shows it", async () => {
  const memory = new MemoryJobs();
  const job = jobOf(60 * minute);
  memory.store(job, undefined);

  const { measured } = await sweepOf(memory, { read: () => ({ ...job, startedAt: now }) });

  expect(measured.OldestUnstartedJobSeconds).toBe(0);
});

test("the sweep does not expire a job that has ended before the index shows it", async () => {
  const memory = new MemoryJobs();
  const stale = jobOf(25 * 60 * minute);
  memory.store(stale, undefined);

  const { logged } = await sweepOf(memory, { read: () => ({ ...stale, state: "delivered" }) });

  expect(logged).toEqual([]);
  expect(memory.read(stale.operationId)).toEqual(stale);
});

test("the sweep measures how many days ago the latest observed day of densities was, where there is one", async () => {
  const measuredOf = async (day: string | undefined) =>
    (await sweepOf(new MemoryJobs(), { newestObservedDay: async () => day })).measured;

  expect(await measuredOf("2026-11-19")).toMatchObject({ ObservedDayAgeDays: 3 });
  expect(await measuredOf(undefined)).not.toHaveProperty("ObservedDayAgeDays");
});

test("the sweep queues waiting jobs although the newest observed day cannot be read", async () => {
  const memory = new MemoryJobs();
  const unsent = jobOf(minute);
  memory.store(unsent, undefined);
  const { sent, logged } = await sweepOf(memory, {
    newestObservedDay: () => Promise.reject(new Unavailable("DynamoDB", "throttled")),
  });
  expect(sent).toEqual([unsent.operationId]);
  expect(logged).toEqual(["DEPENDENCY_FAILED"]);
});
