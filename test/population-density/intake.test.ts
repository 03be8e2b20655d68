import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { acceptJob as Accept } from "../../functions/population-density/intake.ts";
import type { Job } from "../../functions/population-density/job.ts";
import { hashed } from "../../shared/hash.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import {
  newJob,
  openWorkplace,
  pendingOf,
  requestIn,
  run,
  storedJob,
  storeJob,
  type Workplace,
} from "../support/jobs.ts";
import { captureOutput } from "../support/pipeline.ts";
import { openSink, type TestSink } from "../support/sink.ts";

type Order = Parameters<typeof Accept>[0];

let workplace: Workplace;
let accept: typeof Accept;
let sink: TestSink;
let output: ReturnType<typeof captureOutput>;

beforeAll(async () => {
  workplace = await openWorkplace({ SINK_RETRY_SECONDS: "0" });
  sink = await openSink();
  ({ acceptJob: accept } = await import("../../functions/population-density/intake.ts"));
});
afterAll(async () => {
  await workplace.close();
  await sink.close();
});
beforeEach(() => {
  output = captureOutput();
});
afterEach(async () => {
  output.stop();
  workplace.tables.rule();
  workplace.queues.rule();
  await workplace.drain("density-jobs");
});

/** A request of a caller nobody else is, for an area nobody else asks for. */
function someOrder(changes: Partial<Order> = {}): Order {
  return {
    request: { ...requestIn(boxIn(freshTile(), [1, 1], [2, 2])), sink: sink.urlOf() },
    client: crypto.randomUUID(),
    correlator: crypto.randomUUID(),
    idempotencyKey: undefined,
    now: new Date(),
    ...changes,
  };
}

const ask = (order: Order) => accept(order, AbortSignal.timeout(5_000));

/** The messages that were sent since, as far as they can be received. */
async function received(): Promise<unknown[]> {
  const { Records } = await workplace.receive("density-jobs");
  return Records.map(({ body }) => JSON.parse(body));
}

const queueIsDown = () => workplace.queues.rule(() => "refuse");
/** The queue has each message, but nobody is told so. */
const queueIsMute = () => workplace.queues.rule(() => "lose");

describe("a job that is accepted", () => {
  test("is stored and then queued, under a new id each time", async () => {
    const order = someOrder({ correlator: "correlator-1" });
    const credential = { credentialType: "ACCESSTOKEN", accessToken: "token" };
    const request = { ...order.request, sinkCredential: credential };

    const id = (await ask({ ...order, request })) ?? "";

    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const { area, startTime, endTime, precision, sink: url } = order.request;
    expect(await storedJob(id)).toEqual({
      operationId: id,
      state: "pending",
      caller: hashed(order.client),
      request: JSON.stringify({ area, startTime, endTime, precision }),
      requestedAt: order.now.getTime(),
      correlator: "correlator-1",
      sink: url,
      accessToken: "token",
      claims: new Set([expect.any(String)]),
      attempts: 0,
      mayBeDelivered: false,
      failing: false,
      expiresAt: Math.ceil(order.now.getTime() / 1_000) + 86_400,
    });
    expect(await received()).toEqual([{ version: 1, operationId: id }]);
    expect(await pendingOf(hashed(order.client))).toEqual(new Set([id]));
    expect(await ask(order)).not.toBe(id);
  });

  test("can be received when its caller has the id", async () => {
    const order = someOrder();
    const id = await ask(order);
    const { handler } = await import("../../functions/population-density/deliver.ts");
    await run(handler, await workplace.receive("density-jobs"));
    expect(sink.received(order.request.sink).map(({ headers }) => headers["webhook-id"])).toEqual([id]);
    expect(await pendingOf(hashed(order.client))).toEqual(new Set());
  });

  test("says nothing of itself in the queue but its id", async () => {
    const before = workplace.queues.calls.length;
    const id = await ask(someOrder());
    expect(workplace.queues.calls.slice(before)).toEqual([
      {
        operation: "SendMessage",
        parameters: {
          QueueUrl: workplace.addressOf("density-jobs"),
          MessageBody: JSON.stringify({ version: 1, operationId: id }),
          DelaySeconds: 0,
        },
      },
    ]);
  });
});

