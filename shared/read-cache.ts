import { setting } from "./environment.ts";

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** When the load began that returned the value. */
  readonly loadedAt: number;
}

/**
 * What this process has read of a table, for reads on which nothing depends: for `CACHE_SECONDS` they return what they
 * returned before, also that there was nothing. At most `maxBytes` are kept; what was used longest ago goes first.
 *
 * Concurrent reads of a key share one load. If a load fails, each waiter then loads for itself: it may
 * have failed because the request that began it was aborted.
 */
export class ReadCache<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (value: Value) => number;
  readonly #clock: () => number;
  /** The one used longest ago first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loads = new Map<string, Promise<ReadonlyMap<string, Value>>>();
  #bytes = 0;

  /** @param bytesOf the memory that a value keeps, as far as values differ in it. */
  constructor(maxBytes: number, bytesOf: (value: Value) => number, clock: () => number = Date.now) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
    this.#clock = clock;
  }

  /** The value of a key. Throws what `load` throws. */
  async get(key: string, load: () => Promise<Value>): Promise<Value> {
    const found = await this.getAll([key], async () => new Map([[key, await load()]]));
    return found.get(key) as Value;
  }

  /**
   * The values of distinct keys. Throws what `load` throws.
   * @param load reads the keys that it gets, all of them with a value.
   */
  async getAll(
    keys: readonly string[],
    load: (missing: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>> {
    const maxAge = setting("CACHE_SECONDS") * 1_000;
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
    // Waits for the others even if one of them fails: nothing is left behind unhandled.
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
    if (this.#clock() - entry.loadedAt >= maxAge) return undefined;
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

/** About what a key and an entry take besides the value. */
const entryBytes = 256;
