import { CfnOutput } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { QueueName } from "../shared/sqs/queues.ts";
import type { Table } from "../shared/table.ts";
import { type OutputName, queueOutput, tableOutput } from "./output-names.ts";

/** What the console of CloudFormation says of the outputs that are not of tables or queues. */
const descriptions: Readonly<Record<OutputName, string>> = {
  ApiAddress: "The address of the API",
  ApiRecordTarget: "What a DNS record of the API's host name points to",
  DataFormat: "The form in which the functions write data, by which ncs writes",
  DensityK: "DENSITY_K of the functions, by which ncs publishes counted people",
  DensityPrecisions: "DENSITY_PRECISIONS of the functions, at which ncs publishes counted people",
  SigningKeySecretArn: "The secret with the key that signs access tokens",
};

/** Adds an output to a stack: its name is the same in every deployment. */
export function addOutput(scope: Construct, name: OutputName, value: string): void {
  new CfnOutput(scope, name, { value, description: descriptions[name] });
}

/** Adds the output with a table's deployed name. */
export function addTableOutput(scope: Construct, table: Pick<Table, "name">, value: string): void {
  new CfnOutput(scope, tableOutput(table), { value, description: `The table ${table.name}` });
}

/** Adds the output with a queue's address. */
export function addQueueOutput(scope: Construct, queue: QueueName, value: string): void {
  new CfnOutput(scope, queueOutput(queue), { value, description: `The address of the queue ${queue}` });
}
