import { describe, expect, test } from "vitest";
import { storedJob } from "../../support/jobs.ts";
import { brokenRequest, expectEnd, failure, makeDue, schedule, useWorker } from "../../support/worker.ts";

const { delivered, harness, output, queued, sink } = useWorker();

describe("an answer that cannot be computed", () => {
  test("the worker sends one failure when the answer cannot be computed, and the job fails", async () => {
    const { job, message } = await queued(sink().urlOf(), {
      request: await brokenRequest(),
      accessToken: "token",
    });

    expect(await delivered(message)).toBe(0);
    expect(sink().received()).toEqual([]);
    const again = await harness().receive("density-jobs");
    expect(await delivered(again)).toBe("ack");
    expect(await delivered(again)).toBe("ack");

    const [notice, ...others] = sink().received();
    expect(others).toEqual([]);
    expect(JSON.parse(notice?.body ?? "")).toEqual(failure(job.operationId));
    expect(Object.keys(JSON.parse(notice?.body ?? ""))).toEqual([
      "operationId",
      "status",
      "timedPopulationDensityData",
      "statusInfo",
    ]);
    expect(notice?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer token",
      "x-correlator": job.correlator,
      "webhook-id": job.operationId,
    });
    expect(notice?.headers).not.toHaveProperty("x-density-basis");
    await expectEnd(job, "failed");
    expect(output().text()).toContain("NCS-034");
  });
});

describe("a job that has waited so long that it is about to expire", () => {
  const late = () => ({ requestedAt: Date.now() - 23.2 * 3_600_000, attempts: 2 });

  test("the worker sends the failure in a job's last hour", async () => {
    const { job, message } = await queued(sink().urlOf(), late());
    expect(await delivered(message)).toBe("ack");
    expect(
      sink()
        .received()
        .map(({ body }) => JSON.parse(body)),
    ).toEqual([failure(job.operationId)]);
    await expectEnd(job, "failed");
  });
});

describe("a store that does not answer", () => {
  const refuseDensities = () =>
    harness().tables.inject(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));

  test("the worker retries on the schedule, without calling the sink, when densities cannot be read", async () => {
    schedule("100,0");
    const { job, message } = await queued(sink().urlOf());
    refuseDensities();
    const seconds = await delivered(message);
    expect(seconds).toBeGreaterThanOrEqual(80);
    expect(seconds).toBeLessThanOrEqual(120);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, mode: "answer" });
    expect(sink().received()).toEqual([]);

    harness().tables.inject();
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect(output().text()).toContain("DynamoDB: ");
  });

  test("the worker hides the message for 15 s when no table answers", async () => {
    const { job, message } = await queued(sink().urlOf());
    harness().tables.inject(() => "refuse");
    expect(await delivered(message)).toBe(15);
    harness().tables.inject();
    expect(sink().received()).toEqual([]);
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
  });
});
