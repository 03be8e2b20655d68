import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, test, vi } from "vitest";
import { QueuePoller } from "../../tools/local/lambda/queue-poller.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { localQueue, useQueueServer } from "./use-queue-server.ts";

const { server, client } = useQueueServer();

test("a closed poller deletes no message when the function answers afterwards", async () => {
  const { QueueUrl = "" } = await client().send(new CreateQueueCommand({ QueueName: "closed" }));
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const invoke = vi.fn(() => answered);
  const lines: string[] = [];
  const poller = new QueuePoller({
    source: { logicalId: "Mapping", queueLogicalId: "closed", functionLogicalId: "Run", concurrency: 2 },
    queue: localQueue("closed", { url: QueueUrl }),
    endpoint: server().endpoint,
    credentials: embeddedCredentials,
    invoke,
    logs: { write: (chunk) => lines.push(String(chunk)) },
  });
  poller.start();
  await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  await vi.waitFor(() => expect(invoke).toHaveBeenCalledOnce());

  await poller.close();
  answer();
  await new Promise((resolve) => setTimeout(resolve, 100));

  const attributes = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  expect((await client().send(attributes)).Attributes).toMatchObject({
    ApproximateNumberOfMessages: "0",
    ApproximateNumberOfMessagesNotVisible: "1",
  });
  expect(lines).toEqual([]);
});
