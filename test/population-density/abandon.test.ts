import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { handler } from "../../functions/population-density/abandon.ts";
import type { Job } from "../../functions/population-density/job.ts";
import {
  newJob,
  openWorkplace,
  pendingOf,
  run,
  storeDensities,
  storedJob,
  storeJob,
  type Workplace,
} from "../support/jobs.ts";
import { captureOutput } from "../support/pipeline.ts";
import { openSink, type SinkAnswer, type TestSink } from "../support/sink.ts";

const queue = "density-jobs-dead";

let workplace: Workplace;
let abandon: typeof handler;
let densities: Awaited<ReturnType<typeof storeDensities>>;
let sink: TestSink;
let output: ReturnType<typeof captureOutput>;

beforeAll(async () => {
  workplace = await openWorkplace({ SINK_RETRY_SECONDS: "100,100" });
  densities = await storeDensities();
  ({ handler: abandon } = await import("../../functions/population-density/abandon.ts"));
});
afterAll(() => workplace.close());
beforeEach(async () => {
  sink = await openSink();
  output = captureOutput();
});
afterEach(async () => {
  output.stop();
  workplace.tables.rule();
  await sink.close();
  await workplace.drain(queue);
});

/** A job whose message is dead, and the message, received. */
async function dead(url: string, changes: Partial<Job> = {}) {
  const job = await storeJob(
    newJob(url, densities.request, { accessToken: "token", attempts: 9, ...changes }),
  );
  await workplace.send(queue, job);
  return { job, message: await workplace.receive(queue) };
}

async function expectAbandoned(job: Job) {
  const stored = (await storedJob(job.operationId)) ?? {};
  expect(stored.state).toBe("abandoned");
  for (const member of ["sink", "accessToken"]) expect(stored).not.toHaveProperty(member);
  expect(await pendingOf(job.caller)).toEqual(new Set());
}

const failure = (operationId: string) => ({
  operationId,
  status: "OPERATION_NOT_COMPLETED",
  timedPopulationDensityData: [],
  statusInfo: expect.stringMatching(/^[A-Z][A-Za-z .]+$/),
});

describe("a job whose message is dead", () => {
  test("is given up, and its sink is told so once", async () => {
    const { job, message } = await dead(sink.urlOf());

    expect(await run(abandon, message)).toEqual([]);
    expect(await run(abandon, message)).toEqual([]);

    const [told, ...others] = sink.received();
    expect(others).toEqual([]);
    expect(JSON.parse(told?.body ?? "")).toEqual(failure(job.operationId));
    expect(told?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer token",
      "x-correlator": job.correlator,
      "webhook-id": job.operationId,
    });
    await expectAbandoned(job);
    expect(output.text()).toContain("NCS-034");
    expect(output.text()).not.toContain("NCS-033");
  });

  test.each<[string, SinkAnswer]>([
    ["500", { status: 500 }],
    ["429", { status: 429, headers: { "retry-after": "9" } }],
    ["410", { status: 410 }],
    ["a connection that is cut", "reset"],
  ])("is over also when its sink does not hear it: %s", async (_, answer) => {
    const { job, message } = await dead(sink.urlOf(answer));
    expect(await run(abandon, message)).toEqual([]);
    expect(workplace.hidden(message)).toEqual([]);
    expect(sink.received()).toHaveLength(1);
    await expectAbandoned(job);
  });

  test("is told while the store has no densities to give", async () => {
    const { job, message } = await dead(sink.urlOf());
    workplace.tables.rule(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));
    expect(await run(abandon, message)).toEqual([]);
    expect(JSON.parse(sink.received()[0]?.body ?? "")).toEqual(failure(job.operationId));
  });

  test("is told once, however many workers have its messages at the same time", async () => {
    const { job, message } = await dead(sink.urlOf());
    await workplace.send(queue, ...Array.from({ length: 9 }, () => job));
    const copies = await workplace.receive(queue);
    await Promise.all([run(abandon, message), run(abandon, message), run(abandon, copies)]);
    expect(sink.received()).toHaveLength(1);
    await expectAbandoned(job);
  });

  test("is told nothing when its sink may hold the answer", async () => {
    const { job, message } = await dead(sink.urlOf(), { mayBeDelivered: true });
    expect(await run(abandon, message)).toEqual([]);
    expect(sink.received()).toEqual([]);
    await expectAbandoned(job);
    expect(output.text()).toContain("not told");
  });

  test("is told when all that its sink may hold is that it failed", async () => {
    const { job, message } = await dead(sink.urlOf(), {
      mayBeDelivered: true,
      failing: true,
      lease: "gone",
      leasedUntil: Date.now() - 1,
    });
    expect(await run(abandon, message)).toEqual([]);
    expect(JSON.parse(sink.received()[0]?.body ?? "")).toEqual(failure(job.operationId));
    await expectAbandoned(job);
  });

  test.each(["delivered", "refused", "abandoned"] as const)("but is %s is left alone", async (state) => {
    const { job, message } = await dead(sink.urlOf(), { state });
    const before = await storedJob(job.operationId);
    expect(await run(abandon, message)).toEqual([]);
    expect(sink.received()).toEqual([]);
    expect(await storedJob(job.operationId)).toEqual(before);
  });

  test("but does not exist any more is done with", async () => {
    await workplace.send(queue, newJob(sink.urlOf(), densities.request));
    expect(await run(abandon, await workplace.receive(queue))).toEqual([]);
  });

  test("is left to the worker that is still at it", async () => {
    const { job, message } = await dead(sink.urlOf(), { lease: "other", leasedUntil: Date.now() + 200_000 });
    expect(await run(abandon, message)).toEqual([message.Records[0]?.messageId]);
    const [seconds] = workplace.hidden(message);
    expect(seconds).toBeGreaterThan(190);
    expect(seconds).toBeLessThanOrEqual(200);
    expect(sink.received()).toEqual([]);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", lease: "other" });
  });

  test("waits in its own queue when its sink has no slot free", async () => {
    const url = sink.urlOf();
    const { ofHost, takeSlot } = await import("../../functions/population-density/jobs.ts");
    const now = new Date();
    for (const holder of ["one", "two"]) {
      const until = new Date(now.getTime() + 60_000);
      await takeSlot(ofHost(new URL(url).host), holder, until, now, AbortSignal.timeout(9_000));
    }
    const { job, message } = await dead(url);
    expect(await run(abandon, message)).toEqual([]);
    expect(workplace.queues.calls.at(-1)).toMatchObject({
      operation: "SendMessage",
      parameters: {
        QueueUrl: workplace.addressOf(queue),
        MessageBody: JSON.stringify({ version: 1, operationId: job.operationId }),
      },
    });
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", attempts: 9 });
    expect(sink.received()).toEqual([]);
  });

  test("is kept for a person when it cannot be read", async () => {
    await workplace.send(queue, "poison");
    const message = await workplace.receive(queue);
    expect(await run(abandon, message)).toEqual([message.Records[0]?.messageId]);
  });

  test("leaves nothing of its sink, its credential or its area in a log line", async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const url = sink.urlOf();
    const { job, message } = await dead(`${url}&canary=${canary}`, { accessToken: canary });
    await run(abandon, message);
    expect(output.text()).toContain(job.operationId);
    for (const secret of [canary, new URL(url).pathname, new URL(url).host, densities.tile, "latitude"]) {
      expect(output.text()).not.toContain(secret);
    }
  });
});
