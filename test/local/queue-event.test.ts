import { describe, expect, it } from "vitest";
import { reportedFailures } from "../../tools/local/lambda/queue-event.ts";

const batch = ["a", "b", "c"].map((MessageId) => ({
  MessageId,
  ReceiptHandle: "handle",
  Body: "body",
  MD5OfBody: "digest",
  Attributes: {
    ApproximateFirstReceiveTimestamp: "1",
    ApproximateReceiveCount: "1",
    SenderId: "sender",
    SentTimestamp: "1",
  },
  MessageAttributes: {},
}));
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

describe("a function's report on a batch", () => {
  it.each([[null], [undefined], [{}], [{ other: 1 }], [{ batchItemFailures: null }], [failures()]])(
    "that names no message means that all is well: %j",
    (answer) => {
      expect(reportedFailures(answer, batch)).toEqual(new Set());
    },
  );

  it("names the messages that failed, once or more often", () => {
    expect(reportedFailures(failures("a", "c", "a"), batch)).toEqual(new Set(["a", "c"]));
  });

  it.each([
    ["done"],
    [[]],
    [{ batchItemFailures: "a" }],
    [{ batchItemFailures: ["a"] }],
    [{ batchItemFailures: [{ messageId: "a" }] }],
    [failures("")],
    [failures(null)],
    [failures(1)],
    [failures("a", "unknown")],
  ])("that is malformed or names another message counts for the whole batch: %j", (answer) => {
    expect(reportedFailures(answer, batch)).toBeUndefined();
  });
});
