import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ReadCache } from "../../shared/read-cache.ts";

let now = 0;
let loads: string[][] = [];

const kibibyte = 1_024;
const cacheOf = (maxKibibytes = 1_000) =>
  new ReadCache<string>(
    maxKibibytes * kibibyte,
    ({ length }) => length,
    () => now,
  );

/** What a load returns of a key at the moment; each load is noted. */
const load = async (keys: readonly string[]) => {
  loads.push([...keys]);
  const at = now;
  return new Map(keys.map((key) => [key, `${key} at ${at}`]));
};
const read = async (cache: ReadCache<string>, ...keys: string[]) =>
  Object.fromEntries(await cache.getAll(keys, load));

beforeEach(() => {
  vi.stubEnv("CACHE_SECONDS", "60");
  now = 0;
  loads = [];
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("what was read", () => {
  test("the cache of reads returns a value for as long as the setting says and then loads it again", async () => {
    const cache = cacheOf();
    await read(cache, "a");
    now = 59_999;
    expect(await read(cache, "a")).toEqual({ a: "a at 0" });
    now = 60_000;
    expect(await read(cache, "a")).toEqual({ a: "a at 60000" });
    expect(loads).toEqual([["a"], ["a"]]);
  });

  test("the cache of reads counts the age of a value from the beginning of its load", async () => {
    const cache = cacheOf();
    await cache.get("a", async () => {
      now = 50_000;
      return "old";
    });
    now = 60_000;
    expect(await read(cache, "a")).toEqual({ a: "a at 60000" });
  });

  test("the cache of reads loads a value that is undefined once", async () => {
    const cache = new ReadCache<string | undefined>(
      kibibyte,
      () => 0,
      () => now,
    );
    const find = vi.fn(async () => undefined);
    expect(await cache.get("a", find)).toBeUndefined();
    expect(await cache.get("a", find)).toBeUndefined();
    expect(find).toHaveBeenCalledOnce();
  });

  test("the cache of reads loads a value every time when the setting is 0", async () => {
    vi.stubEnv("CACHE_SECONDS", "0");
    const cache = cacheOf();
    await read(cache, "a");
    await read(cache, "a");
    expect(loads).toEqual([["a"], ["a"]]);
  });

  test("the cache of reads loads all missing keys in one load", async () => {
    const cache = cacheOf();
    await read(cache, "a", "b");
    now = 1;
    expect(await read(cache, "c", "a", "d")).toEqual({ c: "c at 1", a: "a at 0", d: "d at 1" });
    expect(loads).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });
});

describe("memory", () => {
  const keep = (cache: ReadCache<string>, key: string, kibibytes: number) =>
    cache.get(key, async () => key.repeat(kibibytes * kibibyte));
  const isKept = async (cache: ReadCache<string>, key: string) =>
    (await cache.get(key, async () => "")) !== "";

  test("the cache of reads drops the value that was used longest ago when its memory is full", async () => {
    const cache = cacheOf(10);
    for (const key of ["a", "b", "c"]) await keep(cache, key, 3);
    await keep(cache, "a", 3);
    await keep(cache, "d", 3);

    expect(await isKept(cache, "a")).toBe(true);
    expect(await isKept(cache, "c")).toBe(true);
    expect(await isKept(cache, "d")).toBe(true);
    expect(await isKept(cache, "b")).toBe(false);
  });

  test("the cache of reads counts a value once when it is loaded again", async () => {
    const cache = cacheOf(10);
    for (let turn = 0; turn < 20; turn++) {
      now = turn * 60_000;
      for (const key of ["a", "b", "c"]) await keep(cache, key, 3);
    }
    for (const key of ["a", "b", "c"]) expect(await isKept(cache, key)).toBe(true);
  });
});

describe("reads of one key at the same time", () => {
  test("the cache of reads shares one load among concurrent reads of a key", async () => {
    const cache = cacheOf();
    const [one, other] = await Promise.all([read(cache, "a", "b"), read(cache, "b", "c")]);
    expect(one).toEqual({ a: "a at 0", b: "b at 0" });
    expect(other).toEqual({ b: "b at 0", c: "c at 0" });
    expect(loads).toEqual([["a", "b"], ["c"]]);
  });

  test("the cache of reads loads again for each waiter when a shared load fails", async () => {
    const cache = cacheOf();
    const failing = cache.get("a", async () => {
      throw new Error("aborted");
    });
    const sharing = read(cache, "a", "b");

    await expect(failing).rejects.toThrow("aborted");
    expect(await sharing).toEqual({ a: "a at 0", b: "b at 0" });
    expect(loads).toEqual([["b"], ["a"]]);
  });

  test("the cache of reads tries a failed load again at the next read", async () => {
    const cache = cacheOf();
    const failing = cache.get("a", () => Promise.reject(new Error("no answer")));
    await expect(failing).rejects.toThrow("no answer");
    expect(await read(cache, "a")).toEqual({ a: "a at 0" });
  });
});
