import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type * as Queue from "../../../shared/sqs/messages.ts";
import { useHarness } from "../../support/use-harness.ts";

const queue = "density-jobs";
const message = { version: 1, operationId: "a" };

const { harness } = useHarness();
let queues: typeof Queue;
beforeAll(async () => {
  queues = await import("../../../shared/sqs/messages.ts");
});
afterEach(() => harness().purge(queue));

const signal = () => AbortSignal.timeout(10_000);
const send = (within = signal()) => queues.sendMessage(queue, message, within);
const received = async () => (await harness().receive(queue)).Records;

/** The error that a call rejects with; undefined if it does not. */
async function errorOf(calling: Promise<void>): Promise<unknown> {
  return await calling.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a message that is sent is received unchanged", async () => {
  await send();
  expect((await received()).map(({ body }) => JSON.parse(body))).toEqual([message]);
});

test("sending fails with the name of the variable when the queue has no address", async () => {
  vi.stubEnv("QUEUE_DENSITY_JOBS", "");
  const error = await errorOf(send());
  vi.stubEnv("QUEUE_DENSITY_JOBS", harness().addressOf(queue));
  expect(String(error)).toContain("QUEUE_DENSITY_JOBS");
});

/** Sends and receives a message; what is returned hides it, and returns for how many seconds SQS was told to. */
const hiding = async () => {
  await send();
  const [record] = await received();
  return async (seconds: number) => {
    await queues.changeVisibility(queue, record?.receiptHandle ?? "", seconds, signal());
    return harness().queues.calls.at(-1)?.parameters.VisibilityTimeout;
  };
};

test("changeVisibility hides a received message for 600 seconds, and with 0 seconds SQS returns it at once", async () => {
  const hide = await hiding();
  expect(await hide(600)).toBe(600);
  expect(await received()).toEqual([]);
  expect(await hide(0)).toBe(0);
  expect(await received()).toHaveLength(1);
});

test("a worker hides a message for no longer than SQS accepts minutes after the receive", async () => {
  const hide = await hiding();
  const seconds = await hide(1_000_000);
  expect(seconds).toBeLessThan(43_200 - 300);
  expect(seconds).toBeGreaterThan(41_000);
});

test("a worker fails, not as Unavailable, to hide a message that no longer exists", async () => {
  const error = await errorOf(queues.changeVisibility(queue, crypto.randomUUID(), 1, signal()));
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toMatchObject({ name: "Unavailable" });
});

test.each([
  ["refuses", "refuse"],
  ["loses its answer", "lose"],
] as const)("sending fails as Unavailable when SQS %s", async (_, behaviour) => {
  harness().queues.inject(() => behaviour);
  expect(await errorOf(send())).toMatchObject({
    name: "Unavailable",
    message: expect.stringMatching(/^SQS: \w+$/),
  });
});

test("a message is sent again when an answer is lost", async () => {
  let calls = 0;
  harness().queues.inject(() => (++calls === 1 ? "lose" : "pass"));
  await send();
  expect(calls).toBe(2);
  expect((await received()).length).toBeGreaterThanOrEqual(1);
});

test("a message that is being sent fails as Unavailable once its signal is aborted, and is not sent again", async () => {
  const aborting = new AbortController();
  let calls = 0;
  harness().queues.inject(() => {
    calls++;
    aborting.abort();
    return new Promise(() => {});
  });
  expect(await errorOf(send(aborting.signal))).toMatchObject({ name: "Unavailable" });
  expect(calls).toBe(1);
});

test("sending fails, not as Unavailable, when the queue does not exist", async () => {
  vi.stubEnv("QUEUE_DENSITY_JOBS", `${harness().addressOf(queue)}-not-there`);
  const error = await errorOf(send());
  vi.stubEnv("QUEUE_DENSITY_JOBS", harness().addressOf(queue));
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toMatchObject({ name: "Unavailable" });
});
