import { createServer, request as httpRequest } from "node:http";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type MessageAttributeValue,
  SendMessageBatchCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";
import type { LocalBackend } from "../../tools/local/service.ts";
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
  vi.waitFor(check, { timeout: 60_000, interval: 20 });

describe("a queue of the template", () => {
  let service: StartedSample;
  let client: SQSClient;
  let readBeforeListening: number;
  const url = (name: QueueName) => queueOf(service.template, name).url;

  beforeAll(async () => {
    service = await start({
      beforeListening: async ({ queueEndpoint = "", template }: LocalBackend) => {
        client = queueClient(queueEndpoint, embeddedCredentials);
        await send(client, queueOf(template, "Steady").url, ["early"]);
        await new Promise((resolve) => setTimeout(resolve, 200));
        readBeforeListening = stage.deliveries.length;
      },
    });
    await eventually(() => expect(stage.deliveries).toHaveLength(1));
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

  test("the local service reads no queue before it is ready", () => {
    expect(readBeforeListening).toBe(0);
  });

  test("a function's environment has the local endpoint and URL of its queue", () => {
    expect(service.environmentOf(idOf(service, "SteadyConsumer"))).toMatchObject({
      AWS_ENDPOINT_URL_SQS: service.queueEndpoint,
      QUEUE_URL: url("Steady"),
    });
    expect(url("Steady")).toMatch(/^http:.*\/000000000000\/Steady\w+$/);
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
    expect(service.logs.join("")).toMatch(/"reason":"Sandbox.Timedout: Task timed out after 5.00 seconds"/);
  });

  test("a queue redelivers the whole batch when the report names an unknown message", async () => {
    // The first message may be polled before the second has arrived.
    let failed: readonly string[] | undefined;
    stage.play(({ records }) => {
      if (failed !== undefined) return { answer: { batchItemFailures: [] } };
      failed = records.map(({ body }) => body);
      return { answer: { batchItemFailures: [{ itemIdentifier: "nobody" }] }, hideSeconds: 0 };
    });
    await send(client, url("Brief"), ["a", "b"]);
    await eventually(() => {
      expect(failed).toBeDefined();
      // On a busy machine a message is also received again because the function's time was over.
      const receipts = receiptsOf(stage.deliveries, "Brief");
      for (const body of failed ?? []) expect(receipts[body]).toContain("2");
    });
  });

  test("a queue hides a message for as long as the function says", async () => {
    const times: number[] = [];
    stage.play(() => {
      times.push(Date.now());
      return times.length === 1 ? { hideSeconds: 1, error: "later" } : {};
    });
    await send(client, url("Brief"), ["patient"]);
    await eventually(() => expect(times).toHaveLength(2));
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThan(900);
  });
});

describe("the SQS of the shell", () => {
  /** Forwards requests; hangs up on polls while `answersPolls` is false. */
  async function openProxy(target: string) {
    const proxy = { answersPolls: true };
    const server = createServer((request, response) => {
      const { method, headers } = request;
      if (!proxy.answersPolls && headers["x-amz-target"] === "AmazonSQS.ReceiveMessage") {
        return void request.destroy();
      }
      const { host } = new URL(target);
      const passedOn = httpRequest(target, { method, headers: { ...headers, host } }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      passedOn.on("error", () => response.destroy());
      request.pipe(passedOn);
    });
    return Object.assign(proxy, await listen(server, 0));
  }

  test("the local service uses the shell's SQS with the shell's keys, leaves its queues unchanged and survives its outage", async () => {
    const external = await openQueueServer(undefined);
    const proxy = await openProxy(external.endpoint);
    const client = queueClient(external.endpoint, embeddedCredentials);
    const { name } = queueOf(loadTemplate(assembly.directory), "Steady");
    const Attributes = { VisibilityTimeout: "77" };
    const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));

    proxy.answersPolls = false;
    const environment = {
      AWS_ENDPOINT_URL_SQS: proxy.url,
      AWS_ACCESS_KEY_ID: "mine",
      AWS_SECRET_ACCESS_KEY: "hidden",
    };
    const service = await start({ environment });
    try {
      expect(service.queueEndpoint).toBe(proxy.url);
      expect(service.environmentOf(idOf(service, "SteadyConsumer"))).toMatchObject({
        ...environment,
        QUEUE_URL: QueueUrl,
      });
      const kept = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
      expect(kept.Attributes).toMatchObject(Attributes);

      await eventually(() => expect(service.logs.join("")).toContain("The queue cannot be read"));
      await send(client, QueueUrl, ["late"]);
      proxy.answersPolls = true;
      await eventually(() => expect(receiptsOf(stage.deliveries, "Steady")).toEqual({ late: ["1"] }));
      await eventually(async () => expect(await left(client, QueueUrl)).toEqual(nothing));
    } finally {
      await service.close();
      client.destroy();
      await proxy.close();
      await external.close();
    }
  });

  test("the local service closes within 2 s and leaves unfinished messages hidden in the shell's SQS", async () => {
    const external = await openQueueServer(undefined);
    const client = queueClient(external.endpoint, embeddedCredentials);
    const service = await start({ environment: { AWS_ENDPOINT_URL_SQS: external.endpoint } });
    try {
      const { url } = queueOf(service.template, "Steady");
      stage.play(() => new Promise(() => {}));
      await send(client, url, ["unfinished"]);
      await eventually(() => expect(stage.open()).toBe(1));
      const startedAt = performance.now();
      await service.close();
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      await eventually(() => expect(stage.open()).toBe(0));
      expect(await left(client, url)).toEqual({ visible: "0", hidden: "1" });
      expect(service.logs.join("")).not.toContain("A batch failed");
    } finally {
      await service.close();
      client.destroy();
      await external.close();
    }
  });
});
