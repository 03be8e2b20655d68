import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Job } from "../../functions/population-density/delivery/job.ts";
import { hashed } from "../../shared/hash.ts";
import type * as Jobs from "../../tools/cli/job-operations.ts";
import {
  type Harness,
  openHarness,
  pendingOf,
  requestIn,
  someJob,
  storedJob,
  storeJob,
} from "../support/jobs.ts";

const parked = "density-jobs-parked";
const jobs = "density-jobs";

let harness: Harness;
let tools: typeof Jobs;
let look: typeof Jobs.parkedMessages;
let retry: typeof Jobs.retryParked;

beforeAll(async () => {
  harness = await openHarness();
  tools = await import("../../tools/cli/job-operations.ts");
  ({ parkedMessages: look, retryParked: retry } = tools);
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

/** What a look shows: the state of each job and its id. */
async function shown(): Promise<string[]> {
  return (await look()).map(({ operationId, state }) => `${state} ${operationId}`).sort();
}

const messageOf = ({ operationId }: { readonly operationId: string }) => ({ version: 1, operationId });

describe("a look at what is parked", () => {
  test("shows every message, however many, with what has become of its job and since when", async () => {
    const before = Date.now();
    const pending = await Promise.all(Array.from({ length: 23 }, () => parkedJob()));
    const over = await Promise.all(
      (["delivered", "refused", "failed"] as const).map((state) => parkedJob({ state })),
    );
    const gone = await goneJob();
    await harness.send(parked, "no JSON", '{"version":2}');

    const messages = await look();

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

  test("is not the last: the next one shows the same, and everything can be tried again at once", async () => {
    const job = await parkedJob();

    expect(await shown()).toEqual([`pending ${job.operationId}`]);
    expect(await shown()).toEqual([`pending ${job.operationId}`]);
    expect(await retry()).toMatchObject({ retried: 1 });
  });

  test("at an empty queue shows nothing", async () => {
    expect(await look()).toEqual([]);
  });
});

describe("trying again", () => {
  test("one gives it to the workers, and leaves the others for the next look", async () => {
    const [wanted, other] = [await parkedJob(), await parkedJob()];
    await harness.send(parked, "no JSON");

    expect(await retry([wanted.operationId])).toEqual({ retried: 1, removed: 0, missing: [] });

    expect(await inQueue(jobs)).toEqual([messageOf(wanted)]);
    expect(await shown()).toEqual(["gone undefined", `pending ${other.operationId}`]);
  });

  test("all gives all that wait to the workers and takes away what is about nothing", async () => {
    const waiting = [await parkedJob(), await parkedJob()];
    await parkedJob({ state: "delivered" });
    await goneJob();
    await harness.send(parked, "no JSON", "[]", '{"version":1}');

    expect(await retry()).toEqual({ retried: 2, removed: 5, missing: [] });

    expect(await inQueue(jobs)).toEqual(expect.arrayContaining(waiting.map(messageOf)));
    expect(await look()).toEqual([]);
  });

  test("a job that is over, or gone, is not done again: its message is taken away", async () => {
    const over = await parkedJob({ state: "failed" });
    const gone = await goneJob();

    expect(await retry([over.operationId, gone.operationId])).toEqual({
      retried: 0,
      removed: 2,
      missing: [],
    });

    expect(await inQueue(jobs)).toEqual([]);
    expect(await look()).toEqual([]);
  });

  test("one that is not parked is said to be missing, and nothing is touched", async () => {
    const job = await parkedJob();

    expect(await retry(["nobody"])).toEqual({ retried: 0, removed: 0, missing: ["nobody"] });

    expect(await inQueue(jobs)).toEqual([]);
    expect(await shown()).toEqual([`pending ${job.operationId}`]);
  });

  test("while somebody else tries again what is parked, nothing is done twice", async () => {
    const waiting = await Promise.all(Array.from({ length: 5 }, () => parkedJob()));

    const both = await Promise.all([retry(), retry()]);

    expect(both.reduce((sum, { retried }) => sum + retried, 0)).toBe(waiting.length);
    expect(await inQueue(jobs)).toHaveLength(waiting.length);
  });

  test("what the workers' queue does not take stays parked", async () => {
    await parkedJob();
    const before = harness.queues.calls.length;
    harness.queues.inject(({ operation }) => (operation === "SendMessage" ? "refuse" : "pass"));

    await expect(retry()).rejects.toThrow();

    const operations = harness.queues.calls.slice(before).map(({ operation }) => operation);
    expect(operations).toContain("SendMessage");
    expect(operations).not.toContain("DeleteMessage");
  });
});

describe("a job that an operator looks at", () => {
  test("shows its state, why it ended and its attempts, and nothing of its request, sink or token", async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const job = await storeJob(
      someJob(`https://${canary}.example/`, requestIn(triangle), { accessToken: canary, attempts: 3 }),
    );
    const shown = await tools.jobSummary(job.operationId);
    expect(shown).toMatchObject({ state: "pending", attempts: 3, mode: "answer", possiblyDelivered: false });
    expect(JSON.stringify(shown)).not.toContain(canary);
    expect(JSON.stringify(shown)).not.toContain("latitude");
    expect((await tools.pendingJobs()).map(({ operationId }) => operationId)).toContain(job.operationId);
    expect(await tools.jobSummary(crypto.randomUUID())).toBeUndefined();
  });

  test.each<[string, Partial<Job>]>([
    ["waits for its first attempt", {}],
    ["waits hours for its next one", { attempts: 7, notBefore: Date.now() + 6 * 3_600_000 }],
    ["is being worked on", { attempts: 1, lease: "worker", notBefore: Date.now() + 300_000 }],
  ])("is released with its caller's place when it %s", async (_, changes) => {
    const job = await storeJob(someJob("https://sink.example/", requestIn(triangle), changes));
    expect(await tools.releaseJob(job.operationId)).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({
      state: "failed",
      reason: "released by an operator",
    });
    expect(await storedJob(job.operationId)).not.toHaveProperty("sink");
    expect(await pendingOf(job.caller)).toEqual(new Set());
    expect(await tools.releaseJob(job.operationId)).toBe(false);
  });

  test("and a caller's places whose jobs are over are released by the caller's name", async () => {
    const client = crypto.randomUUID();
    const caller = hashed(client);
    const waiting = await storeJob(someJob("https://sink.example/", requestIn(triangle), { caller }));
    await storeJob(someJob("https://sink.example/", requestIn(triangle), { caller, state: "delivered" }));
    expect(await tools.releaseCaller(client)).toBe(1);
    expect(await pendingOf(caller)).toEqual(new Set([waiting.operationId]));
  });
});
