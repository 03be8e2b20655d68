import { log } from "../../../shared/aws/log.ts";
import { writeMetrics } from "../../../shared/aws/metrics.ts";
import { deadlineFactor } from "../../../shared/environment.ts";
import { sendMessage } from "../../../shared/sqs/messages.ts";
import type { Clock, Ports, Queues } from "./ports.ts";

/** What every function of deliveries shares of its ports: the clock of the machine, ids, log and metrics. */
export const processPorts = {
  clock: {
    now: () => Date.now(),
    deadline: (milliseconds) => AbortSignal.timeout(milliseconds * deadlineFactor()),
  } satisfies Clock,
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
  log,
  writeMetrics,
} satisfies Partial<Ports>;

/** The way into the queue of jobs. */
export const send: Queues["send"] = (operationId, signal) =>
  sendMessage("density-jobs", { version: 1, operationId }, signal);
