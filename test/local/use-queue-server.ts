import type { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, vi } from "vitest";
import type { BackingServer } from "../../tools/local/servers/backing-server.ts";
import { openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";

/** What the embedded queue server takes. */
export const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** Starts an embedded SQS and a client of it for the tests of a file. */
export function useQueueServer() {
  let server: BackingServer;
  let client: SQSClient;
  beforeAll(async () => {
    vi.stubEnv("AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED", "true");
    server = await openQueueServer(undefined);
    client = queueClient(server.endpoint, credentials);
  });
  afterAll(async () => {
    client.destroy();
    await server.close();
    vi.unstubAllEnvs();
  });
  return { server: () => server, client: () => client };
}
