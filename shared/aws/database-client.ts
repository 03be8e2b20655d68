import {
  type BatchStatementError,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import { resourceName, timeLimit } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type Table, tableVariable } from "../table.ts";
import { attemptMilliseconds, clientDefaults, failureOf, isRetryable, isSilence } from "./clients.ts";
import { timed } from "./dependency-times.ts";

let client: DynamoDBClient | undefined;

/**
 * Replaces the SDK's decoder, which first matches the whole text with a regular expression; that took most of the time
 * of a large read.
 */
const base64Decoder = (text: string) => Buffer.from(text, "base64");

/**
 * Steps of the SDK that take a tenth of the processor time of a call, and that no table needs: a debug log that is off,
 * a trace header that stops loops of SQS and Lambda, and the list of features that the user agent names.
 */
const unusedSteps = ["loggerMiddleware", "recursionDetectionMiddleware", "getUserAgentMiddleware"];

/** A client without those steps. */
export function leanClient(config: DynamoDBClientConfig): DynamoDBClient {
  const made = new DynamoDBClient({ ...config, base64Decoder });
  for (const step of unusedSteps) made.middlewareStack.remove(step);
  // The last step before the connection: here a refusal is an answer too.
  made.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      noteAnswer(made);
      return answer;
    },
    { step: "deserialize", priority: "low" },
  );
  return made;
}

/** Clients that have had an answer, and so may have a kept connection. */
const answered = new WeakSet<DynamoDBClient>();
/** When DynamoDB last answered any client of this process. */
let answeredAt: number | undefined;

/** Notes that DynamoDB has answered a call of a client. */
export function noteAnswer(to: DynamoDBClient): void {
  answered.add(to);
  answeredAt = performance.now();
}

/** Whether a client may have a kept connection. */
export function mayBeConnected(from: DynamoDBClient): boolean {
  return answered.has(from);
}

/** Whether DynamoDB has answered any client of this process. */
export function hasAnswered(): boolean {
  return answeredAt !== undefined;
}

/** The client of requests, whose attempts all fit into the deadline. */
export function requestClient(): DynamoDBClient {
  client ??= timed(leanClient(clientDefaults()), "dynamodbMilliseconds");
  return client;
}

/** No whole answer came from DynamoDB; any other `Unavailable` is one that it gave, or had no time to give. */
export class Unanswered extends Unavailable {}

/**
 * Makes one call to DynamoDB, of one table.
 * @throws {Unavailable} if the table did not answer; any other error is a bug in this code.
 */
export type DatabaseCall = <Output extends object>(
  run: (client: DynamoDBClient) => Promise<Output>,
  table: Pick<Table, "name">,
) => Promise<Output>;

let currentCall: DatabaseCall = callWithinDeadline;

/**
 * Replaces how this process makes its calls, for programs that may wait longer than a request.
 * @returns a function that restores the previous way.
 */
export function useDatabaseCall(other: DatabaseCall): () => void {
  const before = currentCall;
  currentCall = other;
  return () => {
    currentCall = before;
  };
}

/** Makes one call in the way that is set for the process. */
export const callDatabase: DatabaseCall = (run, table) => currentCall(run, table);

/** The way of functions: all attempts fit into the deadline of a request. */
export async function callWithinDeadline<Output>(
  run: (client: DynamoDBClient) => Promise<Output>,
): Promise<Output> {
  return await callIn(attemptMilliseconds, () => run(requestClient()));
}

/** What a call may take that finds out whether a table answers again. */
export const tryMilliseconds = 300;

/** Finds out by one call, in one short attempt, whether a table answers again that did not. */
export async function tryDatabase<Output>(run: (client: DynamoDBClient) => Promise<Output>): Promise<Output> {
  const to = timed(leanClient(clientDefaults(1, tryMilliseconds)), "dynamodbMilliseconds");
  try {
    return await callIn(0, () => run(to));
  } finally {
    to.destroy();
  }
}

/** @param silence after how many milliseconds a call that its caller ends is one that was not answered. */
async function callIn<Output>(silence: number, run: () => Promise<Output>): Promise<Output> {
  const began = performance.now();
  try {
    return await run();
  } catch (error) {
    if (!isRetryable(error)) throw error;
    // The client may have used up its retry tokens; a new client starts with all of them.
    client = undefined;
    const silent = performance.now() - Math.max(began, answeredAt ?? began);
    const isEnded = error.name === "AbortError";
    const Failure = (isEnded ? silent >= timeLimit(silence) : isSilence(error)) ? Unanswered : Unavailable;
    throw new Failure("DynamoDB", failureOf(error));
  }
}

/** The deployed name of a table. */
export function nameOf(table: Table): string {
  return resourceName(tableVariable(table));
}

/** Codes of the statements of a batch that may succeed when they are executed again. */
const transientCodes = new Set<BatchStatementError["Code"]>([
  "InternalServerError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "ThrottlingError",
  "TransactionConflict",
]);

/** Whether a statement of a batch must be executed again: the call succeeds although some of its statements do not. */
export function isThrottledStatement({ Code }: BatchStatementError): boolean {
  return transientCodes.has(Code);
}
