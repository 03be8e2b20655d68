import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { RunningSchedule } from "../../tools/local/lambda/running-schedule.ts";
import { sampleAssembly } from "./sample-assembly.ts";
import { startSample } from "./started-sample.ts";

const minute = 60_000;

// Only repeating timers are fake: functions and the gateway need real time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const started = (invoke: (id: string, event: unknown) => Promise<unknown>) => {
  const logs: string[] = [];
  const schedule = new RunningSchedule({
    schedule: { logicalId: "Rule", ruleArn: "arn:rule", functionLogicalId: "Sweep", seconds: 60 },
    invoke,
    logs: { write: (line) => logs.push(String(line)) },
  });
  schedule.start();
  return { schedule, logs };
};

test("a schedule runs first one interval after its start, then at each interval until it is closed", async () => {
  const invoke = vi.fn(async () => null);
  const { schedule } = started(invoke);

  await vi.advanceTimersByTimeAsync(minute - 1);
  expect(invoke).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(invoke).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(invoke).toHaveBeenCalledTimes(3);
  await schedule.close();
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(invoke).toHaveBeenCalledTimes(3);
});

test("a schedule does not overlap its runs, logs a failed run and continues", async () => {
  let fail: (reason: Error) => void = () => {};
  const invoke = vi.fn(() => new Promise((_, reject) => (fail = reject)));
  const { schedule, logs } = started(invoke);

  await vi.advanceTimersByTimeAsync(3 * minute);
  expect(invoke).toHaveBeenCalledTimes(1);
  fail(new Error("as asked"));
  await vi.advanceTimersByTimeAsync(minute);
  expect(invoke).toHaveBeenCalledTimes(2);
  expect(logs.map((line) => z.looseObject({}).parse(JSON.parse(line)))).toMatchObject([
    { message: "A scheduled run failed", schedule: "Rule", function: "Sweep", reason: "Error: as asked" },
  ]);
  await schedule.close();
});

test("the local service runs the schedules of its template with the event that EventBridge sends", async () => {
  const assembly = await sampleAssembly({ schedule: true });
  onTestFinished(() => assembly.remove());
  const service = await startSample({ assembly: assembly.directory });
  onTestFinished(() => service.close());
  await vi.advanceTimersByTimeAsync(5 * minute);
  await expect.poll(() => service.logs.join("")).toContain("Scheduled Event");
  const event = JSON.parse(service.logs.find((line) => line.includes("Scheduled Event")) ?? "");
  expect(event).toMatchObject({
    source: "aws.events",
    account: "000000000000",
    region: "eu-west-1",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    resources: [service.template.schedules[0]?.ruleArn],
    detail: {},
  });
});
