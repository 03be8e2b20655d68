import { createServer, type IncomingMessage } from "node:http";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { inject, vi } from "vitest";
import * as z from "zod";
import { answerTo } from "../../functions/population-density/answer.ts";
import { itemOf, type Job, retentionSeconds } from "../../functions/population-density/delivery/job.ts";
import { densityCallers, densityJobs } from "../../functions/population-density/delivery/tables.ts";
import { parseQuery } from "../../functions/population-density/rules.ts";
import { bodyOf } from "../../functions/population-density/tiles/json.ts";
import { getItem, putItem } from "../../shared/aws/database.ts";
import type { ConfigurationName } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import { type QueueName, queues, queueVariable } from "../../shared/sqs/queues.ts";
import { withSchema } from "../../shared/table.ts";
import { messageSchema, queueEvent } from "../../tools/local/lambda/queue-event.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { queueClient } from "../../tools/local/servers/queue-server.ts";
import { useTables } from "./database.ts";
import { boxIn, cellIn, freshTile, precision, type Slot, storeTile } from "./densities.ts";

/** A call to a server of AWS: its operation, such as `UpdateItem`, and what it was sent. */
interface AwsCall {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What becomes of a call: it goes through; it is refused; it goes through and its answer is lost. */
type Passage = "pass" | "refuse" | "lose";

/** The way to a real server, at which a test can see and stop what passes. */
export interface Gate {
  /** The calls that came, in this order. */
  readonly calls: AwsCall[];
  /** Decides on each call from now on; without a rule all of them pass. */
  rule(decide?: (call: AwsCall) => Passage | Promise<Passage>): void;
}

/** Opens the way to a server of AWS by its address. */
export async function openGate(target: string): Promise<Gate & ListeningServer> {
  const calls: AwsCall[] = [];
  let decide: Parameters<Gate["rule"]>[0];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const called = {
      operation: String(request.headers["x-amz-target"]).replace(/^.*\./, ""),
      parameters: z.looseObject({}).parse(JSON.parse(body.toString())),
    };
    calls.push(called);
    const passage = (await decide?.(called)) ?? "pass";
    if (passage === "refuse") {
      response.writeHead(500, { "content-type": "application/x-amz-json-1.0" });
      response.end('{"__type":"InternalServerError"}');
      return;
    }
    try {
      const answer = await fetch(target, { method: "POST", headers: headersOf(request), body });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (passage === "lose") response.destroy();
      else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes);
    } catch (error) {
      // Whoever waited for messages has gone, and then the server too.
      if (!response.destroyed) throw error;
    }
  });
  const rule: Gate["rule"] = (next) => {
    decide = next;
  };
  return { ...(await listen(server, 0)), calls, rule };
}

function headersOf({ headers }: IncomingMessage): Headers {
  const kept = Object.entries(headers).filter(([name]) => !/^(?:host|connection|content-length)$/.test(name));
  return new Headers(kept.map(([name, value]) => [name, String(value)]));
}

/** A place where the handlers of jobs run in this process, with the real tables and with queues of their own. */
export interface Workplace {
  readonly tables: Gate;
  readonly queues: Gate;
  readonly addressOf: (queue: QueueName) => string;
  /** Puts messages into a queue: of a job by its id, or any text. */
  send(queue: QueueName, ...messages: readonly (string | { readonly operationId: string })[]): Promise<void>;
  /** What can be received of a queue now, at most ten messages, as the event of a batch. */
  receive(queue: QueueName): Promise<SQSEvent>;
  /** Deletes what can be received of a queue now. */
  drain(queue: QueueName): Promise<void>;
  /** For how many seconds a message that was received was hidden, each time. */
  hidden({ Records }: SQSEvent, index?: number): readonly unknown[];
  close(): Promise<void>;
}

const credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** Lets modules that are imported after it work on tables and queues through gates. */
export async function openWorkplace(
  settings: Readonly<Partial<Record<ConfigurationName, string>>> = {},
): Promise<Workplace> {
  useTables();
  // What this file itself reads and writes goes around the gate: the process keeps its first client.
  await storedJob(crypto.randomUUID());
  vi.resetModules();
  const [tables, gate] = [
    await openGate(inject("databaseEndpoint")),
    await openGate(inject("queueEndpoint") ?? ""),
  ];
  const client = queueClient(inject("queueEndpoint") ?? "", credentials);
  const addresses = new Map<QueueName, string>();
  for (const queue of Object.keys(queues) as QueueName[]) {
    const Attributes = { VisibilityTimeout: "1800" };
    const { QueueUrl = "" } = await client.send(
      new CreateQueueCommand({ QueueName: `${queue}-${crypto.randomUUID()}`, Attributes }),
    );
    addresses.set(queue, QueueUrl);
    vi.stubEnv(queueVariable(queue), QueueUrl);
  }
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", tables.url);
  vi.stubEnv("AWS_ENDPOINT_URL_SQS", gate.url);
  const fitting = { SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535", DENSITY_PENDING_LIMIT: "20" };
  for (const [name, value] of Object.entries({ ...fitting, ...settings })) vi.stubEnv(name, value);

  const addressOf = (queue: QueueName) => addresses.get(queue) ?? "";
  const receive: Workplace["receive"] = async (queue) => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: addressOf(queue),
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ["All"],
      }),
    );
    const arn = `arn:aws:sqs:eu-west-1:000000000000:${queue}`;
    return queueEvent(arn, z.array(messageSchema).parse(Messages));
  };
  return {
    tables,
    queues: gate,
    addressOf,
    send: async (queue, ...messages) => {
      for (const message of messages) {
        const MessageBody =
          typeof message === "string"
            ? message
            : JSON.stringify({ version: 1, operationId: message.operationId });
        await client.send(new SendMessageCommand({ QueueUrl: addressOf(queue), MessageBody }));
      }
    },
    receive,
    drain: async (queue) => {
      for (;;) {
        const { Records } = await receive(queue);
        if (Records.length === 0) return;
        for (const { receiptHandle: ReceiptHandle } of Records) {
          await client.send(new DeleteMessageCommand({ QueueUrl: addressOf(queue), ReceiptHandle }));
        }
      }
    },
    hidden: ({ Records }, index = 0) =>
      gate.calls
        .filter(({ operation, parameters }) => {
          const isOfMessage = parameters.ReceiptHandle === Records[index]?.receiptHandle;
          return operation === "ChangeMessageVisibility" && isOfMessage;
        })
        .map(({ parameters }) => parameters.VisibilityTimeout),
    close: async () => {
      vi.unstubAllEnvs();
      vi.resetModules();
      client.destroy();
      await Promise.all([tables.close(), gate.close()]);
    },
  };
}

/** Calls a worker as Lambda does, with as much time as it has. */
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

const hour = 3_600_000;

/** Stores densities of two cells of a tile nobody else uses, and says what asks for them in the next hour. */
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

/** What asks for an area in the next hours. */
export function requestIn(boundary: Job["request"]["area"]["boundary"], hours = 1): Job["request"] {
  const start = (Math.floor(Date.now() / hour) + 1) * hour;
  return {
    area: { areaType: "POLYGON", boundary },
    startTime: new Date(start).toISOString(),
    endTime: new Date(start + hours * hour).toISOString(),
    precision,
  };
}

/** A job as it is stored with a request; of a caller nobody else uses. */
export function someJob(sink: string, request: Job["request"], changes: Partial<Job> = {}): Job {
  const { requestedAt = Date.now() } = changes;
  return {
    operationId: crypto.randomUUID(),
    state: "pending",
    caller: hashed(crypto.randomUUID()),
    requestHash: hashed(crypto.randomUUID()),
    request,
    requestedAt,
    correlator: `correlator-${crypto.randomUUID()}`,
    sink,
    intake: crypto.randomUUID(),
    promised: false,
    ...((changes.state ?? "pending") === "pending"
      ? { pendingSince: new Date(requestedAt).toISOString() }
      : {}),
    attempts: 0,
    mode: "answer",
    possiblyDelivered: false,
    expiresAt: Math.ceil(requestedAt / 1_000) + retentionSeconds,
    ...changes,
  };
}

const ownSignal = () => AbortSignal.timeout(10_000);
const anything = z.looseObject({});

/** Stores a job, and counts it among those of its caller. */
export async function storeJob(stored: Job): Promise<Job> {
  await putItem(densityJobs, itemOf(stored), {}, ownSignal());
  const { caller, operationId, expiresAt } = stored;
  const operations = new Set([...(await pendingOf(caller)), operationId]);
  await putItem(densityCallers, { caller, operations, expiresAt }, {}, ownSignal());
  return stored;
}

/** What the table holds of a job. */
export async function storedJob(operationId: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return await getItem(withSchema(densityJobs, anything), { operationId }, ownSignal());
}

/** The operations that are counted as pending of a caller, by its hash. */
export async function pendingOf(caller: string): Promise<ReadonlySet<string>> {
  const found = await getItem(densityCallers, { caller }, ownSignal());
  return found?.operations ?? new Set();
}

/** The body of the answer that is given at once to what a job asks. */
export async function synchronousBody({ request, requestedAt }: Job): Promise<string> {
  const now = new Date(requestedAt);
  const question = parseQuery(request, now);
  if ("code" in question) throw new Error(question.code);
  const chunks: Buffer[] = [];
  for await (const chunk of bodyOf(await answerTo(question, now, ownSignal()))) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** What a sink gets: the body of an answer with the operation's id as its first member. */
export function deliveredBody(operationId: string, body: string): string {
  return body.replace("{", `{${JSON.stringify("operationId")}:${JSON.stringify(operationId)},`);
}