test("is stored whatever its coordinates are", async () => {
  const order = someOrder();
  const boundary = [
    { latitude: 0, longitude: -1e-300 },
    { latitude: 5e-324, longitude: 0.1 },
    { latitude: 0.1, longitude: 0.30000000000000004 },
  ];
  const request = { ...order.request, area: { areaType: "POLYGON", boundary } };
  const id = (await ask({ ...order, request })) ?? "";
  const { readJob } = await import("../../functions/population-density/jobs.ts");
  const stored = await readJob(id, new Date(), AbortSignal.timeout(9_000));
  expect(stored?.request.area.boundary).toEqual(boundary);
});

describe("a job that cannot be queued", () => {
  test("is gone when its caller hears so, and counts no more", async () => {
    const order = someOrder({ idempotencyKey: "a" });
    queueIsDown();
    await expect(ask(order)).rejects.toMatchObject({ name: "Unavailable" });
    expect(await received()).toEqual([]);
    expect(jobsStored().map(({ operationId }) => operationId)).toHaveLength(1);
    for (const { operationId } of jobsStored()) expect(await storedJob(operationId)).toBeUndefined();
    workplace.queues.rule();
    vi.stubEnv("DENSITY_PENDING_LIMIT", "1");
    const next = await ask({ ...someOrder(), client: order.client });
    vi.stubEnv("DENSITY_PENDING_LIMIT", "20");
    expect(next).toBeDefined();
  });

  test("is never delivered, though the queue has its message", async () => {
    const order = someOrder();
    queueIsMute();
    await expect(ask(order)).rejects.toMatchObject({ name: "Unavailable" });
    workplace.queues.rule();
    const { handler } = await import("../../functions/population-density/deliver.ts");
    const batch = await workplace.receive("density-jobs");
    expect(batch.Records.length).toBeGreaterThan(0);
    expect(await run(handler, batch)).toEqual([]);
    expect(sink.received(order.request.sink)).toEqual([]);
  });

  test("is queued all the same when a worker has begun with it: its caller has the id", async () => {
    const order = someOrder();
    const { handler } = await import("../../functions/population-density/deliver.ts");
    let isWorking: Promise<unknown> | undefined;
    workplace.queues.rule(async () => {
      // The message is there at the second try to send it, and is delivered before the sender gives up.
      isWorking ??= workplace.receive("density-jobs").then(async ({ Records }) => {
        if (Records.length === 0) isWorking = undefined;
        else await run(handler, { Records });
      });
      await isWorking;
      return "lose" as const;
    });

    const id = await ask(order);

    workplace.queues.rule();
    expect(sink.received(order.request.sink).map(({ headers }) => headers["webhook-id"])).toEqual([id]);
  });

  test("because no limit lets it is gone", async () => {
    vi.stubEnv("DENSITY_PENDING_LIMIT", "0");
    const before = workplace.queues.calls.length;
    expect(await ask(someOrder())).toBeUndefined();
    vi.stubEnv("DENSITY_PENDING_LIMIT", "20");
    expect(workplace.queues.calls).toHaveLength(before);
    for (const { operationId } of jobsStored()) expect(await storedJob(operationId)).toBeUndefined();
  });

  test("because the store does not count it is gone", async () => {
    workplace.tables.rule(({ parameters }) =>
      JSON.stringify(parameters).includes("ADD operations") ? "refuse" : "pass",
    );
    const before = workplace.queues.calls.length;
    await expect(ask(someOrder())).rejects.toMatchObject({ name: "Unavailable" });
    workplace.tables.rule();
    expect(workplace.queues.calls).toHaveLength(before);
    for (const { operationId } of jobsStored()) expect(await storedJob(operationId)).toBeUndefined();
  });

  test("because the request's time is over is gone", async () => {
    workplace.queues.rule(async () => {
      await pause(1_500);
      return "pass" as const;
    });
    await expect(accept(someOrder(), AbortSignal.timeout(300))).rejects.toMatchObject({
      name: "Unavailable",
    });
    for (const { operationId } of jobsStored()) expect(await storedJob(operationId)).toBeUndefined();
  });

  /** The jobs of the last request. */
  function jobsStored(): Pick<Job, "operationId">[] {
    const put = workplace.tables.calls.findLast(({ operation, parameters }) => {
      return operation === "PutItem" && String(parameters.TableName).toLowerCase().includes("job");
    });
    const item = put?.parameters.Item as { operationId?: { S?: string } } | undefined;
    return item?.operationId?.S === undefined ? [] : [{ operationId: item.operationId.S }];
  }
});

