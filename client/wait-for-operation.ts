import type { NetworkCapabilities } from "./client.ts";
import type { Operation } from "./schema.d.ts";
import { ServiceError } from "./service-error.ts";

/** How long to wait. */
export interface WaitOptions {
  /** A day unless it is given: by then every operation has ended. */
  readonly deadlineMilliseconds?: number;
  readonly signal?: AbortSignal;
}

const dayMilliseconds = 86_400_000;
/** Between two questions: at first, and after several. The service may ask for more. */
const pauses = { first: 500, last: 30_000 };
/** One question. */
const callMilliseconds = 15_000;

/** An operation that has not ended, or could not be read, and for how many milliseconds not to ask again. */
interface Unended {
  readonly notBefore: number;
}

/**
 * Follows an operation until it has ended. It asks again after a while that doubles, but not before the time at which
 * the service says that the next attempt is due, nor before the `Retry-After` of a refusal. Refusals that pass (429 and
 * 5xx) and faults of the network are asked over.
 * @param operation the `Location` of a response 202, or an `operationId`.
 * @returns the ended operation, `DELIVERED` or not.
 * @throws {ServiceError} when the service refuses for good: the operation is not the caller's, or forgotten.
 * @throws {DOMException} `TimeoutError` at the deadline; the reason of the signal when it is aborted.
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
    const callSignal = AbortSignal.timeout(Math.min(callMilliseconds, Math.max(1, deadline - Date.now())));
    const answer = await ask(client, operationId, signal, callSignal);
    if ("state" in answer) return answer;
    const wait = Math.max(pause, answer.notBefore);
    const left = deadline - Date.now();
    await sleep(Math.min(wait, left), signal);
    if (wait >= left) {
      throw new DOMException(`The operation has not ended in ${deadlineMilliseconds} ms.`, "TimeoutError");
    }
  }
}

/** The operation, if it has ended. */
async function ask(
  client: NetworkCapabilities,
  operationId: string,
  signal: AbortSignal | undefined,
  callSignal: AbortSignal,
): Promise<Operation | Unended> {
  try {
    const { data, error, response } = await client.GET("/populationdensitydata/operations/{operationId}", {
      params: { path: { operationId } },
      signal: signal === undefined ? callSignal : AbortSignal.any([signal, callSignal]),
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
  }
}

function passes(status: number): boolean {
  return status === 429 || status >= 500;
}

/** By the service's clock, if the response shows it: that of this machine may be wrong. */
function untilNextAttempt({ nextAttemptAt }: Operation, { headers }: Response): number {
  if (nextAttemptAt === undefined) return 0;
  const now = Date.parse(headers.get("date") ?? "");
  return Date.parse(nextAttemptAt) - (Number.isNaN(now) ? Date.now() : now);
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  // A signal that has aborted calls nobody any more.
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
