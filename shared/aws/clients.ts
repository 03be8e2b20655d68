import { timeLimit } from "../environment.ts";

/** Attempts at a call, all of which fit into a request's deadline. */
const attempts = 3;

/**
 * The configuration of every AWS client. The SDK waits without a limit by default. Here connecting may take half a
 * second, the response must begin within one second and never pause for one, and all three attempts fit into a
 * request's deadline.
 */
export function clientDefaults() {
  return {
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: timeLimit(500),
      requestTimeout: timeLimit(1_000),
      socketTimeout: timeLimit(1_000),
      throwOnRequestTimeout: true,
    },
  };
}

/**
 * Errors that a later call may not have. SQS may prefix them with its own name or that of the service that throttled
 * it, as in `KMS.ThrottlingException`.
 */
const passing = new Set([
  "KmsThrottled",
  "OverLimit",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "ThrottlingException",
  "TooManyRequestsException",
  // Of a program of the operator's: the service makes no transactions.
  "TransactionConflictException",
]);

/**
 * Whether a failed call to AWS may succeed later: no response, an unreadable response, a server error or a throttle.
 * Any other error means that the call itself was wrong.
 */
export function isRetryable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const name = error.name.slice(error.name.lastIndexOf(".") + 1);
  return passing.has(name) || !("$fault" in error) || error.$fault !== "client";
}

/** The class of a failure, for the log: a code of Node.js, as of a connection that is refused, or the error's name. */
export function failureOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
