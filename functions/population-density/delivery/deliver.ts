import { work } from "../../../shared/sqs/worker.ts";
import { jobMessage } from "./job.ts";
import { workOn } from "./work-on-job.ts";
import { workerPorts } from "./worker-ports.ts";

/** Delivers densities to a sink: at most one attempt each time a job's message is received. */
export const handler = work("density-jobs", jobMessage, ({ message, signal, ...received }) =>
  workOn({ ...message, ...received }, workerPorts(), signal),
);
