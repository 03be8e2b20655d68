import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { RunningSchedule } from "../../tools/local/lambda/running-schedule.ts";

const minute = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-11-28T12:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

function started(invoke: (id: string, event: unknown) => Promise<unknown>) {
  const logs: string[] = [];
  const write = (line: unknown) => logs.push(String(line));
  const schedule = new RunningSchedule({ functionId: "area/sweep", seconds: 60, invoke, logs: { write } });
  schedule.start();
  onTestFinished(() => schedule.close());
  return { schedule, logs };
}

test("a function has a schedule of a minute → it gets EventBridge's event each minute after the start, until it is closed", async () => {
  const invoke = vi.fn(async () => null);
  const { schedule } = started(invoke);
  await vi.advanceTimersByTimeAsync(minute - 1);
  expect(invoke).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(invoke).toHaveBeenLastCalledWith("area/sweep", {
    version: "0",
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    "detail-type": "Scheduled Event",
    source: "aws.events",
    account: "000000000000",
    time: "2026-11-28T12:01:00Z",
    region: "eu-west-1",
    resources: ["arn:aws:events:eu-west-1:000000000000:rule/area-sweep"],
    detail: {},
  });
  await vi.advanceTimersByTimeAsync(2 * minute);
  await schedule.close();
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(invoke).toHaveBeenCalledTimes(3);
});

test("a run takes longer than its interval and fails → none begins beside it, the log says why, and the next runs", async () => {
  let fail: (reason: Error) => void = () => {};
  const invoke = vi.fn(() => new Promise((_, reject) => (fail = reject)));
  const { logs } = started(invoke);
  await vi.advanceTimersByTimeAsync(3 * minute);
  expect(invoke).toHaveBeenCalledTimes(1);
  fail(new Error("as asked"));
  await vi.advanceTimersByTimeAsync(minute);
  expect(invoke).toHaveBeenCalledTimes(2);
  expect(logs.join()).toMatch(/"A scheduled run failed".*"area\/sweep","reason":"Error: as asked"}\n$/);
});
