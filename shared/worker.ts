import { SqsSchema } from "@aws-lambda-powertools/parser/schemas/sqs";
import type { SQSBatchResponse } from "aws-lambda";
import type * as z from "zod/mini";
import { causeOf, log } from "./aws/log.ts";
import { hideMessage } from "./aws/queue.ts";
import { Unavailable } from "./errors.ts";
import type { QueueName } from "./queues.ts";

/** What is to become of a message: it is done with, or it is to come again after so many seconds. */
export type Disposal = "done" | { readonly againInSeconds: number };

/** How a message reaches its handler. */
export interface Received<Message> {
  readonly message: Message;
  readonly now: Date;
  /** Aborts shortly before the function's time is over. */
  readonly signal: AbortSignal;
}

/** The part of Lambda's context a worker needs. */
interface Invocation {
  readonly getRemainingTimeInMillis: () => number;
}

/** Kept back from the function's time to record how a message ended. */
const reserveMilliseconds = 10_000;

/** What a dependency that did not answer is given to recover, doubled each time that a message was received, … */
const firstRecoverySeconds = 30;

/** … up to this: a trouble of hours must not use up the times that a message may be received. */
const mostRecoverySeconds = 1_800;

/** For the calls that decide what becomes of a message. */
const disposalMilliseconds = 5_000;

/**
 * Makes the Lambda handler of a queue's messages. Each is handled by itself: one that fails is kept while the
 * others of its batch are deleted. A message that throws comes again when its visibility time-out has passed, or
 * sooner if a dependency did not answer; one that cannot be read comes again at once, until it is dead.
 */
export function work<Schema extends z.ZodMiniType>(
  queue: QueueName,
  schema: Schema,
  handle: (received: Received<z.output<Schema>>) => Promise<Disposal>,
): (event: unknown, invocation: Invocation) => Promise<SQSBatchResponse> {
  return async (event, invocation) => {
    const milliseconds = Math.max(0, invocation.getRemainingTimeInMillis() - reserveMilliseconds);
    const signal = AbortSignal.timeout(milliseconds);
    const { Records } = SqsSchema.parse(event);
    const kept = await Promise.all(
      Records.map(async ({ messageId, receiptHandle, body, attributes }) => {
        const receives = Number(attributes.ApproximateReceiveCount);
        const disposal = await disposalOf(body, receives, schema, (message) =>
          handle({ message, now: new Date(), signal }),
        );
        if (disposal === "done") return [];
        if (disposal !== "kept") await hide(queue, receiptHandle, disposal.againInSeconds);
        return [{ itemIdentifier: messageId }];
      }),
    );
    return { batchItemFailures: kept.flat() };
  };
}

async function disposalOf<Schema extends z.ZodMiniType>(
  body: string,
  receives: number,
  schema: Schema,
  handle: (message: z.output<Schema>) => Promise<Disposal>,
): Promise<Disposal | "kept"> {
  const message = schema.safeParse(jsonIn(body));
  if (!message.success) {
    log("MESSAGE_MALFORMED", {});
    return { againInSeconds: 0 };
  }
  try {
    return await handle(message.data);
  } catch (error) {
    if (error instanceof Unavailable) {
      log("DEPENDENCY_FAILED", { cause: error.message });
      return { againInSeconds: Math.min(firstRecoverySeconds * 2 ** (receives - 1), mostRecoverySeconds) };
    }
    log("CRASH", { cause: causeOf(error) });
    return "kept";
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A message that cannot be hidden comes again with its visibility time-out: later, but it does. */
async function hide(queue: QueueName, receiptHandle: string, seconds: number): Promise<void> {
  try {
    await hideMessage(queue, receiptHandle, seconds, AbortSignal.timeout(disposalMilliseconds));
  } catch (error) {
    log("MESSAGE_NOT_HIDDEN", { cause: error instanceof Unavailable ? error.message : causeOf(error) });
  }
}
