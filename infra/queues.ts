import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import {
  type QueueName,
  queueDescription,
  queues,
  queueVariable,
  visibilitySeconds,
} from "../shared/sqs/queues.ts";
import { ServiceQueue } from "./constructs/service-queue.ts";
import { addQueueOutput } from "./outputs.ts";

/** Adds every queue; their addresses are outputs of the stack. */
export function addQueues(scope: Construct, key: IKey): Readonly<Record<QueueName, ServiceQueue>> {
  const made: Partial<Record<QueueName, ServiceQueue>> = {};
  for (const name of Object.keys(queues) as QueueName[]) {
    const { deadLetters } = queueDescription(name);
    const queue = deadLetters && made[deadLetters.queue];
    if (deadLetters !== undefined && queue === undefined)
      throw new Error(`${name} comes before its dead letters`);
    const dead = queue && { deadLetters: { maxReceiveCount: deadLetters.maxReceiveCount, queue } };
    made[name] = new ServiceQueue(scope, queueVariable(name), { key, visibilitySeconds, ...dead });
    addQueueOutput(scope, name, made[name].queueUrl);
  }
  return made as Record<QueueName, ServiceQueue>;
}
