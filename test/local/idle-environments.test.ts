import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FunctionThread } from "../../tools/local/lambda/function-thread.ts";
import { IdleEnvironments } from "../../tools/local/lambda/idle-environments.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const environment = () => ({ isAlive: true, stop: vi.fn() }) as unknown as FunctionThread;

test("of three idle environments two end after 15 s, and the last after 30 s", () => {
  const [first, second, third] = [environment(), environment(), environment()] as const;
  const idle = new IdleEnvironments(30_000);
  for (const one of [first, second, third]) idle.keep(one);

  vi.advanceTimersByTime(15_000);
  expect([first, second, third].map(({ stop }) => vi.mocked(stop).mock.calls.length)).toEqual([1, 1, 0]);
  expect(idle.take()).toBe(third);
  idle.keep(third);
  vi.advanceTimersByTime(29_999);
  expect(third.stop).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(third.stop).toHaveBeenCalledOnce();
  expect(idle.take()).toBeUndefined();
});

test("the environment that was used last is taken first, and none that has ended", () => {
  const [first, second] = [environment(), environment()] as const;
  const idle = new IdleEnvironments(30_000);
  idle.keep(first);
  idle.keep(second);
  idle.keep({ ...environment(), isAlive: false } as FunctionThread);

  expect([idle.take(), idle.take(), idle.take()]).toEqual([second, first, undefined]);
});
