import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
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

const request = requestIn([
  { latitude: 1, longitude: 1 },
  { latitude: 1, longitude: 2 },
  { latitude: 2, longitude: 1 },
]);
const stored = (changes: Partial<Job> = {}) => storeJob(someJob("https://sink.example/", request, changes));

/** A job whose message is where a person looks for it. */
async function parkedJob(changes: Partial<Job> = {}): Promise<Job> {
  const job = await stored({ attempts: 9, ...changes });
  await harness.send(parked, job);
  return job;
}

/** A message of a job that has expired, or never was. */
async function goneJob(): Promise<{ readonly operationId: string }> {
  const job = { operationId: crypto.randomUUID() };
  await harness.send(parked, job);
  return job;
}

/** What can be received by the workers now. */
async function sent(): Promise<unknown[]> {
  return (await harness.receive(jobs)).Records.map(({ body }) => JSON.parse(body));
}

/** The state and the id of each parked job. */
async function listed(): Promise<string[]> {
  return (await operations.parkedMessages())
    .map(({ operationId, state }) => `${state} ${operationId}`)
    .sort();
}

const messageOf = ({ operationId }: { readonly operationId: string }) => ({ version: 1, operationId });

test("ncs jobs list, run twice, shows all 14 parked messages both times, of which SQS returns ten a call, with the state of each job and when it was parked", async () => {
  const before = Date.now();
  const pending = await Promise.all(Array.from({ length: 8 }, () => parkedJob()));
  const ended = (["delivered", "refused", "failed"] as const).map((state) => parkedJob({ state }));
  const over = await Promise.all(ended);
  const gone = await goneJob();
  await harness.send(parked, "no JSON", '{"version":2}');
  const all = [
    ...[...pending, ...over].map(({ operationId, state }) => `${state} ${operationId}`),
    ...[gone.operationId, undefined, undefined].map((operationId) => `gone ${operationId}`),
  ];

  expect(await listed()).toEqual(all.sort());
  expect(await listed()).toEqual(all);
  for (const { since } of await operations.parkedMessages()) {
    expect(since.getTime()).toBeGreaterThanOrEqual(before - 1_000);
    expect(since.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  }
});

test("ncs jobs retry sends the named job to the workers, reports one that is not parked, and leaves the others", async () => {
  const [wanted, other] = [await parkedJob(), await parkedJob()];
  await harness.send(parked, "no JSON");

  const ended = await operations.retryParked([wanted.operationId, "nobody"]);

  expect(ended).toEqual({ retried: 1, removed: 0, missing: ["nobody"] });
  expect(await sent()).toEqual([messageOf(wanted)]);
  expect(await listed()).toEqual(["gone undefined", `pending ${other.operationId}`]);
});

test("ncs jobs retry sends all pending jobs to the workers and removes messages without one", async () => {
  const waiting = [await parkedJob(), await parkedJob()];
  await parkedJob({ state: "delivered" });
  await goneJob();
  await harness.send(parked, "no JSON", "[]", '{"version":1}');

  expect(await operations.retryParked()).toEqual({ retried: 2, removed: 5, missing: [] });

  expect(await sent()).toEqual(expect.arrayContaining(waiting.map(messageOf)));
  expect(await listed()).toEqual([]);
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

test("ncs jobs show returns state and attempts, and nothing of the request, the sink or the token", async () => {
  const canary = `canary-${crypto.randomUUID()}`;
  const secret = { accessToken: canary, attempts: 3 };
  const job = await storeJob(someJob(`https://${canary}.example/`, request, secret));
  const shown = await operations.jobSummary(job.operationId);
  expect(shown).toMatchObject({ state: "pending", attempts: 3, mode: "answer", possiblyDelivered: false });
  expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${canary}|latitude`));
  expect((await operations.pendingJobs()).map(({ operationId }) => operationId)).toContain(job.operationId);
  expect(await operations.jobSummary(crypto.randomUUID())).toBeUndefined();
});

test.each<[string, Partial<Job>]>([
  ["waits for its first attempt", {}],
  ["waits hours for its next one", { attempts: 7, notBefore: Date.now() + 6 * 3_600_000 }],
  ["is being worked on", { attempts: 1, lease: "worker", notBefore: Date.now() + 300_000 }],
])("ncs jobs release ends a job that %s, and frees its caller's place", async (_, changes) => {
  const job = await stored(changes);
  expect(await operations.freeJob(job.operationId)).toBe(true);
  const ended = await storedJob(job.operationId);
  expect(ended).toMatchObject({ state: "failed", reason: "released by an operator" });
  expect(ended).not.toHaveProperty("sink");
  expect(await pendingOf(job.caller)).toEqual(new Set());
  expect(await operations.freeJob(job.operationId)).toBe(false);
});

test("ncs jobs release frees the places of a caller's jobs that are over", async () => {
  const client = crypto.randomUUID();
  const caller = hashed(client);
  const waiting = await stored({ caller });
  await stored({ caller, state: "delivered" });
  expect(await operations.freeCaller(client)).toBe(1);
  expect(await pendingOf(caller)).toEqual(new Set([waiting.operationId]));
});
