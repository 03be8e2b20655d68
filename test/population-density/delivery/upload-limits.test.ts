import { describe, expect, test, vi } from "vitest";
import { run, storedJob, storeJob } from "../../support/jobs.ts";
import { someJob } from "../../support/some-job.ts";
import { expectEnd, held, uploadsTo, useWorker } from "../../support/worker.ts";

const { deliver, delivered, densities, harness, queued, sink } = useWorker();

describe("a limit of permits", () => {
  test("the worker delivers a job once when eleven workers have its messages at once", async () => {
    const { answer, after } = held();
    const { job, message } = await queued(sink().urlOf({ status: 204, after }));
    await harness().send("density-jobs", ...Array.from({ length: 9 }, () => job));
    const copies = await harness().receive("density-jobs");
    expect(copies.Records).toHaveLength(9);

    const first = run(deliver, message);
    const same = run(deliver, message);
    const others = run(deliver, copies);
    await expect.poll(() => sink().received()).toHaveLength(1);
    answer();
    await Promise.all([first, same, others]);

    expect(sink().received()).toHaveLength(1);
    expect(sink().cutOff()).toHaveLength(0);
    await expectEnd(job, "delivered");
    expect(await run(deliver, copies)).toEqual([]);
    expect(sink().received()).toHaveLength(1);
  });

  test("the worker delivers once the permits of lost workers have expired", async () => {
    const url = sink().urlOf();
    const { acquirePermit } = await import("../../../functions/population-density/delivery/permits.ts");
    const { workerPorts } = await import("../../../functions/population-density/delivery/worker-ports.ts");
    const ports = workerPorts();
    const until = Date.now() + 60_000;
    const lost = { host: ports.sinks.hostOf(url), mode: "answer", since: Date.now(), until } as const;
    for (const holder of Array.from({ length: 4 }, () => crypto.randomUUID())) {
      const permit = { ...lost, holder, caller: holder };
      expect(await acquirePermit(permit, ports, AbortSignal.timeout(60_000))).toBe(undefined);
    }
    const { job, message } = await queued(url);
    expect(await delivered(message)).toBeLessThanOrEqual(20);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 0 });
    vi.useFakeTimers({ now: until + 1, toFake: ["Date"] });
    try {
      expect(await run(deliver, message)).toEqual([]);
      await expectEnd(job, "delivered");
    } finally {
      vi.useRealTimers();
    }
  });

  test("the worker uploads four answers to a host at a time and lets a fifth wait without counting an attempt", async () => {
    const { answer, after } = held();
    const urls = Array.from({ length: 5 }, () => sink().urlOf({ status: 204, after }));
    const jobs = [];
    for (const url of urls) jobs.push(await storeJob(someJob(url, densities().request)));
    await harness().send("density-jobs", ...jobs);
    const batch = await harness().receive("density-jobs");

    const running = run(deliver, batch);
    await expect.poll(() => sink().received()).toHaveLength(4);
    const hidden = () => batch.Records.flatMap((_, index) => harness().hidden(batch, index));
    await expect.poll(() => hidden().length).toBe(1);
    expect(hidden()[0]).toBeGreaterThanOrEqual(5);
    expect(hidden()[0]).toBeLessThanOrEqual(20);
    const left = jobs.filter(({ sink: url }) => sink().received(url).length === 0);
    expect(left).toHaveLength(1);
    expect(await storedJob(left[0]?.operationId ?? "")).toMatchObject({ attempts: 0, state: "pending" });
    answer();
    expect(await running).toHaveLength(1);

    // The first worker whose job ended went on with it.
    expect(sink().received()).toHaveLength(5);
    expect(sink().maxAtOnce()).toBe(4);
    for (const job of jobs) await expectEnd(job, "delivered");
    expect(await run(deliver, batch)).toEqual([]);
    expect(sink().received()).toHaveLength(5);
    expect(harness().queues.calls.filter(({ operation }) => operation === "SendMessage")).toEqual([]);
    expect(await uploadsTo(urls[0] ?? "")).toBe(0);
  });

  test("the worker finishes its own job when it cannot read the jobs that wait for its permit", async () => {
    const { answer, after } = held();
    const urls = Array.from({ length: 5 }, () => sink().urlOf({ status: 204, after }));
    const jobs = [];
    for (const url of urls) jobs.push(await storeJob(someJob(url, densities().request)));
    await harness().send("density-jobs", ...jobs);
    const batch = await harness().receive("density-jobs");
    const running = run(deliver, batch);
    await expect.poll(() => sink().received()).toHaveLength(4);
    await expect
      .poll(() => batch.Records.flatMap((_, index) => harness().hidden(batch, index)).length)
      .toBe(1);
    harness().tables.inject(({ operation }) => (operation === "Query" ? "refuse" : "pass"));
    answer();
    expect(await running).toHaveLength(1);
    expect(sink().received()).toHaveLength(4);
    harness().tables.inject();
    expect(await run(deliver, batch)).toEqual([]);
    expect(sink().received()).toHaveLength(5);
  });
});
