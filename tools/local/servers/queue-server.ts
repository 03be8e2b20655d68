import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { QueueName } from "../../../shared/sqs/queues.ts";
import { region } from "../declared/aws-names.ts";
import type { LocalQueue } from "../declared/declarations.ts";
import {
  type BackingServer,
  type Credentials,
  type EmbeddedOptions,
  openBackingServer,
} from "./backing-server.ts";

/** SQS's maximum wait of a poll. */
export const longPollSeconds = 20;

/** The external SQS if an endpoint is given, otherwise an embedded one. */
export function openQueueServer(
  externalEndpoint: string | undefined,
  options: EmbeddedOptions = {},
): Promise<BackingServer> {
  return openBackingServer(
    externalEndpoint,
    new URL("./queue-thread.mjs", import.meta.url),
    "the embedded SQS",
    options,
  );
}

/** A client whose time-out is longer than the longest poll. */
export function queueClient(endpoint: string, credentials: Credentials): SQSClient {
  return new SQSClient({
    endpoint,
    region,
    credentials,
    useQueueUrlAsEndpoint: false,
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 2_000,
      requestTimeout: (longPollSeconds + 5) * 1000,
      throwOnRequestTimeout: true,
    },
  });
}

/** The addresses of queues. */
export type QueueUrls = ReadonlyMap<QueueName, string>;

/**
 * Creates queues; those for dead letters come before the queues that use them. An existing queue is left as it is.
 * Encryption and policies, which have no effect on one machine, are not applied.
 * @returns the URLs that the server gave them.
 */
export async function createQueues(
  endpoint: string,
  credentials: Credentials,
  queues: readonly LocalQueue[],
): Promise<QueueUrls> {
  const client = queueClient(endpoint, credentials);
  const urls = new Map<QueueName, string>();
  try {
    for (const queue of queues) urls.set(queue.name, await ensureQueue(client, queue, urls));
    return urls;
  } finally {
    client.destroy();
  }
}

async function ensureQueue(
  client: SQSClient,
  { name, attributes, deadLetters }: LocalQueue,
  urls: QueueUrls,
): Promise<string> {
  try {
    const existing = await urlOf(client, name);
    if (existing !== undefined) return existing;
    const RedrivePolicy = deadLetters && {
      deadLetterTargetArn: await arnOf(client, urls.get(deadLetters.queue)),
      maxReceiveCount: deadLetters.maxReceiveCount,
    };
    const { QueueUrl } = await client.send(
      new CreateQueueCommand({
        QueueName: name,
        Attributes: {
          ...attributes,
          ...(RedrivePolicy ? { RedrivePolicy: JSON.stringify(RedrivePolicy) } : {}),
        },
      }),
    );
    if (QueueUrl === undefined) throw new Error("the server returned no URL");
    return QueueUrl;
  } catch (error) {
    throw new Error(`Queue ${name} cannot be created: ${String(error)}`, { cause: error });
  }
}

async function urlOf(client: SQSClient, QueueName: string): Promise<string | undefined> {
  try {
    return (await client.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl;
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return undefined;
    throw error;
  }
}

/** Asks the server, because an external one may use another region or account. */
async function arnOf(client: SQSClient, QueueUrl: string | undefined): Promise<string | undefined> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] }),
  );
  return Attributes?.QueueArn;
}
