import { deadlineFactor } from "../environment.ts";

/** The part of Lambda's context that the time of a request follows from. */
export interface Invocation {
  readonly getRemainingTimeInMillis: () => number;
}

/** Ends a request that takes too long; answered with `TIMEOUT`. */
export class DeadlinePassed extends Error {}

/** No request takes longer, whatever the function's own time-out. */
const deadlineMilliseconds = 5_000;

/** Kept back from the function's remaining time to write the answer. */
const reserveMilliseconds = 250;

/** How long what a failed request began may take to be undone. */
const rollbackTimeoutMilliseconds = 1_000;

/** The clock of one request. */
export interface Deadline {
  /** Aborts with `DeadlinePassed`; to be handed to every call that waits. */
  readonly signal: AbortSignal;
  /** Rejects with `DeadlinePassed`, so that a request is answered while something does not listen to the signal. */
  readonly passed: Promise<never>;
  readonly stop: () => void;
  /** A signal for undoing what a failed request began, whether its own time is over or not. */
  readonly rollbackSignal: () => AbortSignal;
}

/** Starts the clock of a request: five seconds, or less if the function has less left. */
export function startDeadline({ getRemainingTimeInMillis }: Invocation): Deadline {
  const left = () => Math.max(0, getRemainingTimeInMillis() - reserveMilliseconds);
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DeadlinePassed()),
    Math.min(deadlineMilliseconds * deadlineFactor(), left()),
  );
  const passed = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  return {
    signal: controller.signal,
    passed,
    stop: () => clearTimeout(timer),
    rollbackSignal: () =>
      AbortSignal.timeout(Math.min(rollbackTimeoutMilliseconds * deadlineFactor(), left())),
  };
}
