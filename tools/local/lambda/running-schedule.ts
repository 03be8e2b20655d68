import { randomUUID } from "node:crypto";
import type { ScheduledEvent } from "aws-lambda";
import { account, region, ruleArnOf } from "../declared/aws-names.ts";
import { InvocationError } from "./invocation-error.ts";
import type { LogSink } from "./log-sink.ts";

/** What a schedule needs to run. */
export interface RunningScheduleOptions {
  readonly functionId: string;
  readonly seconds: number;
  /** Invokes a function with one event. */
  readonly invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /** Receives a line when a run fails. */
  readonly logs: LogSink;
}

/**
 * Invokes a function at its rate: first one interval after the start, and never while a run is in progress. What is
 * refused or fails is not repeated, as the stack has it: the next event follows soon.
 */
export class RunningSchedule {
  readonly #functionId: string;
  readonly #seconds: number;
  readonly #invoke: RunningScheduleOptions["invoke"];
  readonly #logs: LogSink;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isClosed = false;

  constructor({ functionId, seconds, invoke, logs }: RunningScheduleOptions) {
    this.#functionId = functionId;
    this.#seconds = seconds;
    this.#invoke = invoke;
    this.#logs = logs;
  }

  /** Starts the timer; returns at once. */
  start(): void {
    this.#timer = setInterval(() => void this.#run(), this.#seconds * 1_000);
  }

  /** Stops the timer; a run in progress continues. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.#invoke(this.#functionId, this.#event());
    } catch (error) {
      if (!this.#isClosed) this.#log(error);
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
      resources: [ruleArnOf(this.#functionId)],
      detail: {},
    };
  }

  #log(error: unknown): void {
    const line = { level: "ERROR", message: "A scheduled run failed", timestamp: new Date().toISOString() };
    const reason = error instanceof InvocationError ? `${error.errorType}: ${error.message}` : String(error);
    const details = { function: this.#functionId, reason };
    this.#logs.write(`${JSON.stringify({ ...line, ...details })}\n`);
  }
}
