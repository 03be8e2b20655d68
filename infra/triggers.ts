import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as LambdaTarget } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, type IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { batchSize } from "../shared/sqs/queues.ts";
import { constructIdOf } from "./bundles.ts";
import type { ServiceFunction } from "./constructs/service-function.ts";
import type { Data } from "./data.ts";
import { type FunctionId, functionRecords } from "./functions.ts";
import type { Settings } from "./settings.ts";

/**
 * Adds the queue or the schedule that invokes a function, as its record says.
 * @param invoked what is invoked: the function's alias, or the function.
 */
export function addTriggers(
  scope: Construct,
  id: FunctionId,
  { queues }: Data,
  { maxWorkers }: Settings,
  worker: ServiceFunction,
  invoked: IFunction,
): void {
  const { consumes, everyMinutes } = functionRecords[id];
  if (consumes !== undefined) {
    const { queueArn } = queues[consumes];
    const actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
    worker.addToRolePolicy(new PolicyStatement({ actions, resources: [queueArn] }));
    const mapping = new EventSourceMapping(scope, `${constructIdOf(id)}Messages`, {
      target: invoked,
      eventSourceArn: queueArn,
      batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: maxWorkers,
    });
    mapping.node.addDependency(worker.role);
  }
  if (everyMinutes !== undefined) {
    new Rule(scope, `${constructIdOf(id)}Schedule`, {
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
      // An event that Lambda refuses is not sent again, as the next one follows soon.
      targets: [new LambdaTarget(invoked, { retryAttempts: 0 })],
    });
    // Nor is one that Lambda has taken: by itself it would repeat a run that fails twice, and keep events for six hours.
    invoked.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  }
}
