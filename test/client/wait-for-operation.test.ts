import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, type WaitOptions, waitForOperation } from "../../client/index.ts";

const start = Date.parse("2026-11-22T10:00:00Z");
const operationId = "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34";
const location = `https://service.example/live/populationdensitydata/operations/${operationId}`;

const pending = { operationId, state: "PENDING" };
const delivered = { operationId, state: "DELIVERED" };
const at = (milliseconds: number) => new Date(start + milliseconds).toISOString();

/** A response of the service: an operation, an error response or a broken connection. The last one repeats. */
type Scripted =
  | (() => Response)
  | object
  | { readonly refused: number; readonly retryAfter?: string }
  | "fault";

let askedAt: number[];

beforeEach(() => {
  vi.useFakeTimers({ now: start });
  askedAt = [];
});
afterEach(() => vi.useRealTimers());

function wait(answers: readonly Scripted[], options: WaitOptions = {}, operation = location) {
  const client = createClient({
    baseUrl: "https://service.example/live",
    token: "token",
    fetch: async ({ url, signal }) => {
      expect(url).toBe(location);
      const answer = answers[Math.min(askedAt.length, answers.length - 1)];
      askedAt.push(Date.now() - start);
      signal.throwIfAborted();
      if (answer === "fault" || answer === undefined) throw new TypeError("fetch failed");
      if (typeof answer === "function") return answer();
      if (!("refused" in answer)) return Response.json(answer);
      const { refused, retryAfter } = answer as { refused: number; retryAfter?: string };
      const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
      const body = { status: refused, code: "SOME_CODE", message: "Not now." };
      return Response.json(body, { status: refused, headers });
    },
  });
  const waiting = waitForOperation(client, operation, options);
  waiting.catch(() => undefined);
  return waiting;
}

test("waitForOperation returns an ended operation after one request, by its Location or by its id", async () => {
  expect(await wait([delivered])).toEqual(delivered);
  expect(await wait([delivered], {}, operationId)).toEqual(delivered);
  expect(askedAt).toEqual([0, 0]);
});

test.each(["DELIVERED", "REFUSED", "FAILED", "CANCELLED"])(
  "waitForOperation returns an operation in the state %s",
  async (state) => {
    expect(await wait([{ operationId, state }])).toEqual({ operationId, state });
  },
);

test("waitForOperation doubles its pauses, up to half a minute", async () => {
  const waiting = wait([...Array(9).fill(pending), delivered]);
  await vi.advanceTimersByTimeAsync(200_000);
  expect(await waiting).toEqual(delivered);
  expect(askedAt).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 31_500, 61_500, 91_500, 121_500]);
});

test("waitForOperation does not ask again before the next attempt is due", async () => {
  const waiting = wait([
    { ...pending, nextAttemptAt: at(60_000) },
    { ...pending, nextAttemptAt: at(50) },
    delivered,
  ]);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(askedAt).toEqual([0]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await waiting).toEqual(delivered);
  expect(askedAt).toEqual([0, 60_000, 61_000]);
});

test("waitForOperation repeats a request after 429, 503, 504 or a fault, not before Retry-After", async () => {
  const waiting = wait([
    { refused: 429, retryAfter: "40" },
    { refused: 503 },
    "fault",
    { refused: 504 },
    delivered,
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await waiting).toEqual(delivered);
  expect(askedAt).toEqual([0, 40_000, 41_000, 43_000, 47_000]);
});

test.each([401, 403, 404])("waitForOperation throws a %s at once", async (status) => {
  await expect(wait([{ refused: status }])).rejects.toMatchObject({
    name: "ServiceError",
    status,
    code: "SOME_CODE",
  });
  expect(askedAt).toEqual([0]);
});

test("waitForOperation measures the time to the next attempt by the clock of the service", async () => {
  const answer = { ...pending, nextAttemptAt: at(3_600_000 + 10_000) };
  const headers = { date: new Date(start + 3_600_000).toUTCString() };
  const waiting = wait([() => Response.json(answer, { headers }), delivered]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await waiting).toEqual(delivered);
  expect(askedAt).toEqual([0, 10_000]);
});

test("waitForOperation throws a TimeoutError at its deadline", async () => {
  const waiting = wait([{ ...pending, nextAttemptAt: at(60_000) }], { deadlineMilliseconds: 10_000 });
  await vi.advanceTimersByTimeAsync(9_999);
  const ended = expect(waiting).rejects.toMatchObject({ name: "TimeoutError" });
  await vi.advanceTimersByTimeAsync(1);
  await ended;
  expect(askedAt).toEqual([0]);
});

test("waitForOperation throws the reason of an aborted signal and sends no further request", async () => {
  const abortion = new AbortController();
  const waiting = wait([pending], { signal: abortion.signal });
  await vi.advanceTimersByTimeAsync(2_000);
  const ended = expect(waiting).rejects.toBe("enough");
  abortion.abort("enough");
  await ended;
  await vi.advanceTimersByTimeAsync(100_000);
  expect(askedAt).toEqual([0, 500, 1_500]);
  await expect(wait([pending], { signal: abortion.signal })).rejects.toBe("enough");
  expect(askedAt.length).toBe(3);
});

test("waitForOperation throws at once when its signal is aborted as a response arrives", async () => {
  const abortion = new AbortController();
  const answer = () => {
    abortion.abort("enough");
    return Response.json({ ...pending, nextAttemptAt: at(3_600_000) });
  };
  const waiting = wait([answer], { signal: abortion.signal });
  const ended = expect(waiting).rejects.toBe("enough");
  await vi.advanceTimersByTimeAsync(1);
  await ended;
});
