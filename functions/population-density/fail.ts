import { work } from "../../shared/sqs/worker.ts";
import { jobMessage } from "./delivery/job.ts";
import { workOn } from "./delivery/lease.ts";
import { workerPorts } from "./delivery/worker-ports.ts";

/** Tells the sink of a job whose message is a dead letter that there is no answer, unless it may hold one. */
export const handler = work("density-jobs-dlq", jobMessage, ({ message, signal, ...received }) =>
  workOn({ ...message, ...received, queue: "density-jobs-dlq", dead: true }, workerPorts(), signal),
);
