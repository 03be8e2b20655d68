import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { jobMessage } from "../functions/population-density/job.ts";
import { readJob } from "../functions/population-density/jobs.ts";
import { sendMessage } from "../shared/aws/queue.ts";
import { wiredName } from "../shared/environment.ts";
import { queueVariable } from "../shared/queues.ts";

/** A message of which nothing became, in the queue where a person looks for it. */
export interface StuckMessage {
  /** Absent for a message that names no job. */
  readonly operationId: string | undefined;
  /** When the message was sent to the workers: it keeps this time when it comes to another queue. */
  readonly since: Date;
  /** `gone` for a job that has expired, or was taken back. */
  readonly state: "pending" | "delivered" | "refused" | "abandoned" | "gone";
  readonly receiptHandle: string;
}

const queue = "density-jobs-stuck";

/** A queue answers a short poll from some of its servers only: an empty answer would not say that it is empty. */
const pollSeconds = 1;

/** While one person looks at the messages, no other sees them. */
const hiddenSeconds = 30;

const callMilliseconds = 10_000;

function deadline(): AbortSignal {
  return AbortSignal.timeout(callMilliseconds);
}

/** All messages of the queue, each of which can be seen again at once. */
export async function stuckMessages(): Promise<StuckMessage[]> {
  return await withQueue(async (client) => {
    const messages = await receiveAll(client);
    for (const message of messages) await giveBack(client, message);
    return messages;
  });
}

/** Lends a client whose calls end with their deadlines only: a poll waits longer than others call for. */
async function withQueue<Result>(use: (client: SQSClient) => Promise<Result>): Promise<Result> {
  const client = new SQSClient({ useQueueUrlAsEndpoint: false });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

function address(): string {
  return wiredName(queueVariable(queue));
}

/** Receives messages, which hides them from others for half a minute, until there are no more. */
async function receiveAll(client: SQSClient): Promise<StuckMessage[]> {
  const found = new Map<string, StuckMessage>();
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: address(),
        MaxNumberOfMessages: 10,
        VisibilityTimeout: hiddenSeconds,
        WaitTimeSeconds: pollSeconds,
        MessageSystemAttributeNames: ["SentTimestamp"],
      }),
      { abortSignal: deadline() },
    );
    const isNew = Messages.some(({ MessageId = "" }) => !found.has(MessageId));
    for (const { MessageId = "", Body = "", ReceiptHandle = "", Attributes } of Messages) {
      found.set(MessageId, await described(Body, Number(Attributes?.SentTimestamp), ReceiptHandle));
    }
    if (!isNew) return [...found.values()];
  }
}

async function giveBack(client: SQSClient, { receiptHandle }: StuckMessage): Promise<void> {
  const message = { QueueUrl: address(), ReceiptHandle: receiptHandle, VisibilityTimeout: 0 };
  await client.send(new ChangeMessageVisibilityCommand(message), { abortSignal: deadline() });
}

async function remove(client: SQSClient, { receiptHandle }: StuckMessage): Promise<void> {
  const message = { QueueUrl: address(), ReceiptHandle: receiptHandle };
  await client.send(new DeleteMessageCommand(message), { abortSignal: deadline() });
}

async function described(body: string, since: number, receiptHandle: string): Promise<StuckMessage> {
  const operationId = operationIdIn(body);
  const job = operationId === undefined ? undefined : await readJob(operationId, new Date(), deadline());
  return { operationId, since: new Date(since), state: job?.state ?? "gone", receiptHandle };
}

function operationIdIn(body: string): string | undefined {
  try {
    return jobMessage.safeParse(JSON.parse(body)).data?.operationId;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Gives stuck jobs to the workers again, and takes their messages and those that are about nothing any more away.
 * @param operationIds those to try again; all if absent, and then also messages that name no job are taken away.
 * @returns how many were tried again and how many taken away, and which operations are not in the queue.
 */
export async function retryStuck(operationIds?: readonly string[]): Promise<{
  readonly retried: number;
  readonly removed: number;
  readonly missing: readonly string[];
}> {
  return await withQueue(async (client) => {
    const missing = new Set(operationIds);
    let retried = 0;
    let removed = 0;
    for (const message of await receiveAll(client)) {
      const { operationId, state } = message;
      if (operationIds !== undefined && !(operationId !== undefined && operationIds.includes(operationId))) {
        await giveBack(client, message);
        continue;
      }
      if (operationId !== undefined && state === "pending") {
        await sendMessage("density-jobs", { version: 1, operationId }, 0, deadline());
        retried++;
      } else {
        removed++;
      }
      await remove(client, message);
      if (operationId !== undefined) missing.delete(operationId);
    }
    return { retried, removed, missing: [...missing] };
  });
}
