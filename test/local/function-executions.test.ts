import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FunctionExecutions, hashesAtOnce } from "../../tools/local/lambda/function-executions.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const throttled = { errorType: "TooManyRequestsException" };

/** Executions that note which event has begun, and end or wait for a reader when they are told to. */
function executionsOf(limits: ConstructorParameters<typeof FunctionExecutions>[0]) {
  const executions = new FunctionExecutions(limits);
  const begun: string[] = [];
  const begin = (name: string) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const one = { isUnread: false, end, began: Promise.resolve<unknown>(undefined) };
    one.began = executions.begin(() => {
      begun.push(name);
      return { answer: Promise.resolve("null"), ended, isUnread: () => one.isUnread };
    });
    return one;
  };
  return { executions, begin, begun };
}

test("four events of a function that runs two at once → the others begin in their order as those end", async () => {
  const { begin, begun } = executionsOf({ maxAtOnce: 2 });
  const [first, second] = ["1", "2", "3", "4"].map(begin);
  const seen = [begun.join("")];
  for (const one of [second, first]) {
    one?.end();
    await vi.advanceTimersByTimeAsync(0);
    seen.push(begun.join(""));
  }
  expect(seen).toEqual(["12", "123", "1234"]);
});

test("all executions wait for readers who do not read → the next event begins all the same", async () => {
  const { begin, begun } = executionsOf({ maxAtOnce: 2 });
  const [first, second] = ["1", "2", "3"].map(begin);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toEqual(["1", "2"]);
  for (const one of [first, second]) if (one !== undefined) one.isUnread = true;
  await vi.advanceTimersByTimeAsync(500);
  expect(begun).toEqual(["1", "2", "3"]);
});

test("a second event of a function with one reserved execution → it is refused at once, and a later one runs", async () => {
  const { begin } = executionsOf({ reservedConcurrency: 1 });
  const first = begin("1");
  await expect(begin("2").began).rejects.toMatchObject(throttled);
  first.end();
  await vi.advanceTimersByTimeAsync(0);
  await expect(begin("3").began).resolves.toBeDefined();
});

test("an event has waited for 35 s → it is refused as throttled, and never runs", async () => {
  const { begin, begun } = executionsOf({ maxAtOnce: 1 });
  const first = begin("1");
  const refused = expect(begin("2").began).rejects.toMatchObject(throttled);
  await vi.advanceTimersByTimeAsync(35_000);
  await refused;
  first.end();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual(["1"]);
});

test("a function is closed → events that wait for it and later ones fail", async () => {
  const { executions, begin } = executionsOf({ maxAtOnce: 1 });
  const [, waiting] = ["1", "2"].map(begin);
  executions.close();
  const stopped = { errorType: "Runtime.ExitError" };
  for (const one of [waiting, begin("3")]) await expect(one?.began).rejects.toMatchObject(stopped);
});

test("logins on any number of processors → at most two hash a password at once", () => {
  vi.stubEnv("UV_THREADPOOL_SIZE", undefined);
  expect([1, 2]).toContain(hashesAtOnce());
});
