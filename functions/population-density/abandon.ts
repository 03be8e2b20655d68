import { work } from "../../shared/worker.ts";
import { giveUp } from "./attempt.ts";
import { jobMessage } from "./job.ts";
import { underLease } from "./under-lease.ts";

/** Gives a job up whose message is dead. */
export const handler = work("density-jobs-dead", jobMessage, ({ message: { operationId }, now, signal }) =>
  underLease("density-jobs-dead", operationId, now, signal, (job) => giveUp(job, signal)),
);
