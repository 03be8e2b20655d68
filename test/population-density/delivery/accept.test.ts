import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type * as Accept from "../../../functions/population-density/delivery/accept.ts";
import type { Job } from "../../../functions/population-density/delivery/job.ts";
import type * as JobStore from "../../../functions/population-density/delivery/job-store.ts";
import { newJob } from "../../../functions/population-density/delivery/new-job.ts";
import type * as ServicePorts from "../../../functions/population-density/delivery/service-ports.ts";
import type * as Sweep from "../../../functions/population-density/delivery/sweep-jobs.ts";
import { boxIn, freshTile } from "../../support/densities.ts";
import { type Harness, openHarness, pendingOf, requestIn, storedJob } from "../../support/jobs.ts";
import { captureOutput } from "../../support/pipeline.ts";

let harness: Harness;
let modules: typeof Accept & typeof JobStore & typeof ServicePorts & typeof Sweep;
let output: ReturnType<typeof captureOutput>;

beforeAll(async () => {
  harness = await openHarness();
  modules = {
    ...(await import("../../../functions/population-density/delivery/accept.ts")),
    ...(await import("../../../functions/population-density/delivery/job-store.ts")),
    ...(await import("../../../functions/population-density/delivery/service-ports.ts")),
    ...(await import("../../../functions/population-density/delivery/sweep-jobs.ts")),
  };
  output = captureOutput();
});
afterAll(async () => {
  output.stop();
  await harness.close();
});
afterEach(async () => {
  harness.tables.inject();
  harness.queues.inject();
  await harness.purge("density-jobs");
});

type Order = Parameters<typeof newJob>[0];

function someOrder(changes: Partial<Order> = {}): Order {
  const request = requestIn(boxIn(freshTile(), [1, 1], [2, 2])) as Order["request"];
  return {
    request: { ...request, sink: "https://sink.example.com/a" },
    client: crypto.randomUUID(),
    correlator: crypto.randomUUID(),
    idempotencyKey: undefined,
    now: new Date(),
    ...changes,
  };
}

function ports(now = Date.now) {
  const { sharedPorts, jobStore, send } = modules;
  return { ...sharedPorts, clock: { ...sharedPorts.clock, now }, jobs: jobStore, queues: { send } };
}

const accept = (job: Job, limit = 20) => modules.acceptJob(job, limit, ports(), AbortSignal.timeout(5_000));

const sweepAt = (now: number) =>
  modules.sweep(
    ports(() => now),
    AbortSignal.timeout(10_000),
  );

/** The jobs that messages were sent for, as far as they can be received. */
async function queued(): Promise<unknown[]> {
  const messages: unknown[] = [];
  // A sweep sends messages for jobs of other tests too: more than one call receives.
  for (;;) {
    const { Records } = await harness.receive("density-jobs");
    if (Records.length === 0) return messages;
    messages.push(...Records.map(({ body }) => JSON.parse(body)));
  }
}

const messageOf = ({ operationId }: Job) => ({ version: 1, operationId });

describe("a job that is accepted", () => {
  test("a job whose message SQS refuses is accepted, and has one message from the sweep 20 s later", async () => {
    const job = newJob(someOrder());
    harness.queues.inject(() => "refuse");
    expect(await accept(job)).toBe("accepted");
    harness.queues.inject();
    expect(await queued()).toEqual([]);

    await sweepAt(job.requestedAt + 5_000);
    expect(await queued()).not.toContainEqual(messageOf(job));
    await sweepAt(job.requestedAt + 20_000);
    const sent = (await queued()).filter((message) => JSON.stringify(message).includes(job.operationId));
    expect(sent).toEqual([messageOf(job)]);
    await sweepAt(job.requestedAt + 80_000);
    expect(await queued()).not.toContainEqual(messageOf(job));
  });

  test.each([
    ["sending is denied", "AccessDenied", 403],
    ["the queue's key is disabled", "KmsDisabled", 400],
  ])("a job is accepted when %s, NCS-002 is logged, and the sweep sends it", async (_, name, status) => {
    const job = newJob(someOrder());
    harness.queues.inject(() => ({ refuse: { status, name } }));
    expect(await accept(job)).toBe("accepted");
    harness.queues.inject();

    const logged = output.text().split("\n");
    const line = logged.find((text) => text.includes(job.operationId) && text.includes('"NCS-002"'));
    expect(line).toContain(name);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending" });
    await sweepAt(job.requestedAt + 20_000);
    expect(await queued()).toContainEqual(messageOf(job));
  });

  test("a job is accepted when its request times out while the message is sent", async () => {
    const job = newJob(someOrder());
    const request = new AbortController();
    harness.queues.inject(() => {
      request.abort();
      return "hang";
    });
    expect(await modules.acceptJob(job, 20, ports(), request.signal)).toBe("accepted");
  });
});

