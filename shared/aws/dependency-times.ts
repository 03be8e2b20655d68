import { AsyncLocalStorage } from "node:async_hooks";

/** The AWS services whose calls are timed, by the field of the log line. */
type DependencyField = "dynamodbMilliseconds" | "secretsManagerMilliseconds" | "sqsMilliseconds";

/**
 * How long a request waited for each AWS service: the time in which at least one call was under way, with its retries.
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

  /** Whole milliseconds by service, for the services that were called. A call that still runs counts until now. */
  fields(): Readonly<Partial<Record<DependencyField, number>>> {
    const now = performance.now();
    const entries = [...this.#times].map(([field, { underWay, since, total }]) => [
      field,
      Math.round(total + (underWay > 0 ? now - since : 0)),
    ]);
    return Object.fromEntries(entries);
  }
}

/** The times of the request that is being answered, for every call that its handling makes, however deep. */
const timesOfRequest = new AsyncLocalStorage<DependencyTimes>();

/** Times the calls to AWS that are made while something runs, in `times`. */
export function timeCalls<Result>(times: DependencyTimes, run: () => Result): Result {
  return timesOfRequest.run(times, run);
}

/** What every client of the AWS SDK has. */
interface Client {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}

/** Lets a client time its calls, with their retries, for the request during which they are made. */
export function timed<Timed extends Client>(client: Timed, field: DependencyField): Timed {
  // As with `super.send`, the class's method is looked up at each call.
  const own: Client = Object.getPrototypeOf(client);
  client.send = async (command, options) => {
    const end = timesOfRequest.getStore()?.begin(field);
    try {
      return await own.send.call(client, command, options);
    } finally {
      end?.();
    }
  };
  return client;
}
