import { describe, expect, test, vi } from "vitest";
import { densityJobs } from "../../../functions/population-density/delivery/tables.ts";
import { putItem } from "../../../shared/aws/database.ts";
import { boxIn } from "../../support/densities.ts";
import {
  deliveredBody,
  pendingOf,
  requestIn,
  run,
  storedJob,
  storeJob,
  synchronousBody,
} from "../../support/jobs.ts";
import { sampleOf } from "../../support/sample.ts";
import type { SinkAnswer } from "../../support/sink.ts";
import { someJob } from "../../support/some-job.ts";
import { expectEnd, failure, makeDue, schedule, uploadsTo, useWorker } from "../../support/worker.ts";

const { deliver, delivered, densities, harness, output, queued, sink } = useWorker();

describe("a job whose sink takes it", () => {
  test("the worker delivers the synchronous answer's bytes with the operation's id as first member", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url, { accessToken: "a!token~" });

    expect(await delivered(message)).toBe("ack");

    const [request, ...others] = sink().received();
    expect(others).toEqual([]);
    expect(request?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      operationId: job.operationId,
      status: "SUPPORTED_AREA",
      timedPopulationDensityData: [{ cellPopulationDensityData: [{ pplDensity: 1_234 }, {}] }],
    });
    expect(Object.keys(JSON.parse(request?.body ?? ""))[0]).toBe("operationId");
    const { headers } = request ?? {};
    expect(headers).toEqual({
      host: new URL(url).host,
      "transfer-encoding": "chunked",
      "content-type": "application/json",
      authorization: "Bearer a!token~",
      "x-correlator": job.correlator,
      "x-density-basis": "TYPICAL;hours=1",
      "webhook-id": job.operationId,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
    });
    const age = Date.now() / 1_000 - Number(headers?.["webhook-timestamp"]);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60);
    await expectEnd(job, "delivered");
    expect(await uploadsTo(url)).toBe(0);
  });

  test("the worker delivers the answer as of the time of the request", async () => {
    const requestedAt = Date.now() - 3 * 3_600_000;
    const start = new Date(Math.ceil(requestedAt / 3_600_000) * 3_600_000);
    const end = new Date(start.getTime() + 3_600_000);
    const request = { ...densities().request, startTime: start.toISOString(), endTime: end.toISOString() };
    const { job, message } = await queued(sink().urlOf(), { request, requestedAt });
    await delivered(message);
    expect(sink().received()[0]?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
  });

  test("the worker accepts 200 from a sink whose response body never ends", async () => {
    const { job, message } = await queued(sink().urlOf("endless"));
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
  });
});

