import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { region } from "../template/physical-names.ts";
import type { LocalQueue } from "../template/queues.ts";
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

/**
 * Creates the queues of a template, dead-letter queues first. An existing queue is left as it is. Encryption and
 * policies, which have no effect on one machine, are not applied.
 * @returns the URLs that the server gave them, by logical id.
 */
export async function createQueues(
  endpoint: string,
  credentials: Credentials,
  queues: readonly LocalQueue[],
): Promise<ReadonlyMap<string, string>> {
  const client = queueClient(endpoint, credentials);
  const urls = new Map<string, string>();
  try {
    for (let left = queues; left.length > 0; left = left.filter(({ logicalId }) => !urls.has(logicalId))) {
      const ready = left.filter(({ redrive }) => !redrive || urls.has(redrive.deadLetterLogicalId));
      if (ready.length === 0) {
        const names = left.map(({ name }) => name).join(", ");
        throw new Error(`These queues are each other's dead-letter queues: ${names}`);
      }
      const created = ready.map(async (queue) => {
        return [queue.logicalId, await ensureQueue(client, queue, urls)] as const;
      });
      for (const [logicalId, url] of await Promise.all(created)) urls.set(logicalId, url);
    }
    return urls;
  } finally {
    client.destroy();
  }
}

async function ensureQueue(
  client: SQSClient,
  { name, attributes, redrive }: LocalQueue,
  urls: ReadonlyMap<string, string>,
): Promise<string> {
  try {
    const existing = await urlOf(client, name);
    if (existing !== undefined) return existing;
    const RedrivePolicy = redrive && {
      deadLetterTargetArn: await arnOf(client, urls.get(redrive.deadLetterLogicalId)),
      maxReceiveCount: redrive.maxReceiveCount,
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

/** Asks the server, because an external one may use another region or account than the template. */
async function arnOf(client: SQSClient, QueueUrl: string | undefined): Promise<string | undefined> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] }),
  );
  return Attributes?.QueueArn;
}
