import { setTimeout } from "node:timers/promises";
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { useQueueServer } from "./use-queue-server.ts";

const { server, client, create } = useQueueServer();

test("npm start creates queues with the server's address, and leaves those that exist", async () => {
  const base = `${server().endpoint}/000000000000`;
  expect(await create("jobs")).toEqual({ jobs: `${base}/jobs`, dead: `${base}/jobs-dead` });
  expect(await create("jobs")).toEqual({ jobs: `${base}/jobs`, dead: `${base}/jobs-dead` });
});

test("the embedded SQS finds a queue by its URL with another name of this machine, as containers have it", async () => {
  const QueueUrl = (await create("named")).jobs.replace("127.0.0.1", "localhost");
  const { MessageId } = await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  expect(MessageId).toBeDefined();
});

/** A queue with one message, and what receives the message and changes its visibility. */
async function received(name: string) {
  const { jobs: QueueUrl } = await create(name);
  await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  const receive = async (VisibilityTimeout: number) => {
    const { Messages = [] } = await client().send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout }));
    return Messages[0]?.ReceiptHandle;
  };
  const hide = async (ReceiptHandle: string | undefined, VisibilityTimeout: number) => {
    const change = { QueueUrl, ReceiptHandle, VisibilityTimeout };
    const changing = client().send(new ChangeMessageVisibilityCommand(change));
    return await Promise.allSettled([changing]).then(([one]) =>
      "reason" in one ? one.reason.name : "hidden",
    );
  };
  return { receive, hide };
}

test("the embedded SQS hides a message by the handle of its last receive, by no earlier one, and none that is visible again", async () => {
  const { receive, hide } = await received("handles");
  const first = await receive(30);
  expect(await hide(first, 0)).toBe("hidden");
  const second = await receive(30);
  expect(await hide(first, 10)).toMatch(/MessageNotInflight/);
  expect(await hide(second, 1)).toBe("hidden");
  await setTimeout(1_050);
  expect(await hide(second, 10)).toMatch(/MessageNotInflight/);
});
