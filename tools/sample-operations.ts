import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { TableName } from "../functions/areas.ts";
import {
  cancelledByCaller,
  itemOf,
  type Job,
  retentionSeconds,
} from "../functions/population-density/delivery/job.ts";
import { hashed } from "../shared/hash.ts";
import { tableVariable } from "../shared/table.ts";
import { region } from "./local/declared/aws-names.ts";
import { embeddedCredentials } from "./local/servers/backing-server.ts";
import type { LocalBackend } from "./local/service.ts";

/** The client in the requests of `events/` that are about an operation. */
export const sampleClient = "1000";

const day = 86_400_000;

/** The operations that requests of `events/` are about, by the last digit of their ids. */
const changes: Readonly<Record<number, Partial<Job>>> = {
  1: {
    state: "delivered",
    attempts: 1,
    possiblyDelivered: true,
    lastAttempt: { number: 1, at: Date.now(), outcome: "delivered", status: 204 },
  },
  // Stay pending until they are cancelled: queued, and due only when their day is over.
  2: { queuedAt: Date.now(), notBefore: Date.now() + day, pendingSince: new Date().toISOString() },
  3: { queuedAt: Date.now(), notBefore: Date.now() + day, pendingSince: new Date().toISOString() },
  4: { state: "cancelled", reason: cancelledByCaller },
};

/** Stores them for a client, as tokens name it. */
export async function storeSampleOperations(
  put: (table: TableName, item: Readonly<Record<string, unknown>>) => Promise<unknown>,
  client = sampleClient,
): Promise<void> {
  const requestedAt = Date.now();
  const hour = 3_600_000;
  const start = (Math.floor(requestedAt / hour) + 1) * hour;
  for (const [digit, own] of Object.entries(changes)) {
    const operationId = `7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e0${digit}`;
    const job: Job = {
      operationId,
      state: "pending",
      caller: hashed(client),
      requestHash: hashed(operationId),
      request: {
        area: {
          areaType: "POLYGON",
          boundary: [
            { latitude: 45.754114, longitude: 4.860374 },
            { latitude: 45.753845, longitude: 4.863185 },
            { latitude: 45.751224, longitude: 4.861125 },
          ],
        },
        startTime: new Date(start).toISOString(),
        endTime: new Date(start + 2 * hour).toISOString(),
        precision: 7,
      },
      requestedAt,
      listedAt: new Date(requestedAt).toISOString(),
      correlator: "sample",
      ...(own.state === undefined ? { sink: "https://sink.example.com/densities" } : {}),
      intake: operationId,
      promised: true,
      attempts: 0,
      mode: "answer",
      possiblyDelivered: false,
      expiresAt: Math.ceil(requestedAt / 1_000) + retentionSeconds,
      ...own,
    };
    await put("density-jobs", itemOf(job));
  }
}

const putMilliseconds = 10_000;

/** Stores them in the tables of a local service, for the client of the events. */
export async function storeSampleOperationsIn(service: LocalBackend): Promise<void> {
  const credentials = embeddedCredentials;
  const client = new DynamoDBClient({ region, credentials, endpoint: service.databaseEndpoint });
  await storeSampleOperations((table, item) => {
    const Item = marshall(item, { removeUndefinedValues: true });
    const put = new PutItemCommand({ TableName: service.tableNames[tableVariable({ name: table })], Item });
    return client.send(put, { abortSignal: AbortSignal.timeout(putMilliseconds) });
  });
  client.destroy();
}
