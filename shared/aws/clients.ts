import { deadlineFactor } from "../environment.ts";

/**
 * How every AWS client of the service is set up. The SDK's own default waits for ever: here a connection has
 * half a second, an answer one second to begin and never a second of silence, and three attempts in all fit
 * into a request's deadline.
 */
export function clientDefaults() {
  const factor = deadlineFactor();
  return {
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 500 * factor,
      requestTimeout: 1_000 * factor,
      socketTimeout: 1_000 * factor,
      throwOnRequestTimeout: true,
    },
  };
}

/**
 * Names of refusals that mean "later", not "never". SQS may put its own name before them, or that of the service which
 * refused it, as in `KMS.ThrottlingException`.
 */
const throttled = new Set([
  "KmsThrottled",
  "OverLimit",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "ThrottlingException",
  "TooManyRequestsException",
]);

/**
 * Whether a failed call to AWS is trouble at the other end: no answer, an answer that cannot be read, an
 * error of the server or a throttle. What is left is a call we made wrongly.
 */
export function isRetryable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const name = error.name.slice(error.name.lastIndexOf(".") + 1);
  return throttled.has(name) || !("$fault" in error) || error.$fault !== "client";
}
