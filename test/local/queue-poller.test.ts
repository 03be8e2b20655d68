import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { QueuePoller } from "../../tools/local/lambda/queue-poller.ts";
import type { BackingServer } from "../../tools/local/servers/backing-server.ts";
import { openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";
import type { LocalEventSource } from "../../tools/local/template/queues.ts";

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
let server: BackingServer;
let client: SQSClient;

beforeAll(async () => {
  vi.stubEnv("AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED", "true");
  server = await openQueueServer(undefined);
  client = queueClient(server.endpoint, credentials);
});
afterAll(async () => {
  client.destroy();
  await server.close();
  vi.unstubAllEnvs();
});

async function pollerOf(
  name: string,
  source: Partial<LocalEventSource>,
  invoke: (event: unknown) => unknown,
) {
  const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: name }));
  const lines: string[] = [];
  const poller = new QueuePoller({
    source: {
      logicalId: "Mapping",
      queueLogicalId: name,
      functionLogicalId: "Run",
      batchSize: 10,
      windowSeconds: 0,
      concurrency: 2,
      reportsItemFailures: false,
      ...source,
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
    endpoint: server.endpoint,
    credentials,
    invoke: async (_, event) => invoke(event),
    logs: { write: (chunk) => lines.push(String(chunk)) },
  });
  const send = (count: number) => {
    const Entries = Array.from({ length: count }, (_, index) => ({
      Id: `${index}`,
      MessageBody: `${index}`,
    }));
    return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  };
  const left = async () => {
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
    );
    return (
      Number(Attributes?.ApproximateNumberOfMessages) +
      Number(Attributes?.ApproximateNumberOfMessagesNotVisible)
    );
  };
  return { poller, send, left, lines };
}

it("a batch gathers messages for the length of its window, also more than one request gives", async () => {
  const batches: unknown[] = [];
  const { poller, send, left } = await pollerOf("window", { batchSize: 100, windowSeconds: 1 }, (event) => {
    batches.push(event);
  });
  poller.start();
  await send(10);
  await send(4);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await send(3);
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 5_000 });
  await poller.close();
  expect(batches).toHaveLength(1);
  expect(batches).toHaveProperty("0.Records.length", 17);
});

it("a poller that is closed deletes nothing, however the function answers afterwards", async () => {
  let answer = () => {};
  const asked = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      }),
  );
  const { poller, send, left, lines } = await pollerOf("closed", {}, asked);
  poller.start();
  await send(1);
  await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
  await poller.close();
  answer();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await left()).toBe(1);
  expect(lines).toEqual([]);
});
