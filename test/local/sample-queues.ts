import { Duration, type Stack } from "aws-cdk-lib";
import { type Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";

/** A consumer that asks the stage what to do with a batch. */
const consumerFunction = `
const post = async (url, body, headers = {}) => {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body), headers });
  if (!response.ok) throw new Error("status " + response.status);
  return response.json();
};
const hide = ({ receiptHandle }, VisibilityTimeout) => {
  const { AWS_ENDPOINT_URL_SQS, QUEUE_URL: QueueUrl } = process.env;
  const body = { QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout };
  return post(AWS_ENDPOINT_URL_SQS, body, {
    "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.ChangeMessageVisibility",
  });
};
export const handler = async (event) => {
  if (event.Records === undefined) return;
  const { STAGE_URL, QUEUE } = process.env;
  const { hideSeconds, error, answer } = await post(STAGE_URL, { queue: QUEUE, records: event.Records });
  if (hideSeconds !== undefined) await Promise.all(event.Records.map((record) => hide(record, hideSeconds)));
  if (error !== undefined) throw new Error(error);
  return answer;
};
`;

/**
 * Adds three queues with their consumers: `Steady` is read two messages at a time; `Brief` hides a message for ten
 * seconds, which its consumer needs on a busy machine and which a test of its time-out waits, and moves it to `Dead` after
 * two receives.
 */
export function addQueues(stack: Stack, code: (name: string, source: string) => Code): void {
  const asset = code("consumer", consumerFunction);
  const consumerOf = (name: string, queue: Queue, timeout: Duration) =>
    new LambdaFunction(stack, `${name}Consumer`, {
      runtime: Runtime.NODEJS_22_X,
      handler: "index.handler",
      timeout,
      code: asset,
      environment: { QUEUE: name, QUEUE_URL: queue.queueUrl },
    });
  const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.days(14) });
  const brief = new Queue(stack, "Brief", {
    visibilityTimeout: Duration.seconds(10),
    deadLetterQueue: { queue: dead, maxReceiveCount: 2 },
    enforceSSL: true,
  });
  const steady = new Queue(stack, "Steady");
  dead
    .metricApproximateNumberOfMessagesVisible()
    .createAlarm(stack, "DeadAlarm", { threshold: 1, evaluationPeriods: 1 });

  const reading = (queue: Queue, maxConcurrency: number) =>
    new SqsEventSource(queue, { batchSize: 1, maxConcurrency, reportBatchItemFailures: true });
  const briefConsumer = consumerOf("Brief", brief, Duration.seconds(10));
  briefConsumer.addAlias("live").addEventSource(reading(brief, 10));
  consumerOf("Dead", dead, Duration.seconds(10)).addEventSource(reading(dead, 10));
  consumerOf("Steady", steady, Duration.seconds(10)).addEventSource(reading(steady, 2));
}
