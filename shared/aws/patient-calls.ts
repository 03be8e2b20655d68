import { setTimeout as wait } from "node:timers/promises";
import type { BatchStatementResponse, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Unavailable } from "../errors.ts";
import { failureOf, isRetryable } from "./clients.ts";
import { connectionProblem } from "./connection-problem.ts";
import { type DatabaseCall, isThrottledStatement, leanClient, useDatabaseCall } from "./database-client.ts";
import { Pace } from "./pace.ts";

/** The time limit of an import's call to a table, including all attempts and pauses. */
export const patienceMilliseconds = 120_000;

const maxAttempts = 15;
const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 5_000;

/** Maximum of concurrent calls: 32 batches of 25 items of 1 KB exceed what two partitions can write in a second. */
const maxCalls = 32;

/**
 * Runs a program that can wait for its calls, as an import can and a function cannot: while a table throttles (a new
 * on-demand table takes 4,000 write units a second, a partition 1,000), there are fewer concurrent calls, and each is
 * attempted up to 15 times with growing pauses, unless the caller's signal aborts it. The SDK's adaptive mode is not
 * enough: it ignores the unprocessed items of a batch, gives up once its 500 retry tokens are used, and may fall to one
 * call in two seconds.
 */
export async function withPatientCalls<Result>(run: () => Promise<Result>): Promise<Result> {
  const client = leanClient({
    // Retries are made here instead.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: 10_000,
      socketTimeout: 10_000,
      throwOnRequestTimeout: true,
    },
  });
  const restore = useDatabaseCall(patientCall(client));
  try {
    return await run();
  } finally {
    restore();
    client.destroy();
  }
}

/** Makes calls at a pace that adapts to throttling. */
function patientCall(client: DynamoDBClient): DatabaseCall {
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

/** Whether another attempt would fail, too: the caller's deadline has passed, or there are no credentials. */
function isFinal(error: Error): boolean {
  return error.name === "AbortError" || error.name.startsWith("Credentials");
}

/** Whether a batch was processed only in part, which is how DynamoDB throttles the rest. */
function isIncomplete(output: {
  readonly UnprocessedItems?: object;
  readonly UnprocessedKeys?: object;
  readonly Responses?: object | readonly BatchStatementResponse[];
}): boolean {
  const { UnprocessedItems = {}, UnprocessedKeys = {}, Responses } = output;
  const statements: readonly BatchStatementResponse[] = Array.isArray(Responses) ? Responses : [];
  return (
    Object.keys({ ...UnprocessedItems, ...UnprocessedKeys }).length > 0 ||
    statements.some(({ Error: error }) => error !== undefined && isThrottledStatement(error))
  );
}
