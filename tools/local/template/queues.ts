/**
 * The queues of a template, and the functions that Lambda calls with their messages.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SQS.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-eventsourcemapping.html
 */
import * as z from "zod";
import type { Template } from "./template.ts";

const count = z.coerce.number().int().nonnegative();

const queueSchema = z.object({
  DelaySeconds: count.optional(),
  FifoQueue: z.literal(false, "FIFO queues are not served locally").optional(),
  MaximumMessageSize: count.optional(),
  MessageRetentionPeriod: count.optional(),
  ReceiveMessageWaitTimeSeconds: count.optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: count.min(1) }).optional(),
  VisibilityTimeout: count.default(30),
});

const eventSourceSchema = z
  .object({
    BatchSize: count.min(1).max(10_000).default(10),
    Enabled: z.union([z.boolean(), z.stringbool()]).default(true),
    EventSourceArn: z.string(),
    FilterCriteria: z.undefined("Filters are not served locally").optional(),
    FunctionName: z.string(),
    FunctionResponseTypes: z.array(z.literal("ReportBatchItemFailures")).default([]),
    MaximumBatchingWindowInSeconds: count.max(300).default(0),
    ScalingConfig: z.object({ MaximumConcurrency: count.min(2).max(1_000).optional() }).default({}),
  })
  .refine(({ BatchSize, MaximumBatchingWindowInSeconds }) => {
    return BatchSize <= 10 || MaximumBatchingWindowInSeconds >= 1;
  }, "More than 10 messages take a MaximumBatchingWindowInSeconds of at least 1");

/** Each is a thread here, and a queue is not to take all processors of the machine. */
const maxConcurrency = 5;

/** A standard queue of the template. */
export interface LocalQueue {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** What `Ref` gives: as on AWS, or what the local server answered once it has created the queue. */
  readonly url: string;
  readonly visibilitySeconds: number;
  /** As CreateQueue takes them; without the redrive policy. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly redrive: { readonly deadLetterLogicalId: string; readonly maxReceiveCount: number } | undefined;
}

/** A queue whose messages Lambda reads and gives to a function. */
export interface LocalEventSource {
  readonly logicalId: string;
  readonly queueLogicalId: string;
  readonly functionLogicalId: string;
  readonly batchSize: number;
  readonly windowSeconds: number;
  /** Batches at a time. */
  readonly concurrency: number;
  /** Whether the function says which messages of a batch have failed. */
  readonly reportsItemFailures: boolean;
}

/** @throws {Error} naming a queue of a kind that is not served locally. */
export function readQueues(template: Template): readonly LocalQueue[] {
  const logicalIds = template.logicalIds("AWS::SQS::Queue");
  return logicalIds.map((logicalId) => {
    const { FifoQueue, RedrivePolicy, ...settings } = template.properties(logicalId, queueSchema);
    const { ref, attributes } = template.names(logicalId);
    return {
      logicalId,
      name: attributes.QueueName ?? "",
      arn: attributes.Arn ?? "",
      url: ref,
      visibilitySeconds: settings.VisibilityTimeout,
      attributes: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])),
      redrive: RedrivePolicy && {
        deadLetterLogicalId: withArn(template, logicalIds, logicalId, RedrivePolicy.deadLetterTargetArn),
        maxReceiveCount: RedrivePolicy.maxReceiveCount,
      },
    };
  });
}

/**
 * The mappings that are enabled.
 * @throws {Error} naming a mapping that AWS would not create or that is not served locally.
 */
export function readEventSources(template: Template): readonly LocalEventSource[] {
  return template.logicalIds("AWS::Lambda::EventSourceMapping").flatMap((logicalId) => {
    const mapping = template.properties(logicalId, eventSourceSchema);
    const queue = template.queues.find(({ arn }) => arn === mapping.EventSourceArn);
    if (queue === undefined)
      throw new Error(`${logicalId} reads ${mapping.EventSourceArn}, which is no queue of the template`);
    const called = template.functionNamed(mapping.FunctionName);
    if (called === undefined) {
      throw new Error(`${logicalId} calls ${mapping.FunctionName}, which is no function of the template`);
    }
    if (queue.visibilitySeconds < called.timeoutSeconds) {
      throw new Error(
        `${logicalId}: Queue visibility timeout: ${queue.visibilitySeconds} seconds is less than Function timeout: ${called.timeoutSeconds} seconds`,
      );
    }
    if (!mapping.Enabled) return [];
    return {
      logicalId,
      queueLogicalId: queue.logicalId,
      functionLogicalId: called.logicalId,
      batchSize: mapping.BatchSize,
      windowSeconds: mapping.MaximumBatchingWindowInSeconds,
      concurrency: Math.min(mapping.ScalingConfig.MaximumConcurrency ?? maxConcurrency, maxConcurrency),
      reportsItemFailures: mapping.FunctionResponseTypes.length > 0,
    };
  });
}

function withArn(template: Template, logicalIds: readonly string[], from: string, arn: string): string {
  const found = logicalIds.find((logicalId) => template.names(logicalId).attributes.Arn === arn);
  if (found === undefined) throw new Error(`${from} redrives to ${arn}, which is no queue of the template`);
  return found;
}
