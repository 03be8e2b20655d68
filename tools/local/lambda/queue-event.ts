/**
 * The event of a function that consumes a queue, and the function's response.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
 */
import type { SQSEvent, SQSMessageAttribute } from "aws-lambda";
import * as z from "zod";
import { region } from "../declared/aws-names.ts";

/** A message as `ReceiveMessage` returns it, with all attributes. */
export const messageSchema = z.object({
  MessageId: z.string().min(1),
  ReceiptHandle: z.string().min(1),
  Body: z.string(),
  MD5OfBody: z.string(),
  Attributes: z
    .object({
      ApproximateFirstReceiveTimestamp: z.string(),
      ApproximateReceiveCount: z.string(),
      SenderId: z.string(),
      SentTimestamp: z.string(),
    })
    .catchall(z.string()),
  MD5OfMessageAttributes: z.string().optional(),
  MessageAttributes: z
    .record(
      z.string(),
      z.object({
        DataType: z.string(),
        StringValue: z.string().optional(),
        BinaryValue: z.instanceof(Uint8Array).optional(),
      }),
    )
    .default({}),
});

/** A received message with all its members. */
export type ReceivedMessage = z.output<typeof messageSchema>;

/** The event of one batch. */
export function queueEvent(queueArn: string, messages: readonly ReceivedMessage[]): SQSEvent {
  return {
    Records: messages.map((message) => ({
      messageId: message.MessageId,
      receiptHandle: message.ReceiptHandle,
      body: message.Body,
      attributes: message.Attributes,
      messageAttributes: Object.fromEntries(
        Object.entries(message.MessageAttributes).map(([name, value]) => [name, eventAttribute(value)]),
      ),
      ...(message.MD5OfMessageAttributes === undefined
        ? {}
        : { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
      md5OfBody: message.MD5OfBody,
      eventSource: "aws:sqs",
      eventSourceARN: queueArn,
      awsRegion: region,
    })),
  };
}

function eventAttribute(attribute: ReceivedMessage["MessageAttributes"][string]): SQSMessageAttribute {
  const { DataType, StringValue, BinaryValue } = attribute;
  return {
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}

const answerSchema = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).nullish() })
  .nullish();

/**
 * The messages that a function reports as failed. Undefined if the whole batch counts as failed: the response is
 * malformed, or names a message that is not in the batch.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
 */
export function reportedFailures(
  answer: unknown,
  batch: readonly ReceivedMessage[],
): ReadonlySet<string> | undefined {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) return undefined;
  const reported = parsed.data?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier) ?? [];
  const known = new Set(batch.map(({ MessageId }) => MessageId));
  return reported.every((messageId) => known.has(messageId)) ? new Set(reported) : undefined;
}
