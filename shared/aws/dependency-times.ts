import { AsyncLocalStorage } from "node:async_hooks";

/** The AWS services whose calls are timed, by the field of the log line. */
type DependencyField = "dynamodbMilliseconds" | "secretsManagerMilliseconds" | "sqsMilliseconds";

/** How long a request waited for each AWS service: the time in which at least one call was under way, with its retries. */
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

const current = new AsyncLocalStorage<DependencyTimes>();

/** Runs a request whose calls to AWS are timed. */
export function timing<Result>(times: DependencyTimes, run: () => Result): Result {
  return current.run(times, run);
}

/** What every client of the AWS SDK has. */
interface Client {
  readonly middlewareStack: {
    add(
      middleware: <Input, Output>(
        next: (input: Input) => Promise<Output>,
      ) => (input: Input) => Promise<Output>,
      options: { readonly step: "initialize"; readonly name: string },
    ): void;
  };
}

/** Lets a client time its calls for the request that makes them. */
export function timed<Timed extends Client>(client: Timed, field: DependencyField): Timed {
  client.middlewareStack.add(
    (next) => async (input) => {
      const end = current.getStore()?.begin(field);
      try {
        return await next(input);
      } finally {
        end?.();
      }
    },
    { step: "initialize", name: "dependencyTimes" },
  );
  return client;
}
