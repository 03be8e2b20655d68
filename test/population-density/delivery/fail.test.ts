import { beforeAll, describe, expect, test } from "vitest";
import { pendingOf, run, storedJob } from "../../support/jobs.ts";
import { useDeliveries } from "../../support/use-harness.ts";

const queue = "density-jobs-dlq";

const { harness, output, sink, queued } = useDeliveries(queue);
let fail: typeof import("../../../functions/population-density/delivery/fail.ts").handler;

beforeAll(async () => {
  ({ handler: fail } = await import("../../../functions/population-density/delivery/fail.ts"));
});

/** A job whose message is a dead letter. */
function dead(url: string, changes: Parameters<typeof queued>[1] = {}) {
  return queued(url, { attempts: 2, ...changes });
}

describe("a job whose message is a dead letter", () => {
  test("is reported to its sink as failed, and is over", async () => {
    const { job, message } = await dead(sink().urlOf(), { accessToken: "token" });
    expect(await run(fail, message)).toEqual([]);
    expect(
      sink()
        .received()
        .map(({ body }) => JSON.parse(body)),
    ).toEqual([
      {
        operationId: job.operationId,
        status: "OPERATION_NOT_COMPLETED",
        timedPopulationDensityData: [],
        statusInfo: expect.stringMatching(/^[A-Z][A-Za-z .]+$/),
      },
    ]);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "failed" });
    expect(await pendingOf(job.caller)).toEqual(new Set());
    expect(output().text()).toContain("NCS-034");
  });

  test("is not reported when its sink may hold the answer", async () => {
    const { job, message } = await dead(sink().urlOf(), { possiblyDelivered: true });
    expect(await run(fail, message)).toEqual([]);
    expect(sink().received()).toEqual([]);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "failed", reason: "possibly delivered" });
  });

  test.each(["delivered", "refused", "failed", "withdrawn"] as const)(
    "but is %s is left alone",
    async (state) => {
      const { job, message } = await dead(sink().urlOf(), { state });
      const before = await storedJob(job.operationId);
      expect(await run(fail, message)).toEqual([]);
      expect(sink().received()).toEqual([]);
      expect(await storedJob(job.operationId)).toEqual(before);
    },
  );

  test("is left to the worker that is still at it", async () => {
    const { job, message } = await dead(sink().urlOf(), { lease: "other", notBefore: Date.now() + 200_000 });
    expect(await run(fail, message)).toHaveLength(1);
    expect(harness().hidden(message)[0]).toBeGreaterThan(190);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", lease: "other" });
  });

  test("is tried again when its sink does not take it, and ends all the same", async () => {
    const { job, message } = await dead(sink().urlOf({ status: 500 }), { attempts: 1 });
    let rounds = 0;
    while ((await run(fail, message)).length > 0) expect(++rounds).toBeLessThan(9);
    expect(sink().received().length).toBeGreaterThanOrEqual(3);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "failed" });
  });

  test("is kept for manual action when it cannot be read", async () => {
    await harness().send(queue, "poison");
    expect(await run(fail, await harness().receive(queue))).toHaveLength(1);
  });
});
