import { setting } from "./environment.ts";
import { CACHE_SECONDS } from "./variables/cache-seconds.ts";

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** When the load of the value began. */
  readonly loadedAt: number;
}

/**
 * A cache of table reads that may be stale: for `CACHE_SECONDS`, a read returns the previous result, even if nothing
 * was found. Holds at most `maxBytes`, and evicts the least recently used entries first.
 *
 * Concurrent reads of a key share one load. If it fails, each waiter then loads for itself, because the load may have
 * failed only because the request that began it was aborted.
 */
export class ReadCache<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (value: Value) => number;
  readonly #clock: () => number;
  readonly #maxMillisecondsOf: (value: Value) => number;
  readonly #minMilliseconds: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loads = new Map<string, Promise<ReadonlyMap<string, Value>>>();
  #bytes = 0;

  /**
   * @param bytesOf estimates the memory of a value.
   * @param maxMillisecondsOf the age up to which a value is returned, if that is less than `CACHE_SECONDS`.
   * @param minMilliseconds the age up to which a value is returned even if `CACHE_SECONDS` is less.
   */
  constructor(
    maxBytes: number,
    bytesOf: (value: Value) => number,
    clock: () => number = Date.now,
    maxMillisecondsOf: (value: Value) => number = () => Number.POSITIVE_INFINITY,
    minMilliseconds = 0,
  ) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
    this.#clock = clock;
    this.#maxMillisecondsOf = maxMillisecondsOf;
    this.#minMilliseconds = minMilliseconds;
  }

  /**
   * The value of a key. Throws what `load` throws.
   * @param load receives the stale value, if any.
   */
  async get(key: string, load: (before: Value | undefined) => Promise<Value>): Promise<Value> {
    const before = this.#entries.get(key)?.value;
    const found = await this.getAll([key], async () => new Map([[key, await load(before)]]));
    return found.get(key) as Value;
  }

  /**
   * The values of distinct keys. Throws what `load` throws.
   * @param load reads the keys it is given, and returns a value for each.
   */
  async getAll(
    keys: readonly string[],
    load: (missing: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>> {
    const maxAge = Math.max(setting(CACHE_SECONDS) * 1_000, this.#minMilliseconds);
    if (maxAge === 0) return await load(keys);
    const found = new Map<string, Value>();
    const shared = new Map<string, Promise<ReadonlyMap<string, Value>>>();
    const missing: string[] = [];
    for (const key of keys) {
      const entry = this.#fresh(key, maxAge);
      const loading = this.#loads.get(key);
      if (entry !== undefined) found.set(key, entry.value);
      else if (loading !== undefined) shared.set(key, loading);
      else missing.push(key);
    }
    const own = missing.length === 0 ? undefined : this.#load(missing, load);
    // Waits for all of them even if one fails, so that no rejection is unhandled.
    await Promise.allSettled([own, ...shared.values()]);
    for (const [key, value] of (await own) ?? []) found.set(key, value);
    const failed: string[] = [];
    for (const [key, loading] of shared) {
      const loaded = await loading.catch(() => undefined);
      if (loaded === undefined) failed.push(key);
      else found.set(key, loaded.get(key) as Value);
    }
    if (failed.length > 0) for (const [key, value] of await this.#load(failed, load)) found.set(key, value);
    return found;
  }

  #fresh(key: string, maxAge: number): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    const age = this.#clock() - entry.loadedAt;
    if (age >= Math.min(maxAge, this.#maxMillisecondsOf(entry.value))) return undefined;
    this.#add(key, entry);
    return entry;
  }

  async #load(
    keys: readonly string[],
    load: (missing: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>> {
    const loadedAt = this.#clock();
    const loading = load(keys);
    for (const key of keys) this.#loads.set(key, loading);
    try {
      const loaded = await loading;
      for (const [key, value] of loaded) this.#store(key, value, loadedAt);
      return loaded;
    } finally {
      for (const key of keys) if (this.#loads.get(key) === loading) this.#loads.delete(key);
    }
  }

  #store(key: string, value: Value, loadedAt: number): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#remove(key, before);
    this.#add(key, { value, bytes: entryBytes + this.#bytesOf(value), loadedAt });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest, entry);
    }
  }

  #add(key: string, entry: Entry<Value>): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #remove(key: string, { bytes }: Entry<Value>): void {
    this.#entries.delete(key);
    this.#bytes -= bytes;
  }
}

/** The approximate memory of a key and an entry, without the value. */
const entryBytes = 256;
