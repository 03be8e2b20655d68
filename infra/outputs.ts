import { type QueueName, queueVariable } from "../shared/sqs/queues.ts";
import { type Table, tableVariable } from "../shared/table.ts";

/** The stack output that holds a table's name; outputs have letters and digits only. */
export function tableOutput(table: Pick<Table, "name">): string {
  return `${tableVariable(table).replaceAll("_", "")}NAME`;
}

/** The stack output that holds a queue's address. */
export function queueOutput(queue: QueueName): string {
  return `${queueVariable(queue).replaceAll("_", "")}URL`;
}

/** The outputs of the stack that imports densities: its bucket's name, and its state machine's ARN. */
export const densityImportOutputs = {
  bucket: "DENSITYIMPORTBUCKETNAME",
  stateMachine: "DENSITYIMPORTARN",
} as const;

/** The stack output that holds the ARN of the signing key's secret. */
export const signingKeyOutput = "SIGNINGKEYSECRETARN";
