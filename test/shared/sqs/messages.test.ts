import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type * as Queue from "../../../shared/sqs/messages.ts";
import { type Harness, openHarness } from "../../support/jobs.ts";

const queue = "density-jobs";
const message = { version: 1, operationId: "a" };

let harness: Harness;
let queues: typeof Queue;

beforeAll(async () => {
  harness = await openHarness();
  queues = await import("../../../shared/sqs/messages.ts");
});
afterAll(() => harness.close());
afterEach(async () => {
  harness.queues.inject();
  await harness.purge(queue);
});

const signal = () => AbortSignal.timeout(10_000);
const send = (within = signal()) => queues.sendMessage(queue, message, within);
const received = async () => (await harness.receive(queue)).Records;

/** The error that a call rejects with; undefined if it does not. */
async function errorOf(calling: Promise<void>): Promise<unknown> {
  return await calling.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("a message", () => {
  test("is received as it was sent", async () => {
    await send();
    expect((await received()).map(({ body }) => JSON.parse(body))).toEqual([message]);
  });

  test("goes to the queue that is named", async () => {
    await queues.sendMessage("density-jobs-parked", message, signal());
    expect(await received()).toEqual([]);
    expect((await harness.receive("density-jobs-parked")).Records).toHaveLength(1);
  });

  test("of a queue whose address is not in the environment is an error that names the variable", async () => {
    vi.stubEnv("QUEUE_DENSITY_JOBS", "");
    const error = await errorOf(send());
    vi.stubEnv("QUEUE_DENSITY_JOBS", harness.addressOf(queue));
    expect(String(error)).toContain("QUEUE_DENSITY_JOBS");
  });
});

describe("a message that was received", () => {
  const hide = async (seconds: number) => {
    const [record] = await received();
    await queues.changeVisibility(queue, record?.receiptHandle ?? "", seconds, signal());
    return harness.queues.calls.at(-1)?.parameters.VisibilityTimeout;
  };

  test("comes again at once when it is hidden for no time", async () => {
    await send();
    await hide(0);
    expect(await received()).toHaveLength(1);
  });

  test("comes again after the time for which it is hidden, not before", async () => {
    await send();
    await hide(1);
    expect(await received()).toEqual([]);
    await expect.poll(received).toHaveLength(1);
  });

  test("is hidden for whole seconds, never for fewer than are said", async () => {
    await send();
    expect(await hide(400.2)).toBe(401);
  });

  test("is hidden for as long as SQS allows, minutes after it was received, when more is said", async () => {
    await send();
    const seconds = await hide(1_000_000);
    expect(seconds).toBeLessThan(43_200 - 300);
    expect(seconds).toBeGreaterThan(41_000);
  });

  test("and is gone cannot be hidden, which is not that the queue is unavailable", async () => {
    const error = await errorOf(queues.changeVisibility(queue, crypto.randomUUID(), 1, signal()));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toMatchObject({ name: "Unavailable" });
  });
});

describe("a queue", () => {
  test.each(["refuse", "lose"] as const)("is unavailable when it does: %s", async (behaviour) => {
    harness.queues.inject(() => behaviour);
    expect(await errorOf(send())).toMatchObject({
      name: "Unavailable",
      message: expect.stringMatching(/^SQS: \w+$/),
    });
  });

  test("is asked again when an answer is lost", async () => {
    let calls = 0;
    harness.queues.inject(() => (++calls === 1 ? "lose" : "pass"));
    await send();
    expect(calls).toBe(2);
    expect((await received()).length).toBeGreaterThanOrEqual(1);
  });

  test("that never answers is unavailable before a function's time is over, with deadlines thrice as long", async () => {
    harness.queues.inject(() => new Promise(() => {}));
    const started = performance.now();
    expect(await errorOf(send())).toMatchObject({ name: "Unavailable" });
    expect(performance.now() - started).toBeLessThan(14_000);
  });

  test("that does not answer is given up when the time for it is over", async () => {
    harness.queues.inject(() => new Promise(() => {}));
    const started = performance.now();
    expect(await errorOf(send(AbortSignal.timeout(200)))).toMatchObject({ name: "Unavailable" });
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test("that does not exist is not unavailable: it is a fault of ours", async () => {
    vi.stubEnv("QUEUE_DENSITY_JOBS", `${harness.addressOf(queue)}-not-there`);
    const error = await errorOf(send());
    vi.stubEnv("QUEUE_DENSITY_JOBS", harness.addressOf(queue));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toMatchObject({ name: "Unavailable" });
  });
});
