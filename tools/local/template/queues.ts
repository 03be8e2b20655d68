/**
 * The queues of a template, and the event source mappings that invoke functions with their messages.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SQS.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-eventsourcemapping.html
 */
import * as z from "zod";
import { calledFunction, type LocalFunction } from "./functions.ts";
import type { Resources } from "./resources.ts";

const count = z.coerce.number().int().nonnegative();

const queueSchema = z.object({
  MessageRetentionPeriod: count.optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: count.min(1) }).optional(),
  VisibilityTimeout: count.default(30),
});

const eventSourceSchema = z.object({
  BatchSize: z.literal(1, "only batches of one message are supported locally"),
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  FunctionResponseTypes: z.tuple([z.literal("ReportBatchItemFailures")]),
  ScalingConfig: z.object({ MaximumConcurrency: count.min(2).max(1_000) }),
});

/** A standard queue of the template. */
export interface LocalQueue {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** The value of `Ref`: as on AWS, or the local server's URL once the queue has been created. */
  readonly url: string;
  readonly visibilitySeconds: number;
  /** The attributes for `CreateQueue`, without the redrive policy. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly redrive: { readonly deadLetterLogicalId: string; readonly maxReceiveCount: number } | undefined;
}

/** An event source mapping: Lambda reads single messages and invokes a function, which reports failures. */
export interface LocalEventSource {
  readonly logicalId: string;
  readonly queueLogicalId: string;
  readonly functionLogicalId: string;
  /** Maximum number of messages at a time. */
  readonly concurrency: number;
}

/** @throws {Error} naming a queue of a kind that is not supported locally. */
export function readQueues(resources: Resources): readonly LocalQueue[] {
  const logicalIds = resources.ofType("AWS::SQS::Queue");
  return logicalIds.map((logicalId) => {
    const { RedrivePolicy, ...settings } = resources.properties(logicalId, queueSchema, [
      "KmsDataKeyReusePeriodSeconds",
      "KmsMasterKeyId",
    ]);
    const { ref, attributes } = resources.names(logicalId);
    return {
      logicalId,
      name: logicalId,
      arn: attributes.Arn ?? "",
      url: ref,
      visibilitySeconds: settings.VisibilityTimeout,
      attributes: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])),
      redrive: RedrivePolicy && {
        deadLetterLogicalId: withArn(resources, logicalIds, logicalId, RedrivePolicy.deadLetterTargetArn),
        maxReceiveCount: RedrivePolicy.maxReceiveCount,
      },
    };
  });
}

/** @throws {Error} naming a mapping that AWS would refuse or that is not supported locally. */
export function readEventSources(
  resources: Resources,
  functions: readonly LocalFunction[],
  queues: readonly LocalQueue[],
): readonly LocalEventSource[] {
  return resources.ofType("AWS::Lambda::EventSourceMapping").map((logicalId) => {
    const mapping = resources.properties(logicalId, eventSourceSchema);
    const queue = queues.find(({ arn }) => arn === mapping.EventSourceArn);
    if (queue === undefined)
      throw new Error(`${logicalId} reads ${mapping.EventSourceArn}, which is not a queue of the template`);
    const called = calledFunction(functions, logicalId, mapping.FunctionName);
    if (queue.visibilitySeconds < called.timeoutSeconds) {
      throw new Error(
        `${logicalId}: Queue visibility timeout: ${queue.visibilitySeconds} seconds is less than ` +
          `Function timeout: ${called.timeoutSeconds} seconds`,
      );
    }
    return {
      logicalId,
      queueLogicalId: queue.logicalId,
      functionLogicalId: called.logicalId,
      concurrency: mapping.ScalingConfig.MaximumConcurrency,
    };
  });
}

function withArn(resources: Resources, logicalIds: readonly string[], from: string, arn: string): string {
  const found = logicalIds.find((logicalId) => resources.names(logicalId).attributes.Arn === arn);
  if (found === undefined)
    throw new Error(`${from} redrives to ${arn}, which is not a queue of the template`);
  return found;
}
