import { CfnOutput } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { type TableName, tables } from "../functions/areas.ts";
import {
  type QueueName,
  queueDescription,
  queues,
  queueVariable,
  visibilitySeconds,
} from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { ServiceQueue } from "./constructs/service-queue.ts";
import { ServiceTable } from "./constructs/service-table.ts";
import { queueOutput, tableOutput } from "./outputs.ts";
import { removalPolicyIn, type StageTraits } from "./stage.ts";

/** Tables and queues of the service, and the key that encrypts them. */
export interface Data {
  /** Encrypts tables with personal data, and all queues. */
  readonly key: Key;
  readonly tables: Readonly<Record<TableName, ServiceTable>>;
  readonly queues: Readonly<Record<QueueName, ServiceQueue>>;
}

/** Adds every table of the areas, every queue, and their key; their names are outputs of the stack. */
export function addData(scope: Construct, traits: StageTraits): Data {
  const key = new Key(scope, "DataKey", {
    description: "Personal data, credentials and messages of the Network Capabilities Service",
    enableKeyRotation: true,
    // Tables that are kept could not be read without it.
    removalPolicy: removalPolicyIn(traits),
  });
  return { key, tables: addTables(scope, key, traits), queues: addQueues(scope, key) };
}

function addTables(scope: Construct, key: Key, traits: StageTraits): Data["tables"] {
  const made = tables.map((table) => {
    const one = new ServiceTable(scope, tableVariable(table), { table, traits, key });
    new CfnOutput(scope, tableOutput(table), { value: one.tableName });
    return [table.name, one];
  });
  return Object.fromEntries(made) as Record<TableName, ServiceTable>;
}

function addQueues(scope: Construct, key: Key): Data["queues"] {
  const made: Partial<Record<QueueName, ServiceQueue>> = {};
  for (const name of Object.keys(queues) as QueueName[]) {
    const { deadLetters } = queueDescription(name);
    const queue = deadLetters && made[deadLetters.queue];
    if (deadLetters !== undefined && queue === undefined)
      throw new Error(`${name} comes before its dead letters`);
    const dead = queue && { deadLetters: { maxReceiveCount: deadLetters.maxReceiveCount, queue } };
    made[name] = new ServiceQueue(scope, queueVariable(name), { key, visibilitySeconds, ...dead });
    new CfnOutput(scope, queueOutput(name), { value: made[name].queueUrl });
  }
  return made as Record<QueueName, ServiceQueue>;
}
