import type { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll } from "vitest";
import type { QueueName } from "../../shared/sqs/queues.ts";
import type { LocalQueue } from "../../tools/local/declared/declarations.ts";
import { type BackingServer, embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createQueues, openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";

/** A queue of a test's own, whose messages become dead letters of another after so many receives. */
export function localQueue(
  name: string,
  visibilitySeconds = 30,
  dead?: string,
  maxReceiveCount = 2,
): LocalQueue {
  const deadLetters = dead === undefined ? undefined : { queue: dead as QueueName, maxReceiveCount };
  return { name: name as QueueName, attributes: { VisibilityTimeout: `${visibilitySeconds}` }, deadLetters };
}

/** Starts an embedded SQS and a client of it for the tests of a file. */
export function useQueueServer() {
  let server: BackingServer;
  let client: SQSClient;
  beforeAll(async () => {
    server = await openQueueServer(undefined);
    client = queueClient(server.endpoint, embeddedCredentials);
  });
  afterAll(async () => {
    client.destroy();
    await server.close();
  });
  /** Creates a queue and one for its dead letters, and returns their URLs. */
  const create = async (name: string) => {
    const queues = [localQueue(`${name}-dead`), localQueue(name, 30, `${name}-dead`)];
    const [dead = "", jobs = ""] = (
      await createQueues(server.endpoint, embeddedCredentials, queues)
    ).values();
    return { jobs, dead };
  };
  return { server: () => server, client: () => client, create };
}
