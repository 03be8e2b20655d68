/**
 * How every AWS client of the service is set up. The SDK's own default waits for ever: here a connection has
 * half a second, an answer one second to begin and never a second of silence, and three attempts in all fit
 * into a request's deadline.
 */
export const clientDefaults = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 500,
    requestTimeout: 1_000,
    socketTimeout: 1_000,
    throwOnRequestTimeout: true,
  },
} as const;

/** Names of refusals that mean "later", not "never". */
const throttled = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingException",
  "TooManyRequestsException",
]);

/**
 * Whether a failed call to AWS is trouble at the other end: no answer, an answer that cannot be read, an
 * error of the server or a throttle. What is left is a call we made wrongly.
 */
export function isTrouble(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return throttled.has(error.name) || !("$fault" in error) || error.$fault !== "client";
}
