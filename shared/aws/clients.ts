import { timeLimit } from "../environment.ts";

/** Within this time the response to an attempt must begin. */
export const attemptMilliseconds = 1_000;

/**
 * The configuration of every AWS client. By default the SDK waits without limit. Here connecting may take half a
 * second, the response must begin within one second and never pause for longer, and all three attempts fit into a
 * request's deadline.
 */
export function clientDefaults(maxAttempts = 3, milliseconds = attemptMilliseconds) {
  return {
    maxAttempts,
    requestHandler: {
      connectionTimeout: timeLimit(Math.min(500, milliseconds)),
      requestTimeout: timeLimit(milliseconds),
      socketTimeout: timeLimit(milliseconds),
      throwOnRequestTimeout: true,
    },
  };
}

/** The time limit of a call by a program that can wait longer than a request: an import, or a command of an operator. */
const callMilliseconds = 60_000;

/** A signal that ends such a call in time. */
export const inTime = () => AbortSignal.timeout(callMilliseconds);

/**
 * Transient errors. SQS may prefix them with its own name or that of the service that throttled it, as in
 * `KMS.ThrottlingException`.
 */
const passing = new Set([
  "KmsThrottled",
  "OverLimit",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "ThrottlingException",
  "TooManyRequestsException",
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

/** Whether a failed attempt got no whole answer: nothing came in time, or the connection failed. */
export function isSilence(error: Error): boolean {
  return !("$fault" in error) && (error.name === "TimeoutError" || "code" in error);
}

/** The class of a failure, for the log: a Node.js error code such as `ECONNREFUSED`, or the error's name. */
export function failureOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
