import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { attempt as Attempt, Attemptable } from "../../functions/population-density/attempt.ts";
import { failureInfo, type Job } from "../../functions/population-density/job.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import {
  deliveredBody,
  newJob,
  openWorkplace,
  requestIn,
  storeDensities,
  synchronousBody,
  type Workplace,
} from "../support/jobs.ts";
import { openSink, type SinkAnswer, type TestSink } from "../support/sink.ts";

let workplace: Workplace;
let attempt: typeof Attempt;
let densities: Awaited<ReturnType<typeof storeDensities>>;
let sink: TestSink;

beforeAll(async () => {
  workplace = await openWorkplace();
  densities = await storeDensities();
  ({ attempt } = await import("../../functions/population-density/attempt.ts"));
});
afterAll(() => workplace.close());
beforeEach(async () => {
  vi.stubEnv("SINK_RETRY_SECONDS", "100,1000");
  sink = await openSink();
});
afterEach(async () => {
  workplace.tables.rule();
  await sink.close();
});

/** A job of which an attempt has begun. */
function begun(url: string, changes: Partial<Job> = {}): Attemptable {
  return { ...newJob(url, densities.request, { attempts: 1, ...changes }), sink: url };
}

const make = (job: Attemptable, signal = AbortSignal.timeout(60_000)) => attempt(job, signal);

describe("what came of an attempt", () => {
  test.each<[SinkAnswer, string, object]>([
    [{ status: 200 }, "delivered", { outcome: "delivered" }],
    [{ status: 204 }, "delivered", { outcome: "delivered" }],
    [{ status: 410 }, "refused", { outcome: "refused", status: 410 }],
    [{ status: 302 }, "refused", { outcome: "refused", status: 302 }],
  ])("is the end: %j", async (answer, end, logged) => {
    expect(await make(begun(sink.urlOf(answer)))).toEqual({ end, logged });
  });

  test.each<[SinkAnswer, boolean, object]>([
    [{ status: 500 }, false, { outcome: "failed", status: 500 }],
    [{ status: 408 }, false, { outcome: "failed", status: 408 }],
    ["reset", true, { outcome: "failed", cause: expect.stringMatching(/^[A-Z]+$/) }],
  ])("is that another has to follow, and whether the sink may hold it: %j", async (answer, may, logged) => {
    const outcome = await make(begun(sink.urlOf(answer)));
    expect(outcome).toEqual({
      logged,
      left: { mayBeDelivered: may, failing: false },
      againInSeconds: expect.any(Number),
    });
  });

  test("is that the sink still may hold it when it once might, whatever it says now", async () => {
    for (const answer of [{ status: 500 }, "cut"] as const) {
      const outcome = await make(begun(sink.urlOf(answer), { mayBeDelivered: true }));
      expect(outcome).toMatchObject({ left: { mayBeDelivered: true } });
    }
  });

  test("is that the sink does not hold it when most of it was never sent", async () => {
    const request = requestIn(boxIn(densities.tile, [0, 0], [31, 31]), 168);
    const outcome = await make(begun(sink.urlOf("cut"), { request }));
    expect(outcome).toMatchObject({ left: { mayBeDelivered: false }, logged: { outcome: "failed" } });
  });

  test("is that the job is failing when the schedule has no further wait, which is to be told at once", async () => {
    const outcome = await make(begun(sink.urlOf({ status: 500 }), { attempts: 3 }));
    expect(outcome).toEqual({
      left: { mayBeDelivered: false, failing: true },
      againInSeconds: 0,
      logged: { outcome: "failed", status: 500 },
    });
  });

  test("is that the job is given up then when its sink may hold the answer of this attempt or another", async () => {
    for (const [answer, mayBeDelivered] of [
      ["reset", false],
      [{ status: 500 }, true],
    ] as const) {
      const outcome = await make(begun(sink.urlOf(answer), { attempts: 3, mayBeDelivered }));
      expect(outcome).toMatchObject({ end: "abandoned", logged: { outcome: "failed" } });
    }
  });

  test("is when the sink wants the next, which it gets", async () => {
    const busy = { status: 503, headers: { "retry-after": "45" } };
    expect(await make(begun(sink.urlOf(busy)))).toMatchObject({ againInSeconds: 45 });
    expect(await make(begun(sink.urlOf(busy), { attempts: 3 }))).toMatchObject({
      left: { failing: true },
      againInSeconds: 0,
    });
  });

  test("is that another has to follow when the worker's time is over first", async () => {
    const outcome = await make(begun(sink.urlOf("hang")), AbortSignal.timeout(500));
    expect(outcome).toMatchObject({
      left: { mayBeDelivered: true },
      logged: { outcome: "failed", cause: "ABORTED" },
    });
  });
});

