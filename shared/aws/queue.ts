import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { wiredName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type QueueName, queueVariable } from "../queues.ts";
import { clientDefaults, isRetryable } from "./clients.ts";

let client: SQSClient | undefined;

/**
 * Runs one call on the process's client.
 * @throws {Unavailable} when the queue did not answer; other errors are faults of ours.
 */
async function call<Output>(run: (client: SQSClient) => Promise<Output>): Promise<Output> {
  // The address of a queue names a host that is not where an embedded server listens.
  client ??= new SQSClient({ ...clientDefaults(), useQueueUrlAsEndpoint: false });
  try {
    return await run(client);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    // A client has so many retries to spend, and has spent some: the next call begins with all of them again.
    client = undefined;
    throw new Unavailable("SQS", error.name);
  }
}

/**
 * Sends a message.
 * @param delaySeconds until it can be received, up to 900.
 * @throws {Unavailable} when it is not certain that the queue has it; it may.
 */
export async function sendMessage(
  queue: QueueName,
  message: Readonly<Record<string, unknown>>,
  delaySeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const command = new SendMessageCommand({
    QueueUrl: wiredName(queueVariable(queue)),
    MessageBody: JSON.stringify(message),
    DelaySeconds: delaySeconds,
  });
  await call((to) => to.send(command, { abortSignal: signal }));
}

/** SQS's limit are 12 hours from when the message was received, which is minutes ago when its work is done. */
const mostInvisibleSeconds = 42_600;

/**
 * Hides a message that was received for some seconds from now, 0 to make it receivable at once. More seconds than
 * SQS allows are as many as it allows.
 */
export async function hideMessage(
  queue: QueueName,
  receiptHandle: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const command = new ChangeMessageVisibilityCommand({
    QueueUrl: wiredName(queueVariable(queue)),
    ReceiptHandle: receiptHandle,
    VisibilityTimeout: Math.min(Math.ceil(seconds), mostInvisibleSeconds),
  });
  await call((to) => to.send(command, { abortSignal: signal }));
}
