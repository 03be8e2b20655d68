import { setTimeout } from "node:timers/promises";
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createQueues } from "../../tools/local/servers/queue-server.ts";
import { localQueue, useQueueServer } from "./use-queue-server.ts";

const { server, client } = useQueueServer();

test("npm start creates the queues of a template in any order, with the server's address", async () => {
  const redrive = { deadLetterLogicalId: "dead", maxReceiveCount: 3 };
  const queues = [localQueue("jobs", { redrive }), localQueue("dead")];
  const urls = await createQueues(server().endpoint, embeddedCredentials, queues);
  expect(Object.fromEntries(urls)).toEqual({
    jobs: `${server().endpoint}/000000000000/jobs`,
    dead: `${server().endpoint}/000000000000/dead`,
  });
  expect(await createQueues(server().endpoint, embeddedCredentials, queues)).toEqual(urls);
});

test("the embedded SQS finds a queue by its URL with another name of this machine, as containers have it", async () => {
  const urls = await createQueues(server().endpoint, embeddedCredentials, [localQueue("named")]);
  const QueueUrl = urls.get("named")?.replace("127.0.0.1", "localhost");
  const sent = await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  expect(sent.MessageId).toBeDefined();
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
