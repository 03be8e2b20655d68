import type { SQSClient } from "@aws-sdk/client-sqs";
import { clientDefaults, failureOf, isRetryable } from "../aws/clients.ts";
import { timed } from "../aws/dependency-times.ts";
import { resourceName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type QueueName, queueVariable } from "./queues.ts";

let client: SQSClient | undefined;

/** Loads the SDK for SQS when it is called: most messages are received and deleted by Lambda itself. */
const sdk = () => import("@aws-sdk/client-sqs");

/**
 * Runs one call on the process's client.
 * @throws {Unavailable} if the queue did not answer; any other error is a bug in this code.
 */
async function call<Output>(run: (client: SQSClient) => Promise<Output>): Promise<Output> {
  const { SQSClient } = await sdk();
  // A queue's URL may name a host other than the endpoint on which the embedded server listens.
  client ??= timed(new SQSClient({ ...clientDefaults(), useQueueUrlAsEndpoint: false }), "sqsMilliseconds");
  try {
    return await run(client);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    // The client may have used up its retry tokens; a new client starts with all of them.
    client = undefined;
    throw new Unavailable("SQS", failureOf(error));
  }
}

/**
 * Sends a message without delay.
 * @throws {Unavailable} if it is uncertain whether the queue has the message.
 */
export async function sendMessage(
  queue: QueueName,
  message: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const { SendMessageCommand } = await sdk();
  const command = new SendMessageCommand({
    QueueUrl: resourceName(queueVariable(queue)),
    MessageBody: JSON.stringify(message),
  });
  await call((to) => to.send(command, { abortSignal: signal }));
}

/** SQS's limit is 12 hours from the receive, which may have been minutes ago. */
const maxHiddenSeconds = 42_600;

/** Hides a received message for some seconds from now; 0 makes it visible at once. Limited to SQS's maximum. */
export async function changeVisibility(
  queue: QueueName,
  receiptHandle: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const { ChangeMessageVisibilityCommand } = await sdk();
  const command = new ChangeMessageVisibilityCommand({
    QueueUrl: resourceName(queueVariable(queue)),
    ReceiptHandle: receiptHandle,
    VisibilityTimeout: Math.min(Math.ceil(seconds), maxHiddenSeconds),
  });
  await call((to) => to.send(command, { abortSignal: signal }));
}
