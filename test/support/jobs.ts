import {
  CreateQueueCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { vi } from "vitest";
import * as z from "zod";
import { answerTo } from "../../functions/population-density/answer/answer-to.ts";
import { bodyOf } from "../../functions/population-density/answer/json.ts";
import { densityCallers } from "../../functions/population-density/callers/tables.ts";
import { itemOf, type Job } from "../../functions/population-density/delivery/job.ts";
import { jobStore } from "../../functions/population-density/delivery/job-store.ts";
import { densityJobs, densityPermits } from "../../functions/population-density/delivery/tables.ts";
import { parseDensityRequest } from "../../functions/population-density/query/parse.ts";
import type { ConfigurationName } from "../../infra/variables.ts";
import { getItem, putItem } from "../../shared/aws/database.ts";
import { type QueueName, queues, queueVariable } from "../../shared/sqs/queues.ts";
import { withSchema } from "../../shared/table.ts";
import { messageSchema, queueEvent } from "../../tools/local/lambda/queue-event.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { queueClient } from "../../tools/local/servers/queue-server.ts";
import { hoursToCome } from "./areas.ts";
import { useOwnTable, useTables } from "./database.ts";
import { boxIn, cellIn, freshTile, precision, type Slot, storeTile } from "./densities.ts";
import { openFaultyEndpoint } from "./faulty-endpoint.ts";
import { sharedService } from "./service.ts";

/** Runs the handlers of jobs in this process, on tables and queues of their own. */
export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** Lets modules that are imported afterwards use tables and queues through endpoints in which tests inject faults. */
export async function openHarness(settings: Readonly<Partial<Record<ConfigurationName, string>>> = {}) {
  useTables();
  // This file's own reads and writes bypass these endpoints: its module keeps its first client.
  await storedJob(crypto.randomUUID());
  vi.resetModules();
  const queueServer = sharedService.queueEndpoint ?? "";
  const tables = await openFaultyEndpoint(sharedService.databaseEndpoint);
  const queueEndpoint = await openFaultyEndpoint(queueServer);
  await useOwnJobs();
  const client = queueClient(queueServer, embeddedCredentials);
  const addresses = new Map<QueueName, string>();
  for (const queue of Object.keys(queues) as QueueName[]) {
    const Attributes = { VisibilityTimeout: "1800" };
    const name = `${queue}-${crypto.randomUUID()}`;
    const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    addresses.set(queue, QueueUrl);
    vi.stubEnv(queueVariable(queue), QueueUrl);
  }
  const environment = {
    AWS_ENDPOINT_URL_DYNAMODB: tables.url,
    AWS_ENDPOINT_URL_SQS: queueEndpoint.url,
    SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
    DENSITY_PENDING_LIMIT: "20",
    MAX_WORKERS: "10",
    ...settings,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const addressOf = (queue: QueueName) => addresses.get(queue) ?? "";
  return {
    tables,
    queues: queueEndpoint,
    addressOf,
    /** Sends messages to a queue: of a job by its id, or any text. */
    send: async (queue: QueueName, ...messages: readonly (string | { readonly operationId: string })[]) => {
      for (const message of messages) {
        const MessageBody =
          typeof message === "string"
            ? message
            : JSON.stringify({ version: 1, operationId: message.operationId });
        await client.send(new SendMessageCommand({ QueueUrl: addressOf(queue), MessageBody }));
      }
    },
    /** Receives at most ten messages of a queue, as the event of a batch. */
    receive: async (queue: QueueName) => {
      const asked = { QueueUrl: addressOf(queue), MaxNumberOfMessages: 10 };
      const command = new ReceiveMessageCommand({ ...asked, MessageSystemAttributeNames: ["All"] });
      const { Messages = [] } = await client.send(command);
      return queueEvent(
        `arn:aws:sqs:eu-west-1:000000000000:${queue}`,
        z.array(messageSchema).parse(Messages),
      );
    },
    /** Deletes all messages of a queue, including hidden ones. */
    purge: async (queue: QueueName) => {
      await client.send(new PurgeQueueCommand({ QueueUrl: addressOf(queue) }));
    },
    /** The numbers of seconds for which a received message was hidden. */
    hidden: ({ Records }: SQSEvent, index = 0): readonly unknown[] =>
      queueEndpoint.calls
        .filter(({ operation, parameters }) => {
          const isOfMessage = parameters.ReceiptHandle === Records[index]?.receiptHandle;
          return operation === "ChangeMessageVisibility" && isOfMessage;
        })
        .map(({ parameters }) => parameters.VisibilityTimeout),
    close: async () => {
      vi.unstubAllEnvs();
      client.destroy();
      await Promise.all([tables.close(), queueEndpoint.close()]);
    },
  };
}

/**
 * Lets stores of jobs use tables of their own until `vi.unstubAllEnvs`. The service's sweep would queue pending jobs, and
 * its workers would take permits and continue jobs that wait for one.
 */
export async function useOwnJobs(): Promise<void> {
  for (const table of [densityJobs, densityCallers, densityPermits]) await useOwnTable(table);
}

/** Calls a worker as Lambda does, with so much time left, and returns the ids of failed messages. */
export async function run(
  handler: (
    event: unknown,
    invocation: { getRemainingTimeInMillis: () => number },
  ) => Promise<SQSBatchResponse>,
  event: SQSEvent,
  milliseconds = 300_000,
): Promise<readonly string[]> {
  const { batchItemFailures } = await handler(event, { getRemainingTimeInMillis: () => milliseconds });
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** Stores densities of two cells of a new tile and returns the request for them in an hour to come. */
export async function storeDensities(
  tile = freshTile(),
): Promise<{ readonly tile: string; readonly request: Job["request"] }> {
  const slots = new Map<number, Slot>([
    [cellIn(1, 1), 1_234],
    [cellIn(1, 2), "low"],
  ]);
  await Promise.all(Array.from({ length: 7 }, (_, day) => storeTile(tile, `week#${day + 1}`, slots)));
  return { tile, request: requestIn(boxIn(tile, [1, 1], [1.2, 2])) };
}

/** A request for an area in hours to come. */
export function requestIn(boundary: Job["request"]["area"]["boundary"], hours = 1): Job["request"] {
  return { area: { areaType: "POLYGON", boundary }, ...hoursToCome(hours), precision };
}

const ownSignal = () => AbortSignal.timeout(60_000);
const anything = z.looseObject({});

/** Stores a job and reserves its place among those of its caller. */
export async function storeJob(stored: Job): Promise<Job> {
  await putItem(densityJobs, itemOf(stored), {}, ownSignal());
  if (!(await jobStore.reservePlace(stored, Number.MAX_SAFE_INTEGER, ownSignal())))
    throw new Error("no place for a job");
  return stored;
}

/** The stored item of a job. */
export async function storedJob(operationId: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return await getItem(withSchema(densityJobs, anything), { operationId }, ownSignal());
}

/** The ids of the operations that count as pending for a caller, by its hash. */
export async function pendingOf(caller: string): Promise<ReadonlySet<string>> {
  const found = await getItem(densityCallers, { caller }, ownSignal());
  return new Set(Object.keys(found?.places ?? {}));
}

/** The body of the synchronous answer to a job's request. */
export async function synchronousBody({ request, requestedAt }: Job): Promise<string> {
  const now = new Date(requestedAt);
  const question = parseDensityRequest(request, now);
  if ("code" in question) throw new Error(question.code);
  const chunks: Buffer[] = [];
  for await (const chunk of bodyOf(await answerTo(question, ownSignal()))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The body that a sink receives: that of an answer with the operation's id as its first member. */
export function deliveredBody(operationId: string, body: string): string {
  return body.replace("{", `{${JSON.stringify("operationId")}:${JSON.stringify(operationId)},`);
}