describe("an attempt that fails by itself", () => {
  const refuseDensities = () =>
    workplace.tables.rule(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));

  test("because the store does not answer is made again on the schedule", async () => {
    refuseDensities();
    const outcome = await make(begun(sink.urlOf()));
    expect(outcome).toMatchObject({
      left: { mayBeDelivered: false, failing: false },
      logged: { outcome: "not computed", cause: expect.stringMatching(/^DynamoDB: \w+$/) },
    });
    const { againInSeconds } = { againInSeconds: 0, ...outcome };
    expect(againInSeconds).toBeGreaterThanOrEqual(80);
    expect(againInSeconds).toBeLessThanOrEqual(120);
  });

  test("in the end is to be told at once", async () => {
    refuseDensities();
    const outcome = await make(begun(sink.urlOf(), { attempts: 3 }));
    expect(outcome).toMatchObject({ left: { mayBeDelivered: false, failing: true }, againInSeconds: 0 });
  });

  test("in the end is not told to a sink that may hold the answer", async () => {
    refuseDensities();
    const outcome = await make(begun(sink.urlOf(), { attempts: 3, mayBeDelivered: true }));
    expect(outcome).toMatchObject({ end: "abandoned", logged: { outcome: "not computed" } });
  });

  test("by a fault of ours is not made again, and its cause is told without data", async () => {
    const canary = `latitude-${crypto.randomUUID()}`;
    const request = { ...densities.request, startTime: canary };
    const outcome = await make(begun(sink.urlOf(), { request }));
    expect(outcome).toMatchObject({ left: { failing: true }, againInSeconds: 0 });
    expect(outcome.logged.cause).toMatch(/^TypeError\n {4}at /);
    expect(JSON.stringify(outcome)).not.toContain(canary);
    expect(sink.received()).toEqual([]);
  });
});

describe("what is sent", () => {
  test("is the answer of the moment of the request, also much later", async () => {
    const requestedAt = Date.now() - 20 * 3_600_000;
    const job = begun(sink.urlOf(), { requestedAt });
    await make(job);
    expect(sink.received()[0]?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
  });

  test("is an empty list of an area that is not covered", async () => {
    const job = begun(sink.urlOf(), { request: requestIn(boxIn(freshTile(), [1, 1], [2, 2])) });
    await make(job);
    const { operationId } = job;
    expect(sink.received()[0]?.body).toBe(
      JSON.stringify({ operationId, status: "AREA_NOT_SUPPORTED", timedPopulationDensityData: [] }),
    );
  });

  test("of a job that is failing is that, byte for byte, and no densities are read for it", async () => {
    workplace.tables.rule(() => "refuse");
    const job = begun(sink.urlOf(), { failing: true });
    expect(await make(job)).toEqual({ end: "abandoned", logged: { outcome: "delivered" } });
    expect(sink.received()[0]?.body).toBe(
      JSON.stringify({
        operationId: job.operationId,
        status: "OPERATION_NOT_COMPLETED",
        timedPopulationDensityData: [],
        statusInfo: failureInfo,
      }),
    );
  });

  test("of a job that is failing is sent until it is heard, and never counts as the answer", async () => {
    for (const answer of [{ status: 500 }, "reset"] as const) {
      const outcome = await make(begun(sink.urlOf(answer), { failing: true }));
      expect(outcome).toMatchObject({ left: { mayBeDelivered: false, failing: true } });
    }
    const last = await make(begun(sink.urlOf({ status: 500 }), { failing: true, attempts: 3 }));
    expect(last).toMatchObject({ end: "abandoned" });
    const refused = await make(begun(sink.urlOf({ status: 410 }), { failing: true }));
    expect(refused).toMatchObject({ end: "abandoned" });
  });

  test("has the second of the attempt", async () => {
    const before = Math.floor(Date.now() / 1_000);
    await make(begun(sink.urlOf()));
    const stamp = Number(sink.received()[0]?.headers["webhook-timestamp"]);
    expect(stamp).toBeGreaterThanOrEqual(before);
    expect(stamp).toBeLessThanOrEqual(Date.now() / 1_000);
  });
});
