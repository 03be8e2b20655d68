import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Unavailable } from "../errors.ts";
import { failureOf, isRetryable } from "./clients.ts";
import { connectionProblem } from "./connection.ts";
import { base64Decoder, type Call, useCall } from "./database-client.ts";
import { Pace } from "./pace.ts";

/** For what an import asks of a table, all attempts and their pauses together. */
export const patienceMilliseconds = 120_000;

const maxAttempts = 15;
const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 5_000;

/** Of calls under way: 32 batches of 25 items of 1 KB are more than two partitions can write in a second. */
const maxCalls = 32;

/**
 * Makes the calls of a program that has time: while a table throttles, fewer calls are under way, and each is made up
 * to 15 times with growing pauses, unless the caller's signal ends it. The SDK's own adaptive mode does not do: it does
 * not see what a batch leaves unprocessed, and gives up once 500 tokens are used (docs/decisions/0017).
 */
export async function withPatientCalls<Result>(run: () => Promise<Result>): Promise<Result> {
  const client = new DynamoDBClient({
    // The attempts are made here.
    maxAttempts: 1,
    base64Decoder,
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: 10_000,
      socketTimeout: 10_000,
      throwOnRequestTimeout: true,
    },
  });
  const restore = useCall(patientCall(client));
  try {
    return await run();
  } finally {
    restore();
    client.destroy();
  }
}

/** Calls at a pace of their own. */
function patientCall(client: DynamoDBClient): Call {
  const pace = new Pace(maxCalls);
  return async (run) => {
    for (let attempt = 1; ; attempt++) {
      const turn = await pace.turn();
      try {
        const output = await run(client);
        turn.end(isIncomplete(output) ? "throttled" : "done");
        return output;
      } catch (error) {
        const mayPass = isRetryable(error) && !isFinal(error);
        turn.end(mayPass ? "throttled" : "failed");
        if (!mayPass) throw connectionProblem(error) ?? error;
        if (attempt === maxAttempts) throw new Unavailable("DynamoDB", failureOf(error));
      }
      const longest = Math.min(longestPauseMilliseconds, firstPauseMilliseconds * 2 ** attempt);
      await wait(Math.random() * longest);
    }
  };
}

/** Whether another attempt would end like this one: the caller's deadline has passed, or there are no credentials. */
function isFinal(error: Error): boolean {
  return error.name === "AbortError" || error.name.startsWith("Credentials");
}

/** Whether a batch was not done completely, which is how DynamoDB throttles a part of it. */
function isIncomplete(output: object): boolean {
  const left = [
    "UnprocessedItems" in output ? output.UnprocessedItems : undefined,
    "UnprocessedKeys" in output ? output.UnprocessedKeys : undefined,
  ];
  return left.some((of) => typeof of === "object" && of !== null && Object.keys(of).length > 0);
}
