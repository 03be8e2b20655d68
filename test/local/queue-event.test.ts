import { expect, test } from "vitest";
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

test.each([[null], [undefined], [{}], [{ other: 1 }], [{ batchItemFailures: null }], [failures()]])(
  "reportedFailures returns no message for the report %j",
  (answer) => {
    expect(reportedFailures(answer, batch)).toEqual(new Set());
  },
);

test("reportedFailures returns each message that the report names once or more often", () => {
  expect(reportedFailures(failures("a", "c", "a"), batch)).toEqual(new Set(["a", "c"]));
});

test.each([
  ["done"],
  [[]],
  [{ batchItemFailures: "a" }],
  [{ batchItemFailures: ["a"] }],
  [{ batchItemFailures: [{ messageId: "a" }] }],
  [failures("")],
  [failures(null)],
  [failures(1)],
  [failures("a", "unknown")],
])(
  "reportedFailures returns undefined, for the whole batch, when a report is malformed or names another message: %j",
  (answer) => {
    expect(reportedFailures(answer, batch)).toBeUndefined();
  },
);
