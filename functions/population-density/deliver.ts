import { work } from "../../shared/worker.ts";
import { attempt, giveUp } from "./attempt.ts";
import { isLate, jobMessage } from "./job.ts";
import { underLease } from "./under-lease.ts";

/** Delivers densities to a sink: one attempt each time a job's message comes. */
export const handler = work("density-jobs", jobMessage, ({ message: { operationId }, now, signal }) =>
  underLease("density-jobs", operationId, now, signal, (job) =>
    isLate(job, now) ? giveUp(job, signal) : attempt(job, signal),
  ),
);
