import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
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

describe("a rule", () => {
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

  it.each([
    ["rate(1 minute)", 60],
    ["rate(5 minutes)", 300],
  ])("calls its function at %s", (ScheduleExpression, seconds) => {
    expect(templateOf({ ScheduleExpression }).schedules).toEqual([
      { logicalId: "Rule", ruleArn: arn("events", "rule/Rule"), functionLogicalId: "Sweep", seconds },
    ]);
  });

  it.each([
    ["Rule runs at cron(0 12 * * ? *)", { ScheduleExpression: "cron(0 12 * * ? *)" }],
    ["Rule runs at rate(2 minute)", { ScheduleExpression: "rate(2 minute)" }],
    ["Rule runs at rate(0 minutes)", { ScheduleExpression: "rate(0 minutes)" }],
    ["Rule runs at rate(1 hour)", { ScheduleExpression: "rate(1 hour)" }],
    ["State", { State: "DISABLED" }],
    ["EventPattern is not supported locally, at Rule", { EventPattern: { source: ["aws.s3"] } }],
    [
      "an input is not supported locally",
      { Targets: [{ Id: "Target0", Arn: { "Fn::GetAtt": ["Sweep", "Arn"] }, Input: "{}" }] },
    ],
    [
      "Rule calls arn:none, which is no function of the template",
      { Targets: [{ Id: "Target0", Arn: "arn:none" }] },
    ],
  ])("is refused: %s", (message, rule) => {
    expect(() => templateOf(rule)).toThrow(message);
  });
});

describe("a schedule", () => {
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

  it("runs one interval after its start, then at each interval, until it is closed", async () => {
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

  it("begins no run while one is under way, and goes on after one that failed, with a line in the log", async () => {
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
});

it("a service runs the schedules of its template, with the event that EventBridge sends", async () => {
  const assembly = await sampleAssembly({ schedule: true });
  try {
    const service = await startSample({ assembly: assembly.directory });
    try {
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
    } finally {
      await service.close();
    }
  } finally {
    assembly.remove();
  }
});
