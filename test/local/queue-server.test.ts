import { setTimeout } from "node:timers/promises";
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createQueues } from "../../tools/local/servers/queue-server.ts";
import type { LocalQueue } from "../../tools/local/template/queues.ts";
import { localQueue, useQueueServer } from "./use-queue-server.ts";

const { server, client } = useQueueServer();

/** A queue whose messages are visible again at once and become dead letters after so many receives. */
const queue = (name: string, deadLetterLogicalId?: string, maxReceiveCount = 1) =>
  localQueue(name, {
    visibilitySeconds: 0,
    redrive: deadLetterLogicalId === undefined ? undefined : { deadLetterLogicalId, maxReceiveCount },
  });

test("createQueues creates the queues of a template in any order, with the server's address", async () => {
  const queues = [queue("first", "second"), queue("second", "third"), queue("third")];
  const urls = await createQueues(server().endpoint, embeddedCredentials, queues);
  expect(Object.fromEntries(urls)).toEqual({
    first: `${server().endpoint}/000000000000/first`,
    second: `${server().endpoint}/000000000000/second`,
    third: `${server().endpoint}/000000000000/third`,
  });
  expect(await createQueues(server().endpoint, embeddedCredentials, queues)).toEqual(urls);
});

test("the embedded SQS finds a queue by its URL with another name of this machine, as containers have it", async () => {
  const urls = await createQueues(server().endpoint, embeddedCredentials, [queue("named")]);
  const QueueUrl = urls.get("named")?.replace("127.0.0.1", "localhost");
  const sent = await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  expect(sent.MessageId).toBeDefined();
});

/** Creates queues, sends a message to the first, and returns a function that receives from one: the receive counts. */
async function receivingFrom(queues: readonly LocalQueue[]) {
  const urls = await createQueues(server().endpoint, embeddedCredentials, queues);
  const receive = async (name: string) => {
    const QueueUrl = urls.get(name);
    const { Messages = [] } = await client().send(
      new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ["All"] }),
    );
    return Messages.map(({ Attributes }) => Attributes?.ApproximateReceiveCount);
  };
  const [first] = queues;
  await client().send(
    new SendMessageCommand({ QueueUrl: urls.get(first?.name ?? ""), MessageBody: "a job" }),
  );
  return receive;
}

test("a dead-letter queue passes on its own dead letters and continues their receive counts", async () => {
  const receive = await receivingFrom([queue("jobs", "dlq"), queue("dlq", "parked", 3), queue("parked")]);
  expect(await receive("jobs")).toEqual(["1"]);
  expect(await receive("jobs")).toEqual([]);
  expect(await receive("dlq")).toEqual(["3"]);
  expect(await receive("dlq")).toEqual([]);
  expect(await receive("parked")).toEqual(["5"]);
  expect(await receive("parked")).toEqual(["6"]);
});

test("a dead-letter queue passes a message on unread when its limit is not above that of the queue before", async () => {
  const receive = await receivingFrom([queue("short", "shorter"), queue("shorter", "last"), queue("last")]);
  expect(await receive("short")).toEqual(["1"]);
  expect(await receive("short")).toEqual([]);
  expect(await receive("shorter")).toEqual([]);
  expect(await receive("last")).toEqual(["4"]);
});

test("createQueues refuses queues that are dead-letter queues of each other, with their names", async () => {
  const queues = [queue("one", "two"), queue("two", "one"), queue("free")];
  await expect(createQueues(server().endpoint, embeddedCredentials, queues)).rejects.toThrow("one, two");
});

/** A queue with one message, and what receives the message and changes its visibility. */
async function received(name: string) {
  const urls = await createQueues(server().endpoint, embeddedCredentials, [localQueue(name)]);
  const QueueUrl = urls.get(name);
  await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  const receive = async (VisibilityTimeout: number) => {
    const { Messages = [] } = await client().send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout }));
    return Messages[0]?.ReceiptHandle;
  };
  const hide = async (ReceiptHandle: string | undefined, VisibilityTimeout: number) => {
    const change = { QueueUrl, ReceiptHandle, VisibilityTimeout };
    const changed = client().send(new ChangeMessageVisibilityCommand(change));
    return await changed.then(
      () => "hidden",
      (error: Error) => error.name,
    );
  };
  return { receive, hide };
}

test("the embedded SQS changes a message's visibility by the handle of its last receive and by no earlier one", async () => {
  const { receive, hide } = await received("handles");
  const first = await receive(30);
  expect(await hide(first, 0)).toBe("hidden");
  const second = await receive(30);
  expect(await hide(first, 10)).toMatch(/MessageNotInflight/);
  expect(await hide(second, 10)).toBe("hidden");
});

test("the embedded SQS does not change the visibility of a message that is visible again", async () => {
  const { receive, hide } = await received("visible");
  const handle = await receive(1);
  await setTimeout(1_050);
  expect(await hide(handle, 10)).toMatch(/MessageNotInflight/);
});

test("the embedded SQS hides a message for twelve hours after its receive at most", async () => {
  const { receive, hide } = await received("long");
  const handle = await receive(30);
  expect(await hide(handle, 43_190)).toBe("hidden");
  await setTimeout(20);
  expect(await hide(handle, 43_200)).toMatch(/InvalidParameterValue/);
});
