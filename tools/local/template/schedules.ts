/**
 * The functions of a template that EventBridge calls at a fixed rate.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 */
import { randomUUID } from "node:crypto";
import type { ScheduledEvent } from "aws-lambda";
import * as z from "zod";
import { InvocationError, type LogSink } from "../lambda/function-thread.ts";
import { account, region } from "./physical-names.ts";
import type { Template } from "./template.ts";

const ruleSchema = z.object({
  EventPattern: z.undefined("Event patterns are not served locally").optional(),
  ScheduleExpression: z.string(),
  State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
  Targets: z.array(z.object({ Arn: z.string(), Input: z.string().optional() })).default([]),
});

const secondsByUnit = { minute: 60, hour: 3_600, day: 86_400 } as const;

/** A function that is called again and again. */
export interface LocalSchedule {
  readonly logicalId: string;
  readonly ruleArn: string;
  readonly functionLogicalId: string;
  readonly seconds: number;
  /** JSON that the function gets instead of the event of the schedule. */
  readonly input: string | undefined;
}

/**
 * One schedule for each target of a rule that is enabled.
 * @throws {Error} naming a rule of a kind that is not served locally.
 */
export function readSchedules(template: Template): readonly LocalSchedule[] {
  return template.logicalIds("AWS::Events::Rule").flatMap((logicalId) => {
    const { ScheduleExpression, State, Targets } = template.properties(logicalId, ruleSchema);
    const seconds = secondsOf(ScheduleExpression);
    if (seconds === undefined) {
      throw new Error(
        `${logicalId} runs at ${ScheduleExpression}; only rate(…) of minutes, hours or days is served locally`,
      );
    }
    const schedules = Targets.map(({ Arn, Input }) => {
      const called = template.functionOfArn(Arn);
      if (called === undefined)
        throw new Error(`${logicalId} calls ${Arn}, which is no function of the template`);
      const ruleArn = template.names(logicalId).attributes.Arn ?? "";
      return { logicalId, ruleArn, functionLogicalId: called.logicalId, seconds, input: Input };
    });
    return State === "ENABLED" ? schedules : [];
  });
}

/** As in `rate(1 minute)` and `rate(5 minutes)`: the unit is in the plural exactly when the number is. */
function secondsOf(expression: string): number | undefined {
  const [, number, unit, plural] = /^rate\(([1-9]\d*) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  if (number === undefined || (number !== "1") !== (plural === "s")) return undefined;
  return Number(number) * secondsByUnit[unit as keyof typeof secondsByUnit];
}

/** What a schedule calls. */
export interface RunningScheduleOptions {
  readonly schedule: LocalSchedule;
  /** One event through a function. */
  readonly invoke: (functionLogicalId: string, event: unknown) => Promise<unknown>;
  /** Receives a line when a run fails. */
  readonly logs: LogSink;
}

/** Calls one function at its rate: for the first time one interval after the start, and one run at a time. */
export class RunningSchedule {
  readonly #schedule: LocalSchedule;
  readonly #invoke: RunningScheduleOptions["invoke"];
  readonly #logs: LogSink;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor({ schedule, invoke, logs }: RunningScheduleOptions) {
    this.#schedule = schedule;
    this.#invoke = invoke;
    this.#logs = logs;
  }

  /** Begins to count; returns at once. */
  start(): void {
    this.#timer = setInterval(() => void this.#run(), this.#schedule.seconds * 1000);
  }

  /** Begins no further run. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { functionLogicalId, input } = this.#schedule;
    try {
      await this.#invoke(functionLogicalId, input === undefined ? this.#event() : JSON.parse(input));
    } catch (error) {
      if (this.#timer !== undefined) this.#log(error);
    } finally {
      this.#isRunning = false;
    }
  }

  #event(): ScheduledEvent {
    return {
      version: "0",
      id: randomUUID(),
      "detail-type": "Scheduled Event",
      source: "aws.events",
      account,
      time: `${new Date().toISOString().slice(0, 19)}Z`,
      region,
      resources: [this.#schedule.ruleArn],
      detail: {},
    };
  }

  #log(error: unknown): void {
    const { logicalId, functionLogicalId } = this.#schedule;
    const line = { level: "ERROR", message: "A scheduled run failed", timestamp: new Date().toISOString() };
    const reason = error instanceof InvocationError ? `${error.errorType}: ${error.message}` : String(error);
    const details = { schedule: logicalId, function: functionLogicalId, reason };
    this.#logs.write(`${JSON.stringify({ ...line, ...details })}\n`);
  }
}
