import { work } from "../../../shared/sqs/worker.ts";
import { jobMessage } from "./job.ts";
import { workOn } from "./lease.ts";
import { workerPorts } from "./worker-ports.ts";

/** Sends a failure to the sink of a job whose message is a dead letter, unless the sink may hold the answer. */
export const handler = work("density-jobs-dlq", jobMessage, ({ message, signal, ...received }) =>
  workOn({ ...message, ...received, queue: "density-jobs-dlq", dead: true }, workerPorts(), signal),
);
