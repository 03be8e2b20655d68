import { expect, test } from "vitest";
import { functionIds } from "../../infra/bundles.ts";
import { functionRecords } from "../../infra/functions.ts";
import { stages } from "../../infra/stage.ts";
import { type QueueName, queueDescription, queues, visibilitySeconds } from "../../shared/sqs/queues.ts";
import { SINK_RETRY_SECONDS } from "../../shared/variables/sink-retry-seconds.ts";

const consumers = functionIds.flatMap((id) => {
  const { consumes, ...record } = functionRecords[id];
  return consumes === undefined ? [] : [{ id, queue: consumes, ...record }];
});

/** As many of the 1,000 functions that an account may run at a time may work on messages. */
const maxWorkers = 100;

test("every consumed queue has a dead-letter queue, and every other queue is one", () => {
  const names = Object.keys(queues) as QueueName[];
  const consumed = new Set(consumers.map(({ queue }) => queue));
  const forDead = new Set(names.map((name) => queueDescription(name).deadLetters?.queue));
  const dropping = names.filter((name) =>
    consumed.has(name) ? queueDescription(name).deadLetters === undefined : !forDead.has(name),
  );
  expect(dropping).toEqual([]);
});

test("a message outlives the longest schedule of attempts that SINK_RETRY_SECONDS may set", () => {
  const maxWaits = Array.from({ length: 100 }, (_, waits) => waits).findLast(
    (waits) => SINK_RETRY_SECONDS.format().read(Array(waits).fill("1").join(",")) !== undefined,
  );
  expect(maxWaits).toBeLessThan(99);
  // The first attempt, one after each wait, and one to tell the sink of a failure.
  expect(queueDescription("density-jobs").deadLetters?.maxReceiveCount).toBeGreaterThanOrEqual(
    1 + (maxWaits ?? 0) + 1,
  );
});

test.each(Object.entries(stages))(
  "the consumers of %s together use a small part of the account's concurrency",
  (_stage, traits) => {
    expect(consumers.length * traits.maxWorkers).toBeLessThanOrEqual(maxWorkers);
  },
);

test.each(consumers)("a message of $id stays hidden for longer than the function's time-out", (worker) => {
  expect(visibilitySeconds).toBeGreaterThan(worker.timeoutSeconds ?? expect.fail());
  // The next worker after one that is gone does not wait much longer than that one could have worked.
  expect(visibilitySeconds).toBeLessThanOrEqual(6 * 60);
});

test.each(consumers)("$id may not send messages to any queue, as Lambda ends recursive chains", (worker) => {
  expect(Object.values(worker.queues ?? {}).flat()).not.toContain("SendMessage");
});
