import { setTimeout } from "node:timers/promises";
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { createQueues } from "../../tools/local/servers/queue-server.ts";
import type { LocalQueue } from "../../tools/local/template/queues.ts";
import { credentials, useQueueServer } from "./use-queue-server.ts";

const { server, client } = useQueueServer();

/** A queue whose messages are visible again at once, and that gives them up after so many receipts. */
const queue = (name: string, deadLetterLogicalId?: string, maxReceiveCount = 1): LocalQueue => ({
  logicalId: name,
  name,
  arn: `arn:aws:sqs:eu-west-1:000000000000:${name}`,
  url: "",
  visibilitySeconds: 0,
  attributes: { VisibilityTimeout: "0" },
  redrive: deadLetterLogicalId === undefined ? undefined : { deadLetterLogicalId, maxReceiveCount },
});

describe("the queues of a template", () => {
  it("are created whatever their order, and at the address of the server", async () => {
    const queues = [queue("first", "second"), queue("second", "third"), queue("third")];
    const urls = await createQueues(server().endpoint, credentials, queues);
    expect(Object.fromEntries(urls)).toEqual({
      first: `${server().endpoint}/000000000000/first`,
      second: `${server().endpoint}/000000000000/second`,
      third: `${server().endpoint}/000000000000/third`,
    });
    expect(await createQueues(server().endpoint, credentials, queues)).toEqual(urls);
  });

  /** Creates queues, and tells of each message that is received there its receive count. */
  async function receivingFrom(queues: readonly LocalQueue[]) {
    const urls = await createQueues(server().endpoint, credentials, queues);
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

  it("pass a dead letter on, and go on counting its receipts", async () => {
    const receive = await receivingFrom([queue("jobs", "dlq"), queue("dlq", "parked", 3), queue("parked")]);
    expect(await receive("jobs")).toEqual(["1"]);
    expect(await receive("jobs")).toEqual([]);
    expect(await receive("dlq")).toEqual(["3"]);
    expect(await receive("dlq")).toEqual([]);
    expect(await receive("parked")).toEqual(["5"]);
    expect(await receive("parked")).toEqual(["6"]);
  });

  it("pass a dead letter on unread when they take no more receipts than the queue before them", async () => {
    const receive = await receivingFrom([queue("short", "shorter"), queue("shorter", "last"), queue("last")]);
    expect(await receive("short")).toEqual(["1"]);
    expect(await receive("short")).toEqual([]);
    expect(await receive("shorter")).toEqual([]);
    expect(await receive("last")).toEqual(["4"]);
  });

  it("that wait for each other as dead-letter queues are refused by name", async () => {
    const queues = [queue("one", "two"), queue("two", "one"), queue("free")];
    await expect(createQueues(server().endpoint, credentials, queues)).rejects.toThrow("one, two");
  });
});

describe("a hidden message", () => {
  /** A message that was received once, and what changes when it is visible. */
  async function received(name: string) {
    const urls = await createQueues(server().endpoint, credentials, [
      { ...queue(name), attributes: { VisibilityTimeout: "30" }, visibilitySeconds: 30 },
    ]);
    const QueueUrl = urls.get(name);
    await client().send(new SendMessageCommand({ QueueUrl, MessageBody: "a job" }));
    const receive = async (VisibilityTimeout: number) => {
      const { Messages = [] } = await client().send(
        new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout }),
      );
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

  it("is changed by the handle of its last receive, and by no earlier one", async () => {
    const { receive, hide } = await received("handles");
    const first = await receive(30);
    expect(await hide(first, 0)).toBe("hidden");
    const second = await receive(30);
    expect(await hide(first, 10)).toMatch(/MessageNotInflight/);
    expect(await hide(second, 10)).toBe("hidden");
  });

  it("is not changed once it is visible, though nobody has received it since", async () => {
    const { receive, hide } = await received("visible");
    const handle = await receive(1);
    await setTimeout(1_050);
    expect(await hide(handle, 10)).toMatch(/MessageNotInflight/);
  });

  it("is hidden for twelve hours after its receive at most", async () => {
    const { receive, hide } = await received("long");
    const handle = await receive(30);
    expect(await hide(handle, 43_190)).toBe("hidden");
    await setTimeout(20);
    expect(await hide(handle, 43_200)).toMatch(/InvalidParameterValue/);
  });
});

describe("a call of another kind", () => {
  const post = async (operation: string, body: string) => {
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `AmazonSQS.${operation}`,
    };
    const answer = await fetch(server().endpoint, { method: "POST", headers, body });
    return { status: answer.status, body: await answer.text() };
  };

  it("with a body that is no JSON is the caller's fault, not the server's", async () => {
    const { status, body } = await post("ListQueues", "{");
    expect(status).toBe(400);
    expect(body).toContain("SerializationException");
  });

  it("of an unknown operation is refused by its name", async () => {
    const { status, body } = await post("InventQueue", "{}");
    expect(status).toBe(400);
    expect(body).toContain("InventQueue");
  });
});