describe("a request that is sent again with its idempotency key", () => {
  const key = "key-1";

  test("has the same id, a UUID, and one delivery; other members of the job stay as they were", async () => {
    const order = someOrder({ idempotencyKey: key, correlator: "first" });
    const id = await ask(order);
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const later = new Date(order.now.getTime() + 60_000);
    expect(await ask({ ...order, correlator: "second", now: later })).toBe(id);
    expect(await storedJob(id ?? "")).toMatchObject({
      correlator: "first",
      requestedAt: order.now.getTime(),
    });

    const { handler } = await import("../../functions/population-density/deliver.ts");
    const batch = await workplace.receive("density-jobs");
    expect(batch.Records).toHaveLength(2);
    await run(handler, batch);
    await run(handler, batch);
    expect(sink.received(order.request.sink)).toHaveLength(1);
    expect(sink.received(order.request.sink)[0]?.headers["x-correlator"]).toBe("first");
  });

  test("has the same id and one delivery when all come at once", async () => {
    const order = someOrder({ idempotencyKey: key });
    const ids = await Promise.all(Array.from({ length: 12 }, () => ask(order)));
    expect(new Set(ids).size).toBe(1);
    expect(await pendingOf(hashed(order.client))).toEqual(new Set(ids));
    const { handler } = await import("../../functions/population-density/deliver.ts");
    for (;;) {
      const batch = await workplace.receive("density-jobs");
      if (batch.Records.length === 0) break;
      await run(handler, batch);
    }
    expect(sink.received(order.request.sink)).toHaveLength(1);
  });

  test("is queued no more when work on it has begun or it is over, whatever is pending", async () => {
    const order = someOrder({ idempotencyKey: key });
    const id = (await ask(order)) ?? "";
    const { handler } = await import("../../functions/population-density/deliver.ts");
    await run(handler, await workplace.receive("density-jobs"));
    const before = workplace.queues.calls.length;
    vi.stubEnv("DENSITY_PENDING_LIMIT", "1");
    await ask(someOrder({ client: order.client }));
    expect(await ask(order)).toBe(id);
    vi.stubEnv("DENSITY_PENDING_LIMIT", "20");
    expect(workplace.queues.calls).toHaveLength(before + 1);
    expect((await pendingOf(hashed(order.client))).has(id)).toBe(false);
    expect(sink.received(order.request.sink)).toHaveLength(1);
  });

  test("has another id with another key, another caller or another content", async () => {
    const order = someOrder({ idempotencyKey: key });
    const { request } = order;
    const asked = { credentialType: "ACCESSTOKEN", accessToken: "a" };
    const others: Order[] = [
      order,
      { ...order, idempotencyKey: "key-2" },
      { ...order, client: crypto.randomUUID() },
      { ...order, request: { ...request, precision: 6 } },
      { ...order, request: { ...request, sink: sink.urlOf() } },
      { ...order, request: { ...request, endTime: request.startTime } },
      { ...order, request: { ...request, sinkCredential: asked } },
      { ...order, request: { ...request, sinkCredential: { ...asked, accessToken: "b" } } },
    ];
    const ids = [];
    for (const other of others) ids.push(await ask(other));
    expect(new Set(ids).size).toBe(others.length);
  });

  test("begins anew when the job is forgotten", async () => {
    const order = someOrder({ idempotencyKey: key });
    const id = await ask(order);
    const tomorrow = new Date(order.now.getTime() + 86_402_000);
    await storeJob({
      ...newJob(order.request.sink, order.request),
      operationId: id ?? "",
      state: "delivered",
      expiresAt: Math.floor(order.now.getTime() / 1_000) + 86_400,
    });
    expect(await ask({ ...order, now: tomorrow })).toBe(id);
    expect(await storedJob(id ?? "")).toMatchObject({ state: "pending", requestedAt: tomorrow.getTime() });
  });

  test("keeps its promise though the first one failed, at whatever moment that is", async () => {
    const order = someOrder({ idempotencyKey: key });
    let answer = () => {};
    const second = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let sent = 0;
    // The first request's message is refused, three times over, when the second request has been promised the answer.
    workplace.queues.rule(async () => {
      const index = ++sent;
      if (index === 1) await second;
      return index === 2 ? "pass" : "refuse";
    });
    const failing = ask(order);
    await expect.poll(() => sent).toBe(1);
    const id = await ask(order);
    answer();

    await expect(failing).rejects.toMatchObject({ name: "Unavailable" });

    expect(await storedJob(id ?? "")).toMatchObject({ state: "pending" });
    expect(await pendingOf(hashed(order.client))).toEqual(new Set([id]));
  });

  test("leaves the promise that the first one has when it fails itself", async () => {
    const order = someOrder({ idempotencyKey: key });
    const id = await ask(order);
    queueIsDown();
    await expect(ask(order)).rejects.toMatchObject({ name: "Unavailable" });
    expect(await storedJob(id ?? "")).toMatchObject({ state: "pending" });
    expect(await pendingOf(hashed(order.client))).toEqual(new Set([id]));
  });

  test("leaves nothing when all of them fail", async () => {
    const order = someOrder({ idempotencyKey: key });
    queueIsMute();
    const ends = await Promise.allSettled(Array.from({ length: 5 }, () => ask(order)));
    expect(ends.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => "rejected"));
    workplace.queues.rule();
    const { handler } = await import("../../functions/population-density/deliver.ts");
    for (;;) {
      const batch = await workplace.receive("density-jobs");
      if (batch.Records.length === 0) break;
      expect(await run(handler, batch)).toEqual([]);
    }
    expect(sink.received(order.request.sink)).toEqual([]);
    expect(await ask(order)).toBeDefined();
  });
});

