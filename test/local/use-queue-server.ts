import type { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll } from "vitest";
import { type BackingServer, embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";
import type { LocalQueue } from "../../tools/local/template/queues.ts";

/** A queue as a template declares it. */
export function localQueue(
  name: string,
  { visibilitySeconds = 30, url = "", redrive }: Partial<LocalQueue> = {},
): LocalQueue {
  return {
    logicalId: name,
    name,
    arn: `arn:aws:sqs:eu-west-1:000000000000:${name}`,
    url,
    visibilitySeconds,
    attributes: { VisibilityTimeout: `${visibilitySeconds}` },
    redrive,
  };
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
  return { server: () => server, client: () => client };
}
