import { AsyncLocalStorage } from "node:async_hooks";

/** The log fields of the AWS services whose calls are timed. */
type DependencyField = "dynamodbMilliseconds" | "secretsManagerMilliseconds" | "sqsMilliseconds";

/**
 * How long a request waited for each AWS service: the time during which at least one call, including its retries, was
 * in progress.
 */
export class DependencyTimes {
  readonly #times = new Map<DependencyField, { underWay: number; since: number; total: number }>();

  /** Begins a call; the returned function ends it. */
  begin(field: DependencyField): () => void {
    const time = this.#times.get(field) ?? { underWay: 0, since: 0, total: 0 };
    this.#times.set(field, time);
    if (time.underWay++ === 0) time.since = performance.now();
    return () => {
      if (--time.underWay === 0) time.total += performance.now() - time.since;
    };
  }

  /** Whole milliseconds by service, for the services that were called. A call in progress counts until now. */
  fields(): Readonly<Partial<Record<DependencyField, number>>> {
    const now = performance.now();
    const entries = [...this.#times].map(([field, { underWay, since, total }]) => [
      field,
      Math.round(total + (underWay > 0 ? now - since : 0)),
    ]);
    return Object.fromEntries(entries);
  }
}

/** The times of the current request, found by every call made while handling it. */
const timesOfRequest = new AsyncLocalStorage<DependencyTimes>();

/** Runs a function, and times in `times` the AWS calls that it makes. */
export function timeCalls<Result>(times: DependencyTimes, run: () => Result): Result {
  return timesOfRequest.run(times, run);
}

/** The part of an AWS SDK client that is used here. */
interface Client {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}

/** Makes a client time its calls, including retries, for the request that makes them. */
export function timed<Timed extends Client>(client: Timed, field: DependencyField): Timed {
  // Looked up at each call, as `super.send` would be.
  const own: Client = Object.getPrototypeOf(client);
  client.send = (command, options) => timedCall(field, () => own.send.call(client, command, options));
  return client;
}

/** Makes a call, timed for the request that makes it. */
export async function timedCall<Output>(
  field: DependencyField,
  call: () => Promise<Output>,
): Promise<Output> {
  const end = timesOfRequest.getStore()?.begin(field);
  try {
    return await call();
  } finally {
    end?.();
  }
}
