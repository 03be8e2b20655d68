import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, it, vi } from "vitest";
import { QueuePoller } from "../../tools/local/lambda/queue-poller.ts";
import { credentials, useQueueServer } from "./use-queue-server.ts";

const { server, client } = useQueueServer();

async function pollerOf(name: string, invoke: (event: unknown) => unknown) {
  const { QueueUrl = "" } = await client().send(new CreateQueueCommand({ QueueName: name }));
  const lines: string[] = [];
  const poller = new QueuePoller({
    source: {
      logicalId: "Mapping",
      queueLogicalId: name,
      functionLogicalId: "Run",
      concurrency: 2,
    },
    queue: {
      logicalId: name,
      name,
      arn: `arn:aws:sqs:eu-west-1:000000000000:${name}`,
      url: QueueUrl,
      visibilitySeconds: 30,
      attributes: {},
      redrive: undefined,
    },
    endpoint: server().endpoint,
    credentials,
    invoke: async (_, event) => invoke(event),
    logs: { write: (chunk) => lines.push(String(chunk)) },
  });
  const send = () => client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
  const left = async () => {
    const { Attributes } = await client().send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
    );
    return (
      Number(Attributes?.ApproximateNumberOfMessages) +
      Number(Attributes?.ApproximateNumberOfMessagesNotVisible)
    );
  };
  return { poller, send, left, lines };
}

it("a poller that is closed deletes nothing, however the function answers afterwards", async () => {
  let answer = () => {};
  const asked = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      }),
  );
  const { poller, send, left, lines } = await pollerOf("closed", asked);
  poller.start();
  await send();
  await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
  await poller.close();
  answer();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await left()).toBe(1);
  expect(lines).toEqual([]);
});
