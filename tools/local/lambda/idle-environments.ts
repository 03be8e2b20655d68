import type { FunctionThread } from "./function-thread.ts";

interface Idle {
  readonly thread: FunctionThread;
  timer: NodeJS.Timeout;
}

/**
 * The environments of a function that have no event. Lambda ends them after minutes; here, where each holds tens of
 * megabytes, the last one ends sooner, and any other after half of that time.
 */
export class IdleEnvironments {
  /** The most recently used is at the end and is used first. */
  readonly #stack: Idle[] = [];
  readonly #milliseconds: number;

  /** @param milliseconds after which the last idle environment ends. */
  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Keeps an environment for the next event. */
  keep(thread: FunctionThread): void {
    const half = this.#milliseconds / 2;
    const idle: Idle = {
      thread,
      timer: after(half, () => {
        if (this.#stack.length > 1) this.#end(idle);
        else idle.timer = after(half, () => this.#end(idle));
      }),
    };
    this.#stack.push(idle);
  }

  /** The environment that was used last; undefined if none is alive. */
  take(): FunctionThread | undefined {
    for (let idle = this.#stack.pop(); idle !== undefined; idle = this.#stack.pop()) {
      clearTimeout(idle.timer);
      if (idle.thread.isAlive) return idle.thread;
    }
    return undefined;
  }

  #end(idle: Idle): void {
    this.#stack.splice(this.#stack.indexOf(idle), 1);
    void idle.thread.stop();
  }
}

function after(milliseconds: number, run: () => void): NodeJS.Timeout {
  return setTimeout(run, milliseconds).unref();
}
