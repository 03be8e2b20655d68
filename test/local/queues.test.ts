import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type MessageAttributeValue,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";
import { loadTemplate, type Template } from "../../tools/local/template/template.ts";
import { openStage, receiptsOf, type Stage } from "./queue-stage.ts";
import { type SampleAssembly, sampleAssembly } from "./sample-assembly.ts";
import { idOf, type StartedSample, startSample } from "./started-sample.ts";

type QueueName = "Steady" | "Brief" | "Dead";

let assembly: SampleAssembly;
let stage: Stage;

beforeAll(async () => {
  assembly = await sampleAssembly({ queues: true });
  stage = await openStage();
});
beforeEach(() => stage.play());
afterAll(async () => {
  await stage.close();
  assembly.remove();
});

const start = (options: Parameters<typeof startSample>[0] = {}) => {
  const extraEnvironment = { STAGE_URL: stage.url };
  return startSample({ assembly: assembly.directory, extraEnvironment, ...options });
};

function queueOf(template: Template, name: QueueName) {
  const found = template.queues.find(({ logicalId }) => logicalId.startsWith(name));
  if (found === undefined) throw new Error(`no queue ${name}`);
  return found;
}

/** Starts the consumers, so that no message waits for a cold start. */
async function warm(service: StartedSample) {
  const consumers = ["SteadyConsumer", "BriefConsumer", "DeadConsumer"];
  await Promise.all(consumers.map((name) => service.invoke(idOf(service, name), {})));
}

async function send(
  client: SQSClient,
  QueueUrl: string,
  bodies: readonly string[],
  MessageAttributes: Record<string, MessageAttributeValue> = {},
) {
  const Entries = bodies.map((MessageBody, index) => ({ Id: `${index}`, MessageBody, MessageAttributes }));
  const { Successful } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  expect(Successful).toHaveLength(bodies.length);
}

async function left(client: SQSClient, QueueUrl: string) {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
  );
  return {
    visible: Attributes?.ApproximateNumberOfMessages,
    hidden: Attributes?.ApproximateNumberOfMessagesNotVisible,
  };
}

const nothing = { visible: "0", hidden: "0" };
const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: 100_000, interval: 20 });

describe("a queue of the template", () => {
  let service: StartedSample;
  let client: SQSClient;
  const url = (name: QueueName) => queueOf(service.template, name).url;

  beforeAll(async () => {
    service = await start();
    client = queueClient(service.queueEndpoint ?? "", embeddedCredentials);
    await warm(service);
  });
  afterEach(() =>
    Promise.all(
      (["Steady", "Brief", "Dead"] as const).map(async (name) => {
        await eventually(async () => expect(await left(client, url(name))).toEqual(nothing));
      }),
    ),
  );
  afterAll(async () => {
    client.destroy();
    await service.close();
  });

  test("a function receives a message in the form of Lambda, and the message is deleted when it has answered", async () => {
    await send(client, url("Steady"), ['{"a":"é"}'], {
      text: { DataType: "String", StringValue: "x" },
      bytes: { DataType: "Binary", BinaryValue: new Uint8Array([0, 255]) },
    });
    await eventually(() => expect(stage.deliveries).toHaveLength(1));
    const milliseconds = expect.stringMatching(/^\d{13}$/);
    expect(stage.deliveries[0]?.records).toEqual([
      {
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
          text: { stringValue: "x", stringListValues: [], binaryListValues: [], dataType: "String" },
          bytes: { binaryValue: "AP8=", stringListValues: [], binaryListValues: [], dataType: "Binary" },
        },
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        md5OfBody: "110df10b56b83299182f70164879d203",
        eventSource: "aws:sqs",
        eventSourceARN: queueOf(service.template, "Steady").arn,
        awsRegion: "eu-west-1",
      },
    ]);
  });

  test("a queue is read in batches of one message, with no more batches at a time than the mapping allows", async () => {
    let max = 0;
    stage.play(async () => {
      max = Math.max(max, stage.open());
      await new Promise((resolve) => setTimeout(resolve, 150));
      return {};
    });
    const bodies = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    await send(client, url("Steady"), bodies);
    await eventually(async () => expect(await left(client, url("Steady"))).toEqual(nothing));
    expect(receiptsOf(stage.deliveries, "Steady")).toEqual(
      Object.fromEntries(bodies.map((body) => [body, ["1"]])),
    );
    expect(stage.deliveries.map(({ records }) => records.length)).toEqual(bodies.map(() => 1));
    expect(max).toBe(2);
  });

  test("a queue redelivers only the messages that the function reports as failed", async () => {
    stage.play(({ records }) => {
      const failed = records.filter(
        ({ body, attributes }) => body === "bad" && attributes.ApproximateReceiveCount === "1",
      );
      const answer = { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
      return failed.length === 0 ? { answer } : { answer, hideSeconds: 0 };
    });
    await send(client, url("Brief"), ["good", "bad"]);
    await eventually(() => {
      expect(receiptsOf(stage.deliveries, "Brief")).toEqual({ good: ["1"], bad: ["1", "2"] });
    });
  });

  test("a queue redelivers a batch whose function throws or times out, then moves it to the dead-letter queue", async () => {
    stage.play(({ queue, records }) => {
      if (queue === "Dead") return {};
      const isFirst = records[0]?.attributes.ApproximateReceiveCount === "1";
      // The second receive ends with the function's time-out, after which the message is visible again.
      return isFirst ? { error: "as asked", hideSeconds: 0 } : new Promise(() => {});
    });
    await send(client, url("Brief"), ["a", "b"]);
    await eventually(() => {
      expect(Object.keys(receiptsOf(stage.deliveries, "Dead")).sort()).toEqual(["a", "b"]);
    });
    expect(receiptsOf(stage.deliveries, "Brief")).toEqual({ a: ["1", "2"], b: ["1", "2"] });
    expect(service.logs.join("")).toMatch(/"message":"A batch failed".*"reason":"Error: as asked"/);
    expect(service.logs.join("")).toMatch(/"reason":"Sandbox.Timedout: Task timed out after 10.00 seconds"/);
  });
});

test("npm start uses the shell's SQS with the shell's keys, leaves its queues unchanged, and closes with a message unfinished", async () => {
  const external = await openQueueServer(undefined);
  const client = queueClient(external.endpoint, embeddedCredentials);
  const { name } = queueOf(loadTemplate(assembly.directory), "Steady");
  const Attributes = { VisibilityTimeout: "77" };
  const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
  const environment = {
    AWS_ENDPOINT_URL_SQS: external.endpoint,
    AWS_ACCESS_KEY_ID: "mine",
    AWS_SECRET_ACCESS_KEY: "hidden",
  };
  const service = await start({ environment });
  try {
    expect(service.environmentOf(idOf(service, "SteadyConsumer"))).toMatchObject({
      ...environment,
      QUEUE_URL: QueueUrl,
    });
    const kept = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
    expect(kept.Attributes).toMatchObject(Attributes);

    stage.play(() => new Promise(() => {}));
    await send(client, QueueUrl, ["unfinished"]);
    await eventually(() => expect(stage.open()).toBe(1));
    await service.close();
    await eventually(() => expect(stage.open()).toBe(0));
    expect(await left(client, QueueUrl)).toEqual({ visible: "0", hidden: "1" });
    expect(service.logs.join("")).not.toContain("A batch failed");
  } finally {
    await service.close();
    client.destroy();
    await external.close();
  }
});
