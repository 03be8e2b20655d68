import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { resourceName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type Table, tableVariable } from "../table.ts";
import { clientDefaults, failureOf, isRetryable } from "./clients.ts";
import { timed } from "./dependency-times.ts";

let client: DynamoDBClient | undefined;

/** The SDK's own decoder matches all of the text with a regular expression first: most of the time of a large read. */
export const base64Decoder = (text: string) => Buffer.from(text, "base64");

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

/** Within a request: the attempts at a call fit into its deadline. */
async function callInTime<Output>(run: (client: DynamoDBClient) => Promise<Output>): Promise<Output> {
  client ??= timed(new DynamoDBClient({ ...clientDefaults(), base64Decoder }), "dynamodbMilliseconds");
  try {
    return await run(client);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    // The client may have used up its retry tokens; a new client starts with all of them.
    client = undefined;
    throw new Unavailable("DynamoDB", failureOf(error));
  }
}

/** The deployed name of a table. */
export function nameOf(table: Table): string {
  return resourceName(tableVariable(table));
}
