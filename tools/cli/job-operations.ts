import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { type Job, jobMessage } from "../../functions/population-density/delivery/job.ts";
import { jobStore } from "../../functions/population-density/delivery/job-store.ts";
import { resourceName } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import { sendMessage } from "../../shared/sqs/messages.ts";
import { queueVariable } from "../../shared/sqs/queues.ts";
import { jsonIn } from "../json-text.ts";

/** A message in the parking queue. */
interface ParkedMessage {
  /** Absent for a message that names no job. */
  readonly operationId: string | undefined;
  /** When the message was sent to the workers; moving to another queue does not change it. */
  readonly since: Date;
  /** `gone` for a job that no longer exists. */
  readonly state: Job["state"] | "gone";
  readonly receiptHandle: string;
}

const queue = "density-jobs-parked";

/**
 * Long polling: a short poll asks only some servers of the queue, and may return nothing although there are messages.
 */
const pollSeconds = 1;

/** For how long the messages are hidden from other readers. */
const hiddenSeconds = 30;

const callMilliseconds = 10_000;

function deadline(): AbortSignal {
  return AbortSignal.timeout(callMilliseconds);
}

/** All messages of the queue. They are made visible again at once. */
export async function parkedMessages(): Promise<ParkedMessage[]> {
  return await withQueue(async (client) => {
    const messages = await receiveAll(client);
    for (const message of messages) await makeVisible(client, message);
    return messages;
  });
}

/** Lends a client without the usual time-outs: long polling waits longer. Each call has a deadline. */
async function withQueue<Result>(use: (client: SQSClient) => Promise<Result>): Promise<Result> {
  const client = new SQSClient({ useQueueUrlAsEndpoint: false });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

function address(): string {
  return resourceName(queueVariable(queue));
}

/** Receives messages, which hides them from others for half a minute, until there are no more. */
async function receiveAll(client: SQSClient): Promise<ParkedMessage[]> {
  const found = new Map<string, ParkedMessage>();
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

async function makeVisible(
  client: SQSClient,
  { receiptHandle: ReceiptHandle }: ParkedMessage,
): Promise<void> {
  const message = { QueueUrl: address(), ReceiptHandle, VisibilityTimeout: 0 };
  await client.send(new ChangeMessageVisibilityCommand(message), { abortSignal: deadline() });
}

async function remove(client: SQSClient, { receiptHandle: ReceiptHandle }: ParkedMessage): Promise<void> {
  const message = { QueueUrl: address(), ReceiptHandle };
  await client.send(new DeleteMessageCommand(message), { abortSignal: deadline() });
}

async function described(body: string, since: number, receiptHandle: string): Promise<ParkedMessage> {
  const operationId = operationIdIn(body);
  const job = operationId === undefined ? undefined : await jobStore.read(operationId, deadline());
  return { operationId, since: new Date(since), state: job?.state ?? "gone", receiptHandle };
}

function operationIdIn(body: string): string | undefined {
  return jobMessage.safeParse(jsonIn(body)).data?.operationId;
}

/**
 * Sends parked jobs to the workers again. Deletes their messages, and those of jobs that have ended.
 * @param operationIds the jobs to retry; all if absent, and then messages that name no job are deleted too.
 * @returns how many jobs were retried, how many messages were only deleted, and which operations are not in the queue.
 */
export async function retryParked(operationIds?: readonly string[]): Promise<{
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
        await makeVisible(client, message);
        continue;
      }
      if (operationId !== undefined && state === "pending") {
        await sendMessage("density-jobs", { version: 1, operationId }, deadline());
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

const shown = [
  ...(["operationId", "state", "reason", "caller", "requestedAt"] as const),
  ...(["correlator", "attempts", "mode", "possiblyDelivered", "notBefore"] as const),
];

/** What an operator may see of a job: nothing of its request, its sink or its token. */
export type JobSummary = Pick<Job, (typeof shown)[number]>;

/** The summary of a job; undefined when it does not exist. */
export async function jobSummary(operationId: string): Promise<JobSummary | undefined> {
  const found = await jobStore.read(operationId, deadline());
  if (found === undefined) return undefined;
  return Object.fromEntries(shown.map((name) => [name, found[name]])) as unknown as JobSummary;
}

/** The jobs that have no outcome yet, the oldest first. */
export async function pendingJobs(): Promise<readonly JobSummary[]> {
  const entries = await jobStore.pending(deadline());
  const found = await Promise.all(entries.map(({ operationId }) => jobSummary(operationId)));
  return found.filter((job) => job?.state === "pending") as JobSummary[];
}

/**
 * Ends a job without a word to its sink, and releases its caller's place. An attempt that is under way does not send
 * its last chunk any more.
 * @returns `false` when there is no such job, or it is over.
 */
export async function freeJob(operationId: string): Promise<boolean> {
  for (;;) {
    const found = await jobStore.read(operationId, deadline());
    if (found === undefined || found.state !== "pending") return false;
    const now = Math.max(Date.now(), found.notBefore ?? 0);
    const end = { outcome: "failed", reason: "released by an operator" } as const;
    if (await jobStore.endWithoutAttempt(found, crypto.randomUUID(), end, now, deadline())) return true;
  }
}

/**
 * Releases those places of a caller whose jobs are over.
 * @param client as tokens name it.
 * @returns how many.
 */
export function freeCaller(client: string): Promise<number> {
  return jobStore.freeEnded(hashed(client), Date.now(), deadline());
}
