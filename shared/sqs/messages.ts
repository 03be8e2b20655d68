import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { clientDefaults, failureOf, isRetryable } from "../aws/clients.ts";
import { timed } from "../aws/dependency-times.ts";
import { resourceName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type QueueName, queueVariable } from "./queues.ts";

let client: SQSClient | undefined;

/**
 * Runs one call on the process's client.
 * @throws {Unavailable} when the queue did not answer; other errors are faults of ours.
 */
async function call<Output>(run: (client: SQSClient) => Promise<Output>): Promise<Output> {
  // The address of a queue names a host that is not where an embedded server listens.
  client ??= timed(new SQSClient({ ...clientDefaults(), useQueueUrlAsEndpoint: false }), "sqsMilliseconds");
  try {
    return await run(client);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    // A client has so many retries to spend, and has spent some: the next call begins with all of them again.
    client = undefined;
    throw new Unavailable("SQS", failureOf(error));
  }
}

/**
 * Sends a message that can be received at once.
 * @throws {Unavailable} when it is not certain that the queue has it; it may.
 */
export async function sendMessage(
  queue: QueueName,
  message: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const command = new SendMessageCommand({
    QueueUrl: resourceName(queueVariable(queue)),
    MessageBody: JSON.stringify(message),
  });
  await call((to) => to.send(command, { abortSignal: signal }));
}

/** SQS limits this to 12 hours from the receive, which may be some minutes ago. */
const maxHiddenSeconds = 42_600;

/**
 * Hides a received message for some seconds from now; 0 makes it receivable at once. More seconds than SQS allows are
 * reduced to its maximum.
 */
export async function changeVisibility(
  queue: QueueName,
  receiptHandle: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const command = new ChangeMessageVisibilityCommand({
    QueueUrl: resourceName(queueVariable(queue)),
    ReceiptHandle: receiptHandle,
    VisibilityTimeout: Math.min(Math.ceil(seconds), maxHiddenSeconds),
  });
  await call((to) => to.send(command, { abortSignal: signal }));
}
