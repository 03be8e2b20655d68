import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Harness,
  openHarness,
  pendingOf,
  run,
  someJob,
  storeDensities,
  storedJob,
  storeJob,
} from "../../support/jobs.ts";
import { captureOutput } from "../../support/pipeline.ts";
import { openSink, type TestSink } from "../../support/sink.ts";

const queue = "density-jobs-dlq";

let harness: Harness;
let fail: typeof import("../../../functions/population-density/delivery/fail.ts").handler;
let densities: Awaited<ReturnType<typeof storeDensities>>;
let sink: TestSink;
let output: ReturnType<typeof captureOutput>;

beforeAll(async () => {
  harness = await openHarness();
  densities = await storeDensities();
  ({ handler: fail } = await import("../../../functions/population-density/delivery/fail.ts"));
});
afterAll(() => harness.close());
beforeEach(async () => {
  vi.stubEnv("SINK_RETRY_SECONDS", "0,0,0");
  sink = await openSink();
  output = captureOutput();
});
afterEach(async () => {
  output.stop();
  await sink.close();
  await harness.drain(queue);
});

/** A job whose message is a dead letter. */
async function dead(url: string, changes: Parameters<typeof someJob>[2] = {}) {
  const job = await storeJob(someJob(url, densities.request, { attempts: 2, ...changes }));
  await harness.send(queue, job);
  return { job, message: await harness.receive(queue) };
}

describe("a job whose message is a dead letter", () => {
  test("is reported to its sink as failed, and is over", async () => {
    const { job, message } = await dead(sink.urlOf(), { accessToken: "token" });
    expect(await run(fail, message)).toEqual([]);
    expect(sink.received().map(({ body }) => JSON.parse(body))).toEqual([
      {
        operationId: job.operationId,
        status: "OPERATION_NOT_COMPLETED",
        timedPopulationDensityData: [],
        statusInfo: expect.stringMatching(/^[A-Z][A-Za-z .]+$/),
      },
    ]);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "failed" });
    expect(await pendingOf(job.caller)).toEqual(new Set());
    expect(output.text()).toContain("NCS-034");
  });

  test("is not reported when its sink may hold the answer", async () => {
    const { job, message } = await dead(sink.urlOf(), { possiblyDelivered: true });
    expect(await run(fail, message)).toEqual([]);
    expect(sink.received()).toEqual([]);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "failed", reason: "possibly delivered" });
  });

  test.each(["delivered", "refused", "failed", "withdrawn"] as const)(
    "but is %s is left alone",
    async (state) => {
      const { job, message } = await dead(sink.urlOf(), { state });
      const before = await storedJob(job.operationId);
      expect(await run(fail, message)).toEqual([]);
      expect(sink.received()).toEqual([]);
      expect(await storedJob(job.operationId)).toEqual(before);
    },
  );

  test("is left to the worker that is still at it", async () => {
    const { job, message } = await dead(sink.urlOf(), { lease: "other", notBefore: Date.now() + 200_000 });
    expect(await run(fail, message)).toHaveLength(1);
    expect(harness.hidden(message)[0]).toBeGreaterThan(190);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", lease: "other" });
  });

  test("is tried again when its sink does not take it, and ends all the same", async () => {
    const { job, message } = await dead(sink.urlOf({ status: 500 }), { attempts: 1 });
    let rounds = 0;
    while ((await run(fail, message)).length > 0) expect(++rounds).toBeLessThan(9);
    expect(sink.received().length).toBeGreaterThanOrEqual(3);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "failed" });
  });

  test("is kept for manual action when it cannot be read", async () => {
    await harness.send(queue, "poison");
    expect(await run(fail, await harness.receive(queue))).toHaveLength(1);
  });
});
