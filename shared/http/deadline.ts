import { timeLimit } from "../environment.ts";

/** The part of Lambda's context that identifies an invocation and limits its time. */
export interface Invocation {
  readonly awsRequestId?: string;
  readonly getRemainingTimeInMillis: () => number;
}

/** A request has exceeded its deadline; answered with `TIMEOUT`. */
export class DeadlinePassed extends Error {}

/**
 * The caller did not read the response in time, or disconnected; then the cause is the connection's error. Alarms
 * ignore it by its name.
 */
export class CallerTooSlow extends Error {
  override readonly name = "CallerTooSlow";

  constructor(options?: ErrorOptions) {
    super(undefined, options);
  }
}

/** The maximum duration of a request, unless the function's time-out is shorter. */
export const deadlineMilliseconds = 5_000;

/** The maximum duration of a streamed body, from its first byte. */
const bodyMilliseconds = 20_000;

/** The time-out of a streaming function: request, body, and two seconds of reserve. */
export const streamingSeconds = (deadlineMilliseconds + bodyMilliseconds) / 1_000 + 2;

/** Reserved at the end of the function's time to write the response. */
const reserveMilliseconds = 250;

/** The time-out of a rollback. */
const rollbackTimeoutMilliseconds = 1_000;

/** The deadline of one request. */
export interface Deadline {
  /** Aborts with `DeadlinePassed`; pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** Rejects with `DeadlinePassed`, so that a request is answered even if a call ignores the signal. */
  readonly passed: Promise<never>;
  readonly stop: () => void;
  /** A new signal for the rollback, with a time-out of its own. */
  readonly rollbackSignal: () => AbortSignal;
}

/** Starts the deadline of a request: five seconds, or less if the function has less time left. */
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

/** The time-out of writes after a streamed response has ended. */
export function afterResponseSignal(): AbortSignal {
  return AbortSignal.timeout(timeLimit(rollbackTimeoutMilliseconds));
}

/**
 * Starts the deadline of a streamed body: 20 seconds, or less if the function has less time left.
 * @returns a function that stops it, so that nothing of a response that has been sent is kept until then.
 */
export function startBodyDeadline(
  { getRemainingTimeInMillis }: Invocation,
  onPassed: () => void,
): () => void {
  const left = Math.max(0, getRemainingTimeInMillis() - reserveMilliseconds);
  const timer = setTimeout(onPassed, Math.min(bodyMilliseconds, left)).unref();
  return () => clearTimeout(timer);
}
