import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  type MessageAttributeValue,
  SendMessageBatchCommand,
} from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import { expect, onTestFinished, test } from "vitest";
import { QueuePoller } from "../../tools/local/lambda/queue-poller.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { useQueueServer } from "./use-queue-server.ts";

const { server, client, create } = useQueueServer();

/** Lets a function consume a queue until it is closed; notes with which count each message was received. */
function consume(url: string, handle: (record: SQSRecord) => unknown) {
  const logs: string[] = [];
  const records: SQSRecord[] = [];
  const poller = new QueuePoller({
    functionId: "consumer",
    queue: { url, arn: "arn:jobs" },
    concurrency: 2,
    endpoint: server().endpoint,
    credentials: embeddedCredentials,
    invoke: async (_, event) => {
      const [record, ...more] = (event as SQSEvent).Records;
      if (record === undefined || more.length > 0) throw new Error("an event has one record");
      records.push(record);
      return await handle(record);
    },
    logs: { write: (line) => logs.push(String(line)) },
  });
  poller.start();
  onTestFinished(() => poller.close());
  const receipts = () =>
    records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`).sort();
  return { logs, records, receipts, close: () => poller.close() };
}

type Attributes = Record<string, MessageAttributeValue>;

async function send(QueueUrl: string, bodies: readonly string[], MessageAttributes: Attributes = {}) {
  const Entries = bodies.map((MessageBody, index) => ({ Id: `${index}`, MessageBody, MessageAttributes }));
  await client().send(new SendMessageBatchCommand({ QueueUrl, Entries }));
}

/** How many messages of a queue are visible, and how many hidden. */
async function left(QueueUrl: string) {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  const { Attributes: found = {} } = await client().send(command);
  return [found.ApproximateNumberOfMessages, found.ApproximateNumberOfMessagesNotVisible].map(Number);
}

/** Makes a message visible again at once. */
const show = (QueueUrl: string, { receiptHandle: ReceiptHandle }: SQSRecord) =>
  client().send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));

test("a message → its function gets it in the form of Lambda, and it is deleted when the function has answered", async () => {
  const { jobs } = await create("form");
  const { records } = consume(jobs, () => undefined);
  await send(jobs, ['{"a":"é"}'], {
    text: { DataType: "String", StringValue: "x" },
    bytes: { DataType: "Binary", BinaryValue: new Uint8Array([0, 255]) },
  });
  await expect.poll(() => records).toHaveLength(1);
  const milliseconds = expect.stringMatching(/^\d{13}$/);
  const lists = { stringListValues: [], binaryListValues: [] };
  expect(records[0]).toEqual({
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    receiptHandle: expect.stringMatching(/./),
    body: '{"a":"é"}',
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: milliseconds,
      SenderId: expect.stringMatching(/./),
      ApproximateFirstReceiveTimestamp: milliseconds,
    },
    messageAttributes: {
      text: { ...lists, stringValue: "x", dataType: "String" },
      bytes: { ...lists, binaryValue: "AP8=", dataType: "Binary" },
    },
    md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
    md5OfBody: "110df10b56b83299182f70164879d203",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:jobs",
    awsRegion: "eu-west-1",
  });
  await expect.poll(() => left(jobs)).toEqual([0, 0]);
});

test("nine messages of a queue that is read two at a time → each invokes its function once, and never a third beside two", async () => {
  const { jobs } = await create("steady");
  let [open, max] = [0, 0];
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const { receipts } = consume(jobs, async () => {
    max = Math.max(max, ++open);
    await held;
    open--;
  });
  await send(jobs, [..."123456789"]);
  await expect.poll(() => open).toBe(2);
  letGo();
  await expect.poll(() => left(jobs)).toEqual([0, 0]);
  expect({ receipts: receipts(), max }).toEqual({
    receipts: [..."123456789"].map((body) => `${body} 1`),
    max: 2,
  });
});

test.each([
  ["throws", () => Promise.reject(new Error("as asked")), "Error: as asked"],
  ["reports what is no report", () => ({ batchItemFailures: "all" }), "malformed"],
  ["reports another message", () => ({ batchItemFailures: [{ itemIdentifier: "none" }] }), "malformed"],
  ["reports it", ({ messageId }: SQSRecord) => ({ batchItemFailures: [{ itemIdentifier: messageId }] }), ""],
])(
  "a function %s for one of two messages → that one comes again, then is a dead letter, and the other is deleted",
  async (how, fail, reason) => {
    const { jobs, dead } = await create(how.replaceAll(" ", "-"));
    const { receipts, logs } = consume(jobs, async (record) => {
      if (record.body === "good") return undefined;
      await show(jobs, record);
      return await fail(record);
    });
    await send(jobs, ["good", "bad"]);
    await expect.poll(() => left(dead)).toEqual([1, 0]);
    await expect.poll(() => left(jobs)).toEqual([0, 0]);
    expect(receipts()).toEqual(["bad 1", "bad 2", "good 1"]);
    expect(logs).toEqual(reason === "" ? [] : [1, 2].map(() => expect.stringContaining(reason)));
  },
);

test("the service closes while a message is handled → the message stays in the queue, and nothing is logged", async () => {
  const { jobs } = await create("unfinished");
  const { promise: handled, resolve: finish } = Promise.withResolvers<void>();
  const { receipts, logs, close } = consume(jobs, () => handled);
  await send(jobs, ["unfinished"]);
  await expect.poll(receipts).toEqual(["unfinished 1"]);
  await close();
  finish();
  expect(await left(jobs)).toEqual([0, 1]);
  expect(logs).toEqual([]);
});
