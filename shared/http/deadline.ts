import { timeLimit } from "../environment.ts";

/** The part of Lambda's context that names an invocation and limits its time. */
export interface Invocation {
  readonly awsRequestId?: string;
  readonly getRemainingTimeInMillis: () => number;
}

/** Ends a request that takes too long; answered with `TIMEOUT`. */
export class DeadlinePassed extends Error {}

/**
 * Ends an invocation whose caller does not read its response in time, or has gone: then the cause is what the
 * connection failed with. Alarms leave its name out.
 */
export class CallerTooSlow extends Error {
  override readonly name = "CallerTooSlow";

  constructor(options?: ErrorOptions) {
    super(undefined, options);
  }
}

/** The maximum duration of a request, if the function's own time-out is longer. */
const deadlineMilliseconds = 5_000;

/** The maximum duration of a streamed body, from its first byte on. */
const bodyMilliseconds = 20_000;

/** The time-out of a function that streams: a request, its body, and two seconds of reserve. */
export const streamingSeconds = (deadlineMilliseconds + bodyMilliseconds) / 1_000 + 2;

/** Reserved at the end of the function's time to write the response. */
const reserveMilliseconds = 250;

/** The time-out of a rollback. */
const rollbackTimeoutMilliseconds = 1_000;

/** The clock of one request. */
export interface Deadline {
  /** Aborts with `DeadlinePassed`; pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** Rejects with `DeadlinePassed`, so that a request is answered even if a call ignores the signal. */
  readonly passed: Promise<never>;
  readonly stop: () => void;
  /** A new signal for the rollback, with a time-out of its own. */
  readonly rollbackSignal: () => AbortSignal;
}

/** Starts the clock of a request: five seconds, or less if the function has less left. */
export function startDeadline({
  getRemainingTimeInMillis,
}: Pick<Invocation, "getRemainingTimeInMillis">): Deadline {
  const left = () => Math.max(0, getRemainingTimeInMillis() - reserveMilliseconds);
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DeadlinePassed()),
    Math.min(timeLimit(deadlineMilliseconds), left()),
  );
  const passed = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  return {
    signal: controller.signal,
    passed,
    stop: () => clearTimeout(timer),
    rollbackSignal: () => AbortSignal.timeout(Math.min(timeLimit(rollbackTimeoutMilliseconds), left())),
  };
}

/** The time-out of what is stored when a streamed response has ended. */
export function afterResponseSignal(): AbortSignal {
  return AbortSignal.timeout(timeLimit(rollbackTimeoutMilliseconds));
}

/** Aborts when the time for a streamed body is over: 20 seconds, or less if the function has less left. */
export function bodySignal({ getRemainingTimeInMillis }: Invocation): AbortSignal {
  const left = Math.max(0, getRemainingTimeInMillis() - reserveMilliseconds);
  return AbortSignal.timeout(Math.min(bodyMilliseconds, left));
}
