import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { InvocationError } from "../../tools/local/lambda/invocation-error.ts";
import { RunningSchedule } from "../../tools/local/lambda/running-schedule.ts";
import { Template } from "../../tools/local/template/template.ts";
import { emptyApi } from "./empty-api.ts";
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

const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:000000000000:${name}`;
const templateOf = (rule: object) =>
  new Template({
    document: {
      Resources: {
        ...emptyApi,
        Sweep: {
          Type: "AWS::Lambda::Function",
          Properties: { Code: { S3Key: "sweep.zip" }, Handler: "index.handler", Timeout: 10 },
        },
        Rule: {
          Type: "AWS::Events::Rule",
          Properties: {
            ScheduleExpression: "rate(1 minute)",
            Targets: [{ Id: "Target0", Arn: { "Fn::GetAtt": ["Sweep", "Arn"] } }],
            ...rule,
          },
        },
      },
    },
    assetDirectories: new Map([["sweep.zip", "/assets/sweep"]]),
  });

test.each([
  ["rate(1 minute)", 60],
  ["rate(5 minutes)", 300],
])("a rule at %s becomes a schedule of its function", (ScheduleExpression, seconds) => {
  expect(templateOf({ ScheduleExpression }).schedules).toEqual([
    { logicalId: "Rule", ruleArn: arn("events", "rule/Rule"), functionLogicalId: "Sweep", seconds },
  ]);
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

test("a schedule repeats a run that Lambda throttles, with the same event, and reports nothing", async () => {
  const events: unknown[] = [];
  const { schedule, logs } = started(async (_, event) => {
    if (events.push(event) === 1) throw new InvocationError("TooManyRequestsException", "Rate Exceeded.");
  });

  await vi.advanceTimersByTimeAsync(minute);
  await vi.waitFor(() => expect(events).toHaveLength(2), { timeout: 10_000 });
  expect(events[1]).toBe(events[0]);
  await schedule.close();
  expect(logs).toEqual([]);
});

test("the local service runs the schedules of its template with the event that EventBridge sends", async () => {
  const assembly = await sampleAssembly({ schedule: true });
  onTestFinished(() => assembly.remove());
  const service = await startSample({ assembly: assembly.directory });
  onTestFinished(() => service.close());
  await vi.advanceTimersByTimeAsync(5 * minute);
  await vi.waitFor(() => expect(service.logs.join("")).toContain("Scheduled Event"), { timeout: 25_000 });
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