describe("the limit of pending operations", () => {
  test("is exact, however many requests come at once", async () => {
    const client = crypto.randomUUID();
    const ids = await Promise.all(Array.from({ length: 40 }, () => ask(someOrder({ client }))));
    const accepted = ids.filter((id) => id !== undefined);
    expect(accepted).toHaveLength(20);
    expect(await pendingOf(hashed(client))).toEqual(new Set(accepted));
    for (const id of accepted) expect(await storedJob(id)).toMatchObject({ state: "pending" });
    expect(await ask(someOrder({ client }))).toBeUndefined();
    expect(await ask(someOrder())).toBeDefined();
  });

  test("is exact also when the operations that are counted are over or were never queued", async () => {
    const client = crypto.randomUUID();
    vi.stubEnv("DENSITY_PENDING_LIMIT", "5");
    queueIsDown();
    await Promise.allSettled(Array.from({ length: 3 }, () => ask(someOrder({ client }))));
    workplace.queues.rule();
    const caller = hashed(client);
    const requested = requestIn(boxIn(freshTile(), [1, 1], [2, 2]));
    for (let index = 0; index < 2; index++) {
      await storeJob(newJob(sink.urlOf(), requested, { caller, state: "delivered" }));
    }

    const ids = await Promise.all(Array.from({ length: 20 }, () => ask(someOrder({ client }))));

    vi.stubEnv("DENSITY_PENDING_LIMIT", "20");
    const accepted = ids.filter((id) => id !== undefined);
    expect(accepted).toHaveLength(5);
    expect(await pendingOf(caller)).toEqual(new Set(accepted));
  });
});
