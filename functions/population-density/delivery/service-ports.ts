import { setTimeout as wait } from "node:timers/promises";
import { log } from "../../../shared/aws/log.ts";
import { writeMetrics } from "../../../shared/aws/metrics.ts";
import { timeLimit } from "../../../shared/environment.ts";
import { sendMessage } from "../../../shared/sqs/messages.ts";
import type { Clock, Ports, Queues } from "./ports.ts";

/** The ports that all delivery functions share: clock, ids, log and metrics. */
export const sharedPorts = {
  clock: {
    now: () => Date.now(),
    deadline: (milliseconds, since = Date.now()) =>
      AbortSignal.timeout(Math.max(0, since + timeLimit(milliseconds) - Date.now())),
    pause: (milliseconds) => wait(milliseconds),
  } satisfies Clock,
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
  log,
  writeMetrics,
} satisfies Partial<Ports>;

/** Sends the message of a job. */
export const send: Queues["send"] = (operationId, signal) =>
  sendMessage("density-jobs", { version: 1, operationId }, signal);
