import { SqsSchema } from "@aws-lambda-powertools/parser/schemas/sqs";
import type { SQSBatchResponse } from "aws-lambda";
import type * as z from "zod/mini";
import { causeOf, log } from "../aws/log.ts";
import { deadlineFactor } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { changeVisibility } from "./messages.ts";
import type { QueueName } from "./queues.ts";

/** What becomes of a message: it is deleted, or hidden for so many seconds and received again. */
export type Verdict = "ack" | { readonly retryInSeconds: number };

/** How a message reaches its handler. */
export interface Received<Message> {
  readonly message: Message;
  readonly receiptHandle: string;
  /** How often it was received, this time included. */
  readonly receives: number;
  /** Aborts shortly before the function's time is over. */
  readonly signal: AbortSignal;
}

/** The part of Lambda's context a worker needs. */
interface Invocation {
  readonly getRemainingTimeInMillis: () => number;
}

/** Kept back from the function's time: for the handler to record how it ended, and for what becomes of the message. */
export const reserveMilliseconds = 15_000;

/** For the call that decides what becomes of a message. */
export const verdictMilliseconds = 4_000;

/** What a dependency that did not answer is given to recover, doubled each time that a message was received, … */
const firstRecoverySeconds = 15;

/** … up to this: an outage of a day must not use up the times that a message may be received. */
const maxRecoverySeconds = 600;

/**
 * Makes the Lambda handler of a queue's messages. A worker never sends a message again: it keeps the one that it has and
 * changes its visibility. One that throws comes again when its visibility time-out has passed, or sooner if a dependency
 * did not answer; one that cannot be read comes again at once, until it is dead.
 */
export function work<Schema extends z.ZodMiniType>(
  queue: QueueName,
  schema: Schema,
  handle: (received: Received<z.output<Schema>>) => Promise<Verdict>,
): (event: unknown, invocation: Invocation) => Promise<SQSBatchResponse> {
  return async (event, invocation) => {
    const milliseconds = Math.max(0, invocation.getRemainingTimeInMillis() - reserveMilliseconds);
    const signal = AbortSignal.timeout(milliseconds);
    const { Records } = SqsSchema.parse(event);
    const kept = await Promise.all(
      Records.map(async ({ messageId, receiptHandle, body, attributes }) => {
        const receives = Number(attributes.ApproximateReceiveCount);
        const verdict = await verdictOn(body, receives, schema, (message) =>
          handle({ message, receiptHandle, receives, signal }),
        );
        if (verdict === "ack") return [];
        if (verdict !== "crashed") await hide(queue, receiptHandle, verdict.retryInSeconds);
        return [{ itemIdentifier: messageId }];
      }),
    );
    return { batchItemFailures: kept.flat() };
  };
}

async function verdictOn<Schema extends z.ZodMiniType>(
  body: string,
  receives: number,
  schema: Schema,
  handle: (message: z.output<Schema>) => Promise<Verdict>,
): Promise<Verdict | "crashed"> {
  const message = schema.safeParse(parseJson(body));
  if (!message.success) {
    if (receives === 1) log("MESSAGE_MALFORMED", {});
    return { retryInSeconds: 0 };
  }
  try {
    return await handle(message.data);
  } catch (error) {
    if (error instanceof Unavailable) {
      log("DEPENDENCY_FAILED", { cause: error.message });
      return { retryInSeconds: Math.min(firstRecoverySeconds * 2 ** (receives - 1), maxRecoverySeconds) };
    }
    log("CRASH", { cause: causeOf(error) });
    return "crashed";
  }
}

function parseJson(text: string): unknown {
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
    await changeVisibility(
      queue,
      receiptHandle,
      seconds,
      AbortSignal.timeout(verdictMilliseconds * deadlineFactor()),
    );
  } catch (error) {
    log("MESSAGE_NOT_HIDDEN", { cause: error instanceof Unavailable ? error.message : causeOf(error) });
  }
}
