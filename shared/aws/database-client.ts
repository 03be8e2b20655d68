import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { resourceName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type Table, tableVariable } from "../table.ts";
import { clientDefaults, failureOf, isRetryable } from "./clients.ts";
import { timed } from "./dependency-times.ts";

let client: DynamoDBClient | undefined;

/** The SDK's own decoder matches all of the text with a regular expression first: most of the time of a large read. */
export const base64Decoder = (text: string) => Buffer.from(text, "base64");

/** Attempts at a call that conflicts with transactions; the pauses between them double. */
const conflictAttempts = 4;
const conflictPauseMilliseconds = 20;

/**
 * Makes one call to DynamoDB.
 * @throws {Unavailable} when the table did not answer; any other error is a fault of this code.
 */
export type Call = <Output extends object>(
  run: (client: DynamoDBClient) => Promise<Output>,
) => Promise<Output>;

let callNow: Call = callInTime;

/**
 * Makes all calls of this process in another way, for programs that may wait longer than a request.
 * @returns what makes them as before again.
 */
export function useCall(other: Call): () => void {
  const before = callNow;
  callNow = other;
  return () => {
    callNow = before;
  };
}

/** Makes one call as the process makes all of them. */
export const call: Call = (run) => callNow(run);

/** Within a request: a call is repeated when it conflicts with a transaction on the same items. */
async function callInTime<Output>(run: (client: DynamoDBClient) => Promise<Output>): Promise<Output> {
  for (let attempt = 1; ; attempt++) {
    client ??= timed(new DynamoDBClient({ ...clientDefaults(), base64Decoder }), "dynamodbMilliseconds");
    try {
      return await run(client);
    } catch (error) {
      const isConflict = isTransactionConflict(error);
      if (isConflict && attempt < conflictAttempts) {
        await wait(Math.random() * conflictPauseMilliseconds * 2 ** attempt);
        continue;
      }
      if (!isConflict && !isRetryable(error)) throw error;
      // The client may have used up its retry tokens; a new client starts with all of them.
      client = undefined;
      throw new Unavailable("DynamoDB", failureOf(error));
    }
  }
}

const conflictErrors = new Set(["TransactionConflictException", "TransactionInProgressException"]);
const passingReasons = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

/** Whether a call failed only because of a concurrent transaction or a throttle, so that it may succeed later. */
export function isTransactionConflict(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (!(error instanceof TransactionCanceledException)) return conflictErrors.has(error.name);
  const codes = (error.CancellationReasons ?? []).map(({ Code = "None" }) => Code);
  return (
    codes.some((code) => passingReasons.has(code)) &&
    codes.every((code) => code === "None" || passingReasons.has(code))
  );
}

/** The deployed name of a table. */
export function nameOf(table: Table): string {
  return resourceName(tableVariable(table));
}
