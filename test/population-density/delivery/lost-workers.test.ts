import { describe, expect, test } from "vitest";
import { storedJob } from "../../support/jobs.ts";
import { expectEnd, held, makeDue, schedule, uploadsTo, useWorker } from "../../support/worker.ts";

const { delivered, harness, output, queued, sink } = useWorker();

describe("a worker that is gone", () => {
  test.each(["hang", "drip"] as const)(
    "the worker records its attempt and frees its permit when the invocation's time ends first: the sink's answer is %s",
    async (answer) => {
      schedule("100");
      const url = sink().urlOf(answer, { status: 204 });
      const { job, message } = await queued(url);

      const seconds = await delivered(message, 16_500);

      expect(seconds).toBeGreaterThanOrEqual(80);
      expect(seconds).toBeLessThanOrEqual(120);
      expect(await uploadsTo(url)).toBe(0);
      await makeDue(job);
      expect(await delivered(message)).toBe("ack");
      await expectEnd(job, "delivered");
    },
  );
});

describe("an answer of AWS that is lost", () => {
  /** Lets one call through without its answer. */
  function loseOnce(part: string): () => boolean {
    let isLost = false;
    harness().tables.inject(({ parameters }) => {
      if (isLost || !JSON.stringify(parameters).includes(part)) return "pass";
      isLost = true;
      return "lose";
    });
    return () => isLost;
  }

  test.each([
    ["that an attempt begins", "SET lease = "],
    ["that a permit is taken", "ADD held "],
    ["that the sink may hold the answer", "SET possiblyDelivered"],
    ["that a job is over and its place free", "SET #state = "],
  ])("the worker delivers once when this write loses its response: %s", async (_, part) => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    const isLost = loseOnce(part);

    expect(await delivered(message)).toBe("ack");

    expect(isLost()).toBe(true);
    harness().tables.inject();
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect((await storedJob(job.operationId))?.attempts).toBe(1);
    expect(await uploadsTo(url)).toBe(0);
    expect(output().text()).toContain("NCS-033");
  });
});

test("the worker marks an answer as possibly delivered before the sink has all of it", async () => {
  const { answer, after } = held();
  const url = sink().urlOf({ status: 204, after });
  const { job, message } = await queued(url);
  const before = harness().tables.calls.length;
  const running = delivered(message);
  await expect.poll(() => sink().received(url)).toHaveLength(1);
  const marks = harness()
    .tables.calls.slice(before)
    .filter(({ parameters }) => String(parameters.UpdateExpression).startsWith("SET possiblyDelivered"));
  expect(marks).toHaveLength(1);
  expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", possiblyDelivered: true });
  answer();
  expect(await running).toBe("ack");
});

test("the worker does not finish an upload that it cannot mark as possibly delivered", async () => {
  schedule("100");
  const { job, message } = await queued(sink().urlOf());
  harness().tables.inject(({ parameters }) =>
    String(parameters.UpdateExpression).startsWith("SET possiblyDelivered") ? "refuse" : "pass",
  );
  expect(await delivered(message)).toBeGreaterThanOrEqual(80);
  expect(sink().received()).toEqual([]);
  expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, possiblyDelivered: false });
});