describe("a store that does not answer", () => {
  test("a job is withdrawn and its place freed when DynamoDB never answers that it was stored", async () => {
    const job = newJob(someOrder());
    harness.tables.inject(({ operation, parameters }) => {
      const isStore = operation === "PutItem" && JSON.stringify(parameters.Item).includes('"pending"');
      return isStore ? "lose" : "pass";
    });
    expect(await accept(job)).toBe("withdrawn");
    expect(await storedJob(job.operationId)).toMatchObject({ state: "withdrawn" });
    expect(await storedJob(job.operationId)).not.toHaveProperty("sink");
    expect(await pendingOf(job.caller)).toEqual(new Set());
    await sweepAt(job.requestedAt + 100_000);
    expect(await queued()).not.toContainEqual(messageOf(job));
  });
});

describe("a request that is sent again with its idempotency key", () => {
  const idempotencyKey = "key-1";

  test("a second request with the same idempotency key conflicts if its precision, sink, period or credential differs", async () => {
    const order = someOrder({ idempotencyKey });
    const job = newJob(order);
    expect(await accept(job)).toBe("accepted");
    const asked = { credentialType: "ACCESSTOKEN", accessToken: "a" } as const;
    for (const changes of [
      { precision: 6 },
      { sink: "https://other.example.com/" },
      { endTime: order.request.startTime },
      { sinkCredential: asked },
    ]) {
      const other = newJob({ ...order, request: { ...order.request, ...changes } });
      expect(other.operationId).toBe(job.operationId);
      expect(await accept(other)).toBe("conflict");
    }
    expect(newJob({ ...order, client: "other" }).operationId).not.toBe(job.operationId);
    expect(newJob({ ...order, idempotencyKey: "key-2" }).operationId).not.toBe(job.operationId);
    expect(job.operationId).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test("a request with a key that was used a day ago joins the pending job, and is accepted as a new one once that has ended", async () => {
    const order = someOrder({ idempotencyKey, now: new Date(Date.now() - 86_400_000) });
    const first = newJob(order);
    const { jobStore } = modules;
    const signal = () => AbortSignal.timeout(5_000);
    await jobStore.store(first, undefined, signal());
    const again = newJob({ ...order, now: new Date() });
    expect(await accept(again)).toBe("joined");
    expect(await storedJob(first.operationId)).toMatchObject({ intake: first.intake });
    const lease = { id: "l", mode: "answer", now: Date.now(), until: Date.now(), isAttempt: true } as const;
    await jobStore.acquireLease(first, lease, signal());
    await jobStore.finish(first, "l", { outcome: "failed", reason: "a" }, signal());
    expect(await accept(newJob({ ...order, now: new Date() }))).toBe("accepted");
    expect(await storedJob(first.operationId)).toMatchObject({ state: "pending", attempts: 0 });
  });
});

test("a job is withdrawn when looking for free places takes longer than its request has", async () => {
  const job = newJob(someOrder({ now: new Date(Date.now() - 2_300) }));
  const releaseEnded = (_: string, __: number, signal: AbortSignal) => wait(60_000, 0, { signal });
  const slow = {
    ...ports(),
    jobs: { ...modules.jobStore, reservePlace: async () => false, releaseEnded },
  };
  expect(await modules.acceptJob(job, 20, slow, AbortSignal.timeout(5_000))).toBe("withdrawn");
  expect(await storedJob(job.operationId)).toMatchObject({ state: "withdrawn" });
  expect(await pendingOf(job.caller)).toEqual(new Set());
});
