import { afterEach, beforeAll, expect, test } from "vitest";
import * as z from "zod/mini";
import { recoverySeconds, type work as Work } from "../../../shared/sqs/worker.ts";
import { run } from "../../support/jobs.ts";
import { useHarness } from "../../support/use-harness.ts";

const queue = "density-jobs";
const schema = z.object({ name: z.string() });

const { harness, output } = useHarness();
let work: typeof Work;
let unavailable: () => Error;
beforeAll(async () => {
  ({ work } = await import("../../../shared/sqs/worker.ts"));
  const { Unavailable } = await import("../../../shared/errors.ts");
  unavailable = () => new Unavailable("Something", "TimeoutError");
});
afterEach(() => harness().purge(queue));

/** Messages with these bodies, received in one batch in this order. */
async function batchOf(...texts: readonly string[]) {
  await harness().send(queue, ...texts);
  const batch = await harness().receive(queue);
  expect(batch.Records.map(({ body }) => body)).toEqual(texts);
  return batch;
}

const named = (...names: readonly string[]) => batchOf(...names.map((name) => JSON.stringify({ name })));

/** Handles a batch and returns the indexes of the messages that stay in the queue. */
async function keptOf(
  handle: Parameters<typeof work<typeof schema>>[2],
  batch: Awaited<ReturnType<typeof named>>,
) {
  const failures = await run(work(queue, schema, handle), batch);
  expect(new Set(failures).size).toBe(failures.length);
  return batch.Records.flatMap(({ messageId }, index) => (failures.includes(messageId) ? [index] : []));
}

test("a worker reports no failure and hides no message when every message is acknowledged", async () => {
  const batch = await named("a", "b", "c");
  const seen: string[] = [];
  const kept = await keptOf(async ({ message }) => {
    seen.push(message.name);
    return "ack";
  }, batch);
  expect(kept).toEqual([]);
  expect(seen.sort()).toEqual(["a", "b", "c"]);
  expect(batch.Records.flatMap((_, index) => harness().hidden(batch, index))).toEqual([]);
});

test("a worker keeps the messages that are not acknowledged and hides each for its time", async () => {
  const batch = await batchOf(
    '{"name":"good"}',
    '{"name":"later"}',
    '{"name":"crash"}',
    '{"name":"unavailable"}',
    '{"name":5}',
    "not JSON",
    '{"name":"good","more":1}',
  );

  const kept = await keptOf(async ({ message }) => {
    if (message.name === "crash") throw new TypeError(`no ${message.name}`);
    if (message.name === "unavailable") throw unavailable();
    return message.name === "later" ? { retryInSeconds: 700 } : "ack";
  }, batch);

  expect(kept).toEqual([1, 2, 3, 4, 5]);
  const hidden = batch.Records.map((_, index) => harness().hidden(batch, index));
  expect(hidden).toEqual([[], [700], [], [15], [0], [0], []]);
});

test.each([
  [0, 0],
  [500, 500],
  [500.2, 501],
])("a worker hides a message with retryInSeconds %d for %i seconds", async (retryInSeconds, seconds) => {
  const batch = await named("a");
  expect(await keptOf(async () => ({ retryInSeconds }), batch)).toEqual([0]);
  expect(harness().hidden(batch)).toEqual([seconds]);
});

test("a worker keeps a message that it cannot hide, and logs NCS-031", async () => {
  const batch = await named("a");
  harness().queues.inject(() => "refuse");
  expect(await keptOf(async () => ({ retryInSeconds: 500 }), batch)).toEqual([0]);
  expect(output().text()).toContain("NCS-031");
  expect(output().text()).toContain("SQS: ");
});

test("a worker whose dependency is unavailable retries after 15 s at first and every 180 s later, for a day", () => {
  const waits = Array.from({ length: 490 }, (_, index) => recoverySeconds(index + 1));
  expect(waits.slice(0, 4)).toEqual([15, 30, 60, 120]);
  expect(Math.max(...waits)).toBe(180);
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  // An outage of a day does not make a message a dead letter.
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(24 * 3_600);
});

test("a worker keeps a batch's messages and logs NCS-031 when one was deleted meanwhile", async () => {
  const batch = await named("a", "b");
  const [first, ...others] = batch.Records;
  const forged = { Records: [...others, ...(first ? [{ ...first, receiptHandle: "gone" }] : [])] };
  expect(await keptOf(async () => ({ retryInSeconds: 500 }), forged)).toEqual([0, 1]);
  expect(output().text()).toContain("NCS-031");
});

test("a worker tells its handler when a message was sent, its receive count and a signal that aborts before the function times out", async () => {
  const batch = await named("a");
  let handled: unknown;
  const handler = work(queue, schema, async (received) => {
    handled = received;
    await new Promise((resolve) => received.signal.addEventListener("abort", resolve));
    return "ack";
  });
  expect(await run(handler, batch, 15_100)).toEqual([]);
  const sentAt = Number(batch.Records[0]?.attributes.SentTimestamp);
  expect(handled).toMatchObject({ sentAt, receives: 1 });
  expect(sentAt).toBeGreaterThan(0);
});

test("a worker handles a message with an aborted signal when no time is left", async () => {
  const batch = await named("a");
  let isOver = false;
  const handler = work(queue, schema, async ({ signal }) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    isOver = signal.aborted;
    return { retryInSeconds: 300 };
  });
  expect(await run(handler, batch, 1_000)).toHaveLength(1);
  expect(isOver).toBe(true);
  expect(harness().hidden(batch)).toEqual([300]);
});

test("a worker logs the class and stack of a failure, never its message or the message's body", async () => {
  const canary = `canary-${crypto.randomUUID()}`;
  const batch = await batchOf(JSON.stringify({ name: canary }), `${canary} malformed`);
  await keptOf(async ({ message }) => {
    throw new RangeError(`cannot do ${message.name}`);
  }, batch);
  expect(output().text()).toContain("NCS-002");
  expect(output().text()).toContain("NCS-030");
  expect(output().text()).toContain("RangeError");
  expect(output().text()).not.toContain(canary);
});
