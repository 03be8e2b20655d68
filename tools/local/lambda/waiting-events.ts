import type { Invocation } from "./function-thread.ts";

/** An event that waits for an execution environment. */
export interface WaitingEvent {
  /** JSON text. */
  readonly event: string;
  /** To be called with its invocation when it has begun to run. */
  readonly begin: (invocation: Invocation) => void;
  readonly fail: (error: unknown) => void;
}

/** Events that wait for an execution environment, in the order in which they came. */
export class WaitingEvents {
  readonly #events: (WaitingEvent & { readonly timer: NodeJS.Timeout })[] = [];

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** Resolves when the event has begun to run; it fails with what `late` returns if that takes too long. */
  add(event: string, milliseconds: number, late: () => Error): Promise<Invocation> {
    return new Promise((begin, fail) => {
      const timer = setTimeout(() => {
        this.#events.splice(this.#events.indexOf(waiting), 1);
        fail(late());
      }, milliseconds);
      const waiting = { event, begin, fail, timer };
      this.#events.push(waiting);
    });
  }

  /** Removes the event that has waited longest; the caller must begin it or let it fail. */
  next(): WaitingEvent | undefined {
    const next = this.#events.shift();
    clearTimeout(next?.timer);
    return next;
  }
}
