import type { NetworkCapabilities } from "./client.ts";
import type { Operation } from "./schema.d.ts";
import { ServiceError } from "./service-error.ts";

/** How long to wait. */
export interface WaitOptions {
  /** By default a day, by which every operation has ended. */
  readonly deadlineMilliseconds?: number;
  readonly signal?: AbortSignal;
}

const dayMilliseconds = 86_400_000;
/** The first and the longest pause between requests. The service may ask for longer ones. */
const pauses = { first: 500, last: 30_000 };
/** The time-out of one request. */
const callMilliseconds = 15_000;

/** An operation that has not ended, or could not be read, and the minimum wait before the next request. */
interface Unended {
  readonly notBefore: number;
}

/**
 * Polls an operation until it has ended. The pauses double, but are not shorter than the time to the operation's next
 * attempt or a `Retry-After`. Transient errors (429, 5xx, and network errors) are retried.
 * @param operation the `Location` of a 202 response, or an `operationId`.
 * @returns the ended operation, `DELIVERED` or not.
 * @throws {ServiceError} if the service refuses for good: the operation belongs to another caller or is forgotten.
 * @throws {DOMException} `TimeoutError` at the deadline; the signal's reason if it is aborted.
 */
export async function waitForOperation(
  client: NetworkCapabilities,
  operation: string,
  { deadlineMilliseconds = dayMilliseconds, signal }: WaitOptions = {},
): Promise<Operation> {
  const operationId = operation.slice(operation.lastIndexOf("/") + 1);
  const deadline = Date.now() + deadlineMilliseconds;
  for (let pause = pauses.first; ; pause = Math.min(2 * pause, pauses.last)) {
    signal?.throwIfAborted();
    const milliseconds = Math.min(callMilliseconds, Math.max(1, deadline - Date.now()));
    const answer = await ask(client, operationId, signal, milliseconds);
    if ("state" in answer) return answer;
    const wait = Math.max(pause, answer.notBefore);
    const left = deadline - Date.now();
    await sleep(Math.min(wait, left), signal);
    if (wait >= left) {
      throw new DOMException(`The operation has not ended in ${deadlineMilliseconds} ms.`, "TimeoutError");
    }
  }
}

/** Reads the operation once. */
async function ask(
  client: NetworkCapabilities,
  operationId: string,
  signal: AbortSignal | undefined,
  milliseconds: number,
): Promise<Operation | Unended> {
  const call = new AbortController();
  const timer = setTimeout(() => call.abort(), milliseconds);
  try {
    const { data, error, response } = await client.GET("/populationdensitydata/operations/{operationId}", {
      params: { path: { operationId } },
      signal: signal === undefined ? call.signal : AbortSignal.any([signal, call.signal]),
    });
    if (data !== undefined) {
      return data.state === "PENDING" ? { notBefore: untilNextAttempt(data, response) } : data;
    }
    const seconds = Number(response.headers.get("retry-after"));
    if (passes(response.status)) return { notBefore: Number.isFinite(seconds) ? seconds * 1_000 : 0 };
    throw new ServiceError(response, error);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ServiceError && !passes(error.status)) throw error;
    return { notBefore: 0 };
  } finally {
    // `fetch` of Node.js may leave a body whose abort, after the call is over, would end the process.
    clearTimeout(timer);
  }
}

function passes(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Uses the service's clock, if the response has a `Date`, because this machine's may be wrong. */
function untilNextAttempt({ nextAttemptAt }: Operation, { headers }: Response): number {
  if (nextAttemptAt === undefined) return 0;
  const now = Date.parse(headers.get("date") ?? "");
  return Date.parse(nextAttemptAt) - (Number.isNaN(now) ? Date.now() : now);
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  // A signal that has already aborted fires no event.
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
