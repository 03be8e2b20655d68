import { FunctionThread, type FunctionThreadOptions, type InvokedFunction } from "./function-thread.ts";
import type { LogSink } from "./log-sink.ts";

/** What runs in one thread. */
export type FunctionGroup = Pick<FunctionThreadOptions, "files" | "environment">;

/**
 * The threads of a service's functions. A thread that has ended, by a fault of its functions or because it was blocked, is
 * followed by a new one at the next event.
 */
export class FunctionThreads {
  readonly #logs: LogSink;
  readonly #blockedMilliseconds: number | undefined;
  #groups: readonly FunctionGroup[] = [];
  readonly #threads = new Map<FunctionGroup, FunctionThread>();
  readonly #retired = new Set<FunctionThread>();

  /** @param blockedMilliseconds see `FunctionThreadOptions`. */
  constructor(logs: LogSink, blockedMilliseconds?: number) {
    this.#logs = logs;
    this.#blockedMilliseconds = blockedMilliseconds;
  }

  /** Has these groups from the beginning; a thread starts with its first event, or with `load`. */
  begin(groups: readonly FunctionGroup[]): void {
    this.#groups = groups;
  }

  /**
   * Loads all handlers.
   * @throws {Error} if one cannot be loaded.
   */
  async load(): Promise<void> {
    await Promise.all(this.#groups.map((group) => this.#threadOf(group).load()));
  }

  /**
   * Has these groups for all later events once their handlers are loaded; the events under way end where they began.
   * @throws {Error} if a handler cannot be loaded, and then nothing changes.
   */
  async replace(groups: readonly FunctionGroup[]): Promise<void> {
    const started = groups.map((group) => [group, this.#start(group)] as const);
    try {
      await Promise.all(started.map(([, thread]) => thread.load()));
    } catch (error) {
      await Promise.all(started.map(([, thread]) => thread.stop()));
      throw error;
    }
    for (const former of this.#threads.values()) void this.#retire(former);
    this.#threads.clear();
    for (const [group, thread] of started) this.#threads.set(group, thread);
    this.#groups = groups;
  }

  /**
   * The thread that has a function.
   * @param environment of the function in a new thread of its own, which the caller stops.
   */
  threadOf({ id }: InvokedFunction, environment?: Readonly<Record<string, string>>): FunctionThread {
    const group = this.#groups.find(({ files }) => id in files);
    const file = group?.files[id];
    if (group === undefined || file === undefined) throw new Error(`there is no function ${id}`);
    if (environment !== undefined) return this.#start({ files: { [id]: file }, environment });
    return this.#threadOf(group);
  }

  /** Ends every thread; events under way fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads.values(), ...this.#retired].map((thread) => thread.stop()));
  }

  #threadOf(group: FunctionGroup): FunctionThread {
    const running = this.#threads.get(group);
    if (running?.isAlive) return running;
    const next = this.#start(group);
    this.#threads.set(group, next);
    return next;
  }

  async #retire(thread: FunctionThread): Promise<void> {
    this.#retired.add(thread);
    await thread.retire();
    this.#retired.delete(thread);
  }

  #start(group: FunctionGroup): FunctionThread {
    return new FunctionThread({ ...group, logs: this.#logs, blockedMilliseconds: this.#blockedMilliseconds });
  }
}
