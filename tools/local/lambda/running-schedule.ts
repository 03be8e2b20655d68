import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { ScheduledEvent } from "aws-lambda";
import { account, region } from "../template/physical-names.ts";
import type { LocalSchedule } from "../template/schedules.ts";
import { InvocationError, throttledInvocation } from "./invocation-error.ts";
import type { LogSink } from "./log-sink.ts";

/** What a schedule needs to run. */
export interface RunningScheduleOptions {
  readonly schedule: LocalSchedule;
  /** Invokes a function with one event. */
  readonly invoke: (functionLogicalId: string, event: unknown) => Promise<unknown>;
  /** Receives a line when a run fails. */
  readonly logs: LogSink;
}

/** Lambda's pauses before it repeats a throttled asynchronous event. */
const firstPauseMilliseconds = 1_000;
const longestPauseMilliseconds = 300_000;

/**
 * Invokes a function at its rate: first one interval after the start, and never while a run is in progress. Events are
 * asynchronous, so that a throttled one is repeated until it runs.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
export class RunningSchedule {
  readonly #schedule: LocalSchedule;
  readonly #invoke: RunningScheduleOptions["invoke"];
  readonly #logs: LogSink;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor({ schedule, invoke, logs }: RunningScheduleOptions) {
    this.#schedule = schedule;
    this.#invoke = invoke;
    this.#logs = logs;
  }

  /** Starts the timer; returns at once. */
  start(): void {
    this.#timer = setInterval(() => void this.#run(), this.#schedule.seconds * 1000);
  }

  /** Stops the timer; a run in progress continues, and a throttled one is not repeated. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.#invokeUntilRun(this.#event());
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#log(error);
    } finally {
      this.#isRunning = false;
    }
  }

  async #invokeUntilRun(event: ScheduledEvent): Promise<void> {
    let pauseMilliseconds = firstPauseMilliseconds;
    while (true) {
      try {
        await this.#invoke(this.#schedule.functionLogicalId, event);
        return;
      } catch (error) {
        const isThrottled = error instanceof InvocationError && error.errorType === throttledInvocation;
        if (!isThrottled) throw error;
        await wait(pauseMilliseconds, undefined, { signal: this.#closing.signal });
        pauseMilliseconds = Math.min(2 * pauseMilliseconds, longestPauseMilliseconds);
      }
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
