import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Job } from "../../functions/population-density/delivery/job.ts";
import { hashed } from "../../shared/hash.ts";
import type * as Jobs from "../../tools/cli/job-operations.ts";
import { type Harness, openHarness, pendingOf, requestIn, storedJob, storeJob } from "../support/jobs.ts";
import { someJob } from "../support/some-job.ts";

const parked = "density-jobs-parked";
const jobs = "density-jobs";

let harness: Harness;
let operations: typeof Jobs;

beforeAll(async () => {
  harness = await openHarness();
  operations = await import("../../tools/cli/job-operations.ts");
});
afterAll(() => harness.close());
afterEach(async () => {
  harness.queues.inject();
  await harness.purge(parked);
  await harness.purge(jobs);
});

const triangle = [
  { latitude: 1, longitude: 1 },
  { latitude: 1, longitude: 2 },
  { latitude: 2, longitude: 1 },
];

/** A job whose message is where a person looks for it. */
async function parkedJob(changes: Partial<Job> = {}): Promise<Job> {
  const job = await storeJob(
    someJob("https://sink.example", requestIn(triangle), { attempts: 9, ...changes }),
  );
  await harness.send(parked, job);
  return job;
}

/** A message of a job that has expired, or never was. */
async function goneJob(): Promise<{ readonly operationId: string }> {
  const job = { operationId: crypto.randomUUID() };
  await harness.send(parked, job);
  return job;
}

/** What can be received of a queue now, parsed if it is JSON. */
async function inQueue(queue: typeof parked | typeof jobs): Promise<unknown[]> {
  const { Records } = await harness.receive(queue);
  return Records.map(({ body }) => (body.startsWith("{") ? JSON.parse(body) : body));
}

/** The state and the id of each parked job. */
async function listed(): Promise<string[]> {
  return (await operations.parkedMessages())
    .map(({ operationId, state }) => `${state} ${operationId}`)
    .sort();
}

const messageOf = ({ operationId }: { readonly operationId: string }) => ({ version: 1, operationId });

