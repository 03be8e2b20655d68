import type { QueueName } from "../shared/sqs/queues.ts";
import type { Table } from "../shared/table.ts";

/** The outputs of the stacks other than those of tables and queues. */
export const outputNames = {
  apiAddress: "ApiAddress",
  apiRecordTarget: "ApiRecordTarget",
  dataFormat: "DataFormat",
  densityK: "DensityK",
  densityPrecisions: "DensityPrecisions",
  signingKey: "SigningKeySecretArn",
} as const;

/** An output other than those of tables and queues. */
export type OutputName = (typeof outputNames)[keyof typeof outputNames];

/** The stack output that holds a table's name, such as `QosProfilesTableName`; outputs have letters and digits only. */
export function tableOutput({ name }: Pick<Table, "name">): string {
  return `${inPascalCase(name)}TableName`;
}

/** The stack output that holds a queue's address, such as `DensityJobsQueueUrl`. */
export function queueOutput(queue: QueueName): string {
  return `${inPascalCase(queue)}QueueUrl`;
}

function inPascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
