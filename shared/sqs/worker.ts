import { parse } from "@aws-lambda-powertools/parser";
import type { SQSBatchResponse } from "aws-lambda";
import * as z from "zod/mini";
import { causeOf, log } from "../aws/log.ts";
import { timeLimit } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { changeVisibility } from "./messages.ts";
import type { QueueName } from "./queues.ts";

/**
 * What is read of SQS's event. Powertools has a schema of all of it, made with the whole of Zod, which takes a fourth of
 * the worker's start.
 */
const batch = z.object({
  Records: z
    .array(
      z.object({
        messageId: z.string(),
        receiptHandle: z.string(),
        body: z.string(),
        attributes: z.object({ ApproximateReceiveCount: z.string(), SentTimestamp: z.string() }),
      }),
    )
    .check(z.minLength(1)),
});

/** What to do with a message: delete it, or hide it for some seconds, after which it is received again. */
export type Verdict = "ack" | { readonly retryInSeconds: number };

/** A received message, as its handler receives it. */
export interface Received<Message> {
  readonly message: Message;
  /** When SQS received it, in epoch milliseconds. */
  readonly sentAt: number;
  /** How often it has been received, including this time. */
  readonly receives: number;
  /** Aborts shortly before the function times out. */
  readonly signal: AbortSignal;
}

/** The part of Lambda's context a worker needs. */
interface Invocation {
  readonly getRemainingTimeInMillis: () => number;
}

/** Reserved at the end of the function's time: for the handler to record its result, and for the verdict. */
export const reserveMilliseconds = 15_000;

/** The time-out of the call that changes a message's visibility. */
export const verdictMilliseconds = 4_000;

/** How long a message is hidden the first time a dependency did not answer; doubled with each receive, … */
const firstRecoverySeconds = 15;

/** … up to this maximum: in an outage of a day, a message is received 480 times. */
const maxRecoverySeconds = 180;

/**
 * Creates the Lambda handler of a queue's messages. A worker never resends a message: it changes the visibility of the
 * received one. If the handler throws, the message is received again after its visibility time-out, or sooner if a
 * dependency did not answer. A malformed message is received again at once, until it goes to the dead-letter queue.
 */
export function work<Schema extends z.ZodMiniType>(
  queue: QueueName,
  schema: Schema,
  handle: (received: Received<z.output<Schema>>) => Promise<Verdict>,
): (event: unknown, invocation: Invocation) => Promise<SQSBatchResponse> {
  return async (event, invocation) => {
    const milliseconds = Math.max(0, invocation.getRemainingTimeInMillis() - reserveMilliseconds);
    const signal = AbortSignal.timeout(milliseconds);
    const { Records } = parse(event, undefined, batch);
    const kept = await Promise.all(
      Records.map(async ({ messageId, receiptHandle, body, attributes }) => {
        const receives = Number(attributes.ApproximateReceiveCount);
        const verdict = await verdictOn(body, receives, schema, (message) =>
          handle({ message, sentAt: Number(attributes.SentTimestamp), receives, signal }),
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
      return { retryInSeconds: recoverySeconds(receives) };
    }
    log("CRASH", { cause: causeOf(error) });
    return "crashed";
  }
}

/** Seconds for which a message is hidden when a dependency did not answer. */
export function recoverySeconds(receives: number): number {
  return Math.min(firstRecoverySeconds * 2 ** (receives - 1), maxRecoverySeconds);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Hides a message. If that fails, the message is received again when its visibility time-out ends. */
async function hide(queue: QueueName, receiptHandle: string, seconds: number): Promise<void> {
  try {
    await changeVisibility(
      queue,
      receiptHandle,
      seconds,
      AbortSignal.timeout(timeLimit(verdictMilliseconds)),
    );
  } catch (error) {
    log("MESSAGE_NOT_HIDDEN", { cause: error instanceof Unavailable ? error.message : causeOf(error) });
  }
}