test("ncs jobs list shows each parked message with the state of its job and the time", async () => {
  const before = Date.now();
  const pending = await Promise.all(Array.from({ length: 23 }, () => parkedJob()));
  const over = await Promise.all(
    (["delivered", "refused", "failed"] as const).map((state) => parkedJob({ state })),
  );
  const gone = await goneJob();
  await harness.send(parked, "no JSON", '{"version":2}');

  const messages = await operations.parkedMessages();

  expect(messages.map(({ operationId, state }) => `${state} ${operationId}`).sort()).toEqual(
    [
      ...pending.map(({ operationId }) => `pending ${operationId}`),
      ...over.map(({ operationId, state }) => `${state} ${operationId}`),
      `gone ${gone.operationId}`,
      "gone undefined",
      "gone undefined",
    ].sort(),
  );
  for (const { since } of messages) {
    expect(since.getTime()).toBeGreaterThanOrEqual(before - 1_000);
    expect(since.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  }
});

test("ncs jobs list shows the same messages again, and leaves them to be retried at once", async () => {
  const job = await parkedJob();

  expect(await listed()).toEqual([`pending ${job.operationId}`]);
  expect(await listed()).toEqual([`pending ${job.operationId}`]);
  expect(await operations.retryParked()).toMatchObject({ retried: 1 });
});

test("ncs jobs retry sends the named message to the workers and leaves the others parked", async () => {
  const [wanted, other] = [await parkedJob(), await parkedJob()];
  await harness.send(parked, "no JSON");

  expect(await operations.retryParked([wanted.operationId])).toEqual({
    retried: 1,
    removed: 0,
    missing: [],
  });

  expect(await inQueue(jobs)).toEqual([messageOf(wanted)]);
  expect(await listed()).toEqual(["gone undefined", `pending ${other.operationId}`]);
});

test("ncs jobs retry sends all pending jobs to the workers and removes messages without one", async () => {
  const waiting = [await parkedJob(), await parkedJob()];
  await parkedJob({ state: "delivered" });
  await goneJob();
  await harness.send(parked, "no JSON", "[]", '{"version":1}');

  expect(await operations.retryParked()).toEqual({ retried: 2, removed: 5, missing: [] });

  expect(await inQueue(jobs)).toEqual(expect.arrayContaining(waiting.map(messageOf)));
  expect(await operations.parkedMessages()).toEqual([]);
});

test("ncs jobs retry removes the messages of jobs that are over or gone, and sends none", async () => {
  const over = await parkedJob({ state: "failed" });
  const gone = await goneJob();

  expect(await operations.retryParked([over.operationId, gone.operationId])).toEqual({
    retried: 0,
    removed: 2,
    missing: [],
  });

  expect(await inQueue(jobs)).toEqual([]);
  expect(await operations.parkedMessages()).toEqual([]);
});

test("ncs jobs retry reports an operation that is not parked as missing and changes nothing", async () => {
  const job = await parkedJob();

  expect(await operations.retryParked(["nobody"])).toEqual({ retried: 0, removed: 0, missing: ["nobody"] });

  expect(await inQueue(jobs)).toEqual([]);
  expect(await listed()).toEqual([`pending ${job.operationId}`]);
});

test("ncs jobs retry deletes no message that the workers' queue has refused", async () => {
  await parkedJob();
  const before = harness.queues.calls.length;
  harness.queues.inject(({ operation }) => (operation === "SendMessage" ? "refuse" : "pass"));

  await expect(operations.retryParked()).rejects.toThrow();

  const called = harness.queues.calls.slice(before).map(({ operation }) => operation);
  expect(called).toContain("SendMessage");
  expect(called).not.toContain("DeleteMessage");
});

describe("pending jobs", () => {
  test("ncs jobs show returns state and attempts, and nothing of the request, the sink or the token", async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const job = await storeJob(
      someJob(`https://${canary}.example/`, requestIn(triangle), { accessToken: canary, attempts: 3 }),
    );
    const shown = await operations.jobSummary(job.operationId);
    expect(shown).toMatchObject({ state: "pending", attempts: 3, mode: "answer", possiblyDelivered: false });
    expect(JSON.stringify(shown)).not.toContain(canary);
    expect(JSON.stringify(shown)).not.toContain("latitude");
    expect((await operations.pendingJobs()).map(({ operationId }) => operationId)).toContain(job.operationId);
    expect(await operations.jobSummary(crypto.randomUUID())).toBeUndefined();
  });

  test.each<[string, Partial<Job>]>([
    ["waits for its first attempt", {}],
    ["waits hours for its next one", { attempts: 7, notBefore: Date.now() + 6 * 3_600_000 }],
    ["is being worked on", { attempts: 1, lease: "worker", notBefore: Date.now() + 300_000 }],
  ])("ncs jobs release ends a job that %s, and frees its caller's place", async (_, changes) => {
    const job = await storeJob(someJob("https://sink.example/", requestIn(triangle), changes));
    expect(await operations.releaseJob(job.operationId)).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({
      state: "failed",
      reason: "released by an operator",
    });
    expect(await storedJob(job.operationId)).not.toHaveProperty("sink");
    expect(await pendingOf(job.caller)).toEqual(new Set());
    expect(await operations.releaseJob(job.operationId)).toBe(false);
  });

  test("ncs jobs release frees the places of a caller's jobs that are over", async () => {
    const client = crypto.randomUUID();
    const caller = hashed(client);
    const waiting = await storeJob(someJob("https://sink.example/", requestIn(triangle), { caller }));
    await storeJob(someJob("https://sink.example/", requestIn(triangle), { caller, state: "delivered" }));
    expect(await operations.releaseCaller(client)).toBe(1);
    expect(await pendingOf(caller)).toEqual(new Set([waiting.operationId]));
  });
});
