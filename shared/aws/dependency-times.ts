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

/**
 * By the signal that a request passes to all its calls. `AsyncLocalStorage` would not need one, but makes every promise
 * of the process dearer before Node.js 24.
 */
const timesBySignal = new WeakMap<AbortSignal, DependencyTimes>();

/** Times the calls to AWS that get this signal. */
export function timeCalls(signal: AbortSignal, times: DependencyTimes): void {
  timesBySignal.set(signal, times);
}

/** Times the calls of another signal as those of a request's own. Returns the other signal. */
export function timedLike(own: AbortSignal, other: AbortSignal): AbortSignal {
  const times = timesBySignal.get(own);
  if (times !== undefined) timeCalls(other, times);
  return other;
}

/** Times a call, with its retries, for the request whose signal it gets. */
async function timedCall<Output>(
  signal: AbortSignal | undefined,
  field: DependencyField,
  run: () => Promise<Output>,
): Promise<Output> {
  const end = signal && timesBySignal.get(signal)?.begin(field);
  try {
    return await run();
  } finally {
    end?.();
  }
}

/** What every client of the AWS SDK has. */
interface Client {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}

/** Lets a client time its calls, with their retries, for the request whose signal they get. */
export function timed<Timed extends Client>(client: Timed, field: DependencyField): Timed {
  // As with `super.send`, the class's method is looked up at each call.
  const own: Client = Object.getPrototypeOf(client);
  client.send = async (command, options) => {
    return await timedCall(options?.abortSignal, field, () => own.send.call(client, command, options));
  };
  return client;
}
