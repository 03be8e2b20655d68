import { describe, expect, test } from "vitest";
import { densityJobs } from "../../../functions/population-density/delivery/tables.ts";
import { putItem } from "../../../shared/aws/database.ts";
import { pendingOf, storedJob } from "../../support/jobs.ts";
import { expectEnd, held, makeDue, schedule, uploadsTo, useWorker } from "../../support/worker.ts";

const { delivered, harness, output, queued, sink } = useWorker();

describe("a worker that is gone", () => {
  const leaseId = crypto.randomUUID();

  test("the worker leaves a job alone while another worker's lease lasts", async () => {
    const { job, message } = await queued(sink().urlOf(), {
      lease: leaseId,
      notBefore: Date.now() + 200_000,
      attempts: 1,
      possiblyDelivered: true,
    });
    const before = await storedJob(job.operationId);

    const seconds = await delivered(message);

    expect(seconds).toBeGreaterThan(190);
    expect(seconds).toBeLessThanOrEqual(202);
    expect(sink().received()).toEqual([]);
    expect(await storedJob(job.operationId)).toEqual(before);
  });

  test("the worker delivers again after the lease when the result of an attempt could not be recorded", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    const isEnd = (write: unknown) => `${write}`.includes("#state = :outcome");
    harness().tables.inject(({ parameters }) => (isEnd(parameters.UpdateExpression) ? "refuse" : "pass"));

    expect(await delivered(message)).toBe(15);
    harness().tables.inject();
    expect(await delivered(message)).toBe(20);
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");

    expect(sink().received(url)).toHaveLength(2);
    expect(
      new Set(
        sink()
          .received(url)
          .map(({ body }) => body),
      ).size,
    ).toBe(1);
    await expectEnd(job, "delivered");
  });

  test("the worker records nothing of a job whose lease another worker has taken meanwhile", async () => {
    for (const status of [204, 500]) {
      const { answer, after } = held();
      const url = sink().urlOf({ status, after });
      const { job, message } = await queued(url);
      const working = delivered(message);
      await expect.poll(() => sink().received(url)).toHaveLength(1);
      const stored = { ...(await storedJob(job.operationId)), lease: "another", attempts: 2 };
      await putItem(densityJobs, stored, {}, AbortSignal.timeout(60_000));
      answer();

      expect(await working).toBe(20);

      expect(await storedJob(job.operationId)).toEqual(stored);
      expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));
      expect(output().text()).not.toContain("NCS-033");
    }
  });

  test("the worker records its attempt when it cannot release its permit", async () => {
    const url = sink().urlOf({ status: 500 }, { status: 204 });
    harness().tables.inject(({ parameters }) =>
      String(parameters.UpdateExpression).startsWith("DELETE held") ? "refuse" : "pass",
    );
    const { job, message } = await queued(url);
    expect(await delivered(message, 16_500)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, notBefore: expect.any(Number) });
    harness().tables.inject();
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
    expect(output().text()).toContain("NCS-003");
  });

  test("the worker releases its permit as soon as the table answers again that has refused it", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    let refusals = 0;
    harness().tables.inject(({ parameters }) => {
      const isRelease = String(parameters.UpdateExpression).startsWith("DELETE held");
      return isRelease && ++refusals <= 8 ? "refuse" : "pass";
    });

    expect(await delivered(message)).toBe("ack");

    expect(refusals).toBeGreaterThan(8);
    expect(await uploadsTo(url)).toBe(0);
    await expectEnd(job, "delivered");
  });

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

  test("a worker that did not learn of its permit leaves none in use", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    let isTaken = false;
    harness().tables.inject(({ parameters }) => {
      if (!String(parameters.UpdateExpression).startsWith("ADD held ")) return "pass";
      const isFirst = !isTaken;
      isTaken = true;
      return isFirst ? "lose" : "refuse";
    });

    const verdict = await delivered(message);

    harness().tables.inject();
    expect(isTaken).toBe(true);
    expect(verdict).toBeGreaterThan(0);
    expect(await uploadsTo(url)).toBe(0);
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
  });

  test("the worker schedules one retry when that write loses its response", async () => {
    schedule("100");
    const { job, message } = await queued(sink().urlOf({ status: 500 }));
    const isLost = loseOnce("SET #mode = ");
    expect(await delivered(message)).toBeLessThanOrEqual(120);
    expect(isLost()).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, possiblyDelivered: true });
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