describe("a sink that does not take it", () => {
  const failures: readonly (readonly [string, SinkAnswer])[] = [
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["408", { status: 408 }],
    ["a connection that is cut after the body", "reset"],
    ["a connection that is cut within it", "cut"],
  ];
  test.each(sampleOf(failures, 3))(
    "the worker delivers at the second attempt after %s",
    async (_, answer) => {
      const { job, message } = await queued(sink().urlOf(answer, { status: 204 }), { accessToken: "token" });

      expect(await delivered(message)).toBe(0);
      expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", attempts: 1 });
      expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));
      const [again] = (await harness().receive("density-jobs")).Records;
      expect(again?.messageId).toBe(message.Records[0]?.messageId);
      expect(await delivered({ Records: again === undefined ? [] : [again] })).toBe("ack");

      const requests = [...sink().received(), ...sink().cutOff()];
      expect(requests).toHaveLength(2);
      expect(new Set(requests.map(({ headers }) => headers["webhook-id"]))).toEqual(
        new Set([job.operationId]),
      );
      expect(sink().received().at(-1)?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
      await expectEnd(job, "delivered");
    },
  );

  test("the worker follows the retry schedule, then sends the failure until the sink takes it", async () => {
    schedule("100,1000");
    const { job, message } = await queued(
      sink().urlBy((index) => ({ status: index < 4 ? 408 : 204 })),
      { accessToken: "token" },
    );

    const first = await delivered(message);
    expect(first).toBeGreaterThanOrEqual(80);
    expect(first).toBeLessThanOrEqual(120);
    await makeDue(job);
    const second = await delivered(message);
    expect(second).toBeGreaterThanOrEqual(800);
    expect(second).toBeLessThanOrEqual(1_200);
    await makeDue(job);
    expect(await delivered(message)).toBe(0);
    expect(
      sink()
        .received()
        .every(({ body }) => body.includes("SUPPORTED_AREA")),
    ).toBe(true);
    expect(await delivered(message)).toBeGreaterThanOrEqual(48);
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");

    const notices = sink().received().slice(3);
    expect(notices.map(({ body }) => JSON.parse(body))).toEqual([
      failure(job.operationId),
      failure(job.operationId),
    ]);
    await expectEnd(job, "failed");
    expect(output().text()).toContain("NCS-034");
  });

  test("the worker does not retry before Retry-After and the schedule allow, whichever copy of the message it has", async () => {
    schedule("1000,1000");
    const busy = { status: 429, headers: { "retry-after": "700" } };
    const { job, message } = await queued(sink().urlOf(busy));
    await harness().send("density-jobs", job);
    const copy = await harness().receive("density-jobs");

    const asked = await delivered(message);
    expect(asked).toBeGreaterThanOrEqual(800);
    expect(asked).toBeLessThanOrEqual(1_200);
    for (const early of [await delivered(copy), await delivered(message)]) {
      expect(early).toBeGreaterThan(790);
      expect(early).toBeLessThanOrEqual(1_202);
    }

    expect(sink().received()).toHaveLength(1);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, state: "pending" });
  });

  test.each(sampleOf([410, 400, 401, 404, 301, 302, 307], 3))(
    "the worker ends a job as refused when its sink answers %i",
    async (status) => {
      const elsewhere = sink().urlOf();
      const { job, message } = await queued(sink().urlOf({ status, headers: { location: elsewhere } }), {
        accessToken: "token",
      });

      expect(await delivered(message)).toBe("ack");
      expect(await delivered(message)).toBe("ack");

      expect(sink().received()).toHaveLength(1);
      expect(sink().received(elsewhere)).toEqual([]);
      await expectEnd(job, "refused");
    },
  );

  test("the worker ends a job as refused when its sink is at a forbidden address", async () => {
    const url = sink().urlOf();
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "");
    const { job, message } = await queued(url, { accessToken: "token" });
    expect(await delivered(message)).toBe("ack");
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "127.0.0.1/32:1024-65535");
    await expectEnd(job, "refused");
    expect(sink().received()).toEqual([]);
  });
});

test("the worker deletes the message of a job that no longer exists and logs it", async () => {
  const job = someJob(sink().urlOf(), densities().request);
  await harness().send("density-jobs", job);
  expect(await delivered(await harness().receive("density-jobs"))).toBe("ack");
  expect(output().text()).toContain("NCS-035");
  expect(output().text()).toContain(job.operationId);
  expect(sink().received()).toEqual([]);
});

describe("messages that come together", () => {
  test("the worker delivers the readable messages of a batch that has unreadable ones", async () => {
    const good = [sink().urlOf(), sink().urlOf({ status: 500 })];
    const [one, other] = await Promise.all(
      good.map(async (url) => await storeJob(someJob(url, densities().request))),
    );
    const broken = someJob(sink().urlOf(), densities().request);
    await putItem(
      densityJobs,
      { operationId: broken.operationId, state: "odd" },
      {},
      AbortSignal.timeout(9_000),
    );
    const unknown = someJob(sink().urlOf(), densities().request);
    await harness().send(
      "density-jobs",
      "poison",
      '{"version":2,"operationId":"x"}',
      ...[one, unknown, broken, other].flatMap((job) => (job === undefined ? [] : [job])),
    );
    const batch = await harness().receive("density-jobs");
    expect(batch.Records).toHaveLength(6);

    const kept = new Set(await run(deliver, batch));

    expect(batch.Records.map(({ messageId }) => kept.has(messageId))).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
    ]);
    expect(batch.Records.map((_, index) => harness().hidden(batch, index))).toEqual([
      [0],
      [0],
      [],
      [],
      [],
      [0],
    ]);
    expect(sink().received(good[0])).toHaveLength(1);
    if (one !== undefined) await expectEnd(one, "delivered");
  });
});

test("the worker does not mark a large answer as possibly delivered when the sink cuts its upload", async () => {
  const request = requestIn(boxIn(densities().tile, [0, 0], [31, 31]), 168);
  const { job, message } = await queued(sink().urlOf("cut"), { request });

  expect(await delivered(message)).toBe(0);

  expect(sink().cutOff()).toHaveLength(1);
  expect(await storedJob(job.operationId)).toMatchObject({ possiblyDelivered: false, attempts: 1 });
});
