import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type * as Accept from "../../../functions/population-density/delivery/accept.ts";
import type { Job } from "../../../functions/population-density/delivery/job.ts";
import type * as JobStore from "../../../functions/population-density/delivery/job-store.ts";
import { newJob } from "../../../functions/population-density/delivery/new-job.ts";
import type * as AcceptOperation from "../../../functions/population-density/operations/accept-operation.ts";
import { hashed } from "../../../shared/hash.ts";
import { boxIn, freshTile } from "../../support/densities.ts";
import { pendingOf, requestIn, storedJob } from "../../support/jobs.ts";
import { useHarness } from "../../support/use-harness.ts";
import { deliveryPorts, sweepAt } from "../../support/worker.ts";

const { harness, output } = useHarness();
let modules: typeof Accept & typeof JobStore & typeof AcceptOperation;
beforeAll(async () => {
  modules = {
    ...(await import("../../../functions/population-density/delivery/accept.ts")),
    ...(await import("../../../functions/population-density/delivery/job-store.ts")),
    ...(await import("../../../functions/population-density/operations/accept-operation.ts")),
  };
});
afterEach(() => harness().purge("density-jobs"));

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

const accept = async (job: Job, { limit = 20, signal = AbortSignal.timeout(60_000), ports = {} } = {}) =>
  await modules.acceptJob(job, limit, { ...(await deliveryPorts()), ...ports }, signal);

/** The jobs that messages were sent for, as far as they can be received. */
async function queued(): Promise<unknown[]> {
  const messages: unknown[] = [];
  // A sweep sends messages for jobs of other tests too: more than one call receives.
  for (;;) {
    const { Records } = await harness().receive("density-jobs");
    if (Records.length === 0) return messages;
    messages.push(...Records.map(({ body }) => JSON.parse(body)));
  }
}

const messageOf = ({ operationId }: Job) => ({ version: 1, operationId });

describe("a job that is accepted", () => {
  test.each([
    ["SQS fails", "refuse", "NCS-003", "InternalServerError"],
    ["sending is denied", { refuse: { status: 403, name: "AccessDenied" } }, "NCS-002", "AccessDenied"],
    [
      "the queue's key is disabled",
      { refuse: { status: 400, name: "KmsDisabled" } },
      "NCS-002",
      "KmsDisabled",
    ],
  ] as const)(
    "a job is accepted when %s, and has one message from the sweep 20 s later",
    async (_, fault, id, cause) => {
      const job = newJob(someOrder());
      harness().queues.inject(() => fault);
      expect(await accept(job)).toBe("accepted");
      harness().queues.inject();

      const logged = output().text().split("\n");
      expect(logged.find((line) => line.includes(job.operationId) && line.includes(id))).toContain(cause);
      const sentAfter = async (seconds: number) => {
        await sweepAt(job.requestedAt + 1_000 * seconds);
        return (await queued()).filter((message) => JSON.stringify(message).includes(job.operationId));
      };
      expect([await sentAfter(5), await sentAfter(20), await sentAfter(80)]).toEqual([
        [],
        [messageOf(job)],
        [],
      ]);
    },
  );

  test("a job is accepted when its request times out while the message is sent", async () => {
    const job = newJob(someOrder());
    const request = new AbortController();
    const { clock } = await deliveryPorts();
    const deadline: typeof clock.deadline = (milliseconds, since) =>
      since === undefined ? AbortSignal.timeout(100) : clock.deadline(milliseconds, since);
    harness().queues.inject(() => {
      request.abort();
      return "hang";
    });
    const ports = { clock: { ...clock, deadline } };
    expect(await accept(job, { signal: request.signal, ports })).toBe("accepted");
  });
});

test("a job is withdrawn and its place freed when DynamoDB never answers that it was stored", async () => {
  const job = newJob(someOrder());
  harness().tables.inject(({ operation, parameters }) => {
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

describe("a request that is sent again with its idempotency key", () => {
  const idempotencyKey = "key-1";

  test("an order with an idempotency key gets the same operation id again, and another client or key gets another", () => {
    const order = someOrder({ idempotencyKey });
    const { operationId } = newJob(order);
    expect(newJob({ ...order, request: { ...order.request, precision: 6 } }).operationId).toBe(operationId);
    expect(newJob({ ...order, client: "other" }).operationId).not.toBe(operationId);
    expect(newJob({ ...order, idempotencyKey: "key-2" }).operationId).not.toBe(operationId);
    expect(operationId).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test("a job has a hash of its request only with an idempotency key, and by that alone", () => {
    const order = someOrder({ idempotencyKey });
    const hashes = [
      order,
      { ...order, idempotencyKey: "key-2" },
      { ...order, idempotencyKey: undefined },
    ].map((each) => newJob(each).requestHash);
    expect(new Set([...hashes, hashed(JSON.stringify(order.request))]).size).toBe(4);
    expect(hashes[2]).toBe("");
  });

  test("a request joins the job that version 0.2.0 stored for the same, with a hash without a key, and no other", async () => {
    const order = someOrder({ idempotencyKey });
    const job = { ...newJob(order), requestHash: hashed(JSON.stringify(order.request)) };
    const signal = AbortSignal.timeout(5_000);
    await modules.jobStore.store(job, undefined, signal);
    const earlier = (request: Order["request"]) =>
      modules.earlierOperation(order, request, undefined, signal);
    expect(await earlier({ ...order.request, precision: 6 })).toBeUndefined();
    expect(await earlier(order.request)).toBe(job.operationId);
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
    const joined = (await jobStore.read(first.operationId, signal())) ?? first;
    const end = { outcome: "failed", reason: "a" } as const;
    expect(await jobStore.endWithoutAttempt(joined, "end", end, Date.now(), signal())).toBe(true);
    expect(await accept(newJob({ ...order, now: new Date() }))).toBe("accepted");
    expect(await storedJob(first.operationId)).toMatchObject({ state: "pending", attempts: 0 });
  });
});

test("a job is withdrawn when looking for free places takes longer than its request has", async () => {
  const job = newJob(someOrder());
  const { clock } = await deliveryPorts();
  const time = new AbortController();
  const deadline: typeof clock.deadline = (milliseconds, since) =>
    since === undefined ? clock.deadline(milliseconds) : time.signal;
  const freeEnded = (_: string, __: number, signal: AbortSignal) => {
    time.abort(new DOMException("", "TimeoutError"));
    return wait(60_000, 0, { signal });
  };
  const jobs = { ...modules.jobStore, reservePlace: async () => false, freeEnded };
  expect(await accept(job, { ports: { jobs, clock: { ...clock, deadline } } })).toBe("withdrawn");
  expect(await storedJob(job.operationId)).toMatchObject({ state: "withdrawn" });
  expect(await pendingOf(job.caller)).toEqual(new Set());
});
