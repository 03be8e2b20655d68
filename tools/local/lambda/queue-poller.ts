import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import type { Credentials } from "../servers/backing-server.ts";
import { longPollSeconds, queueClient } from "../servers/queue-server.ts";
import { InvocationError } from "./invocation-error.ts";
import type { LogSink } from "./log-sink.ts";
import { messageSchema, queueEvent, type ReceivedMessage, reportedFailures } from "./queue-event.ts";

const restMilliseconds = 1_000;

/** What a poller needs. */
export interface QueuePollerOptions {
  readonly functionId: string;
  readonly queue: { readonly url: string; readonly arn: string };
  /** Maximum number of messages at a time. */
  readonly concurrency: number;
  readonly endpoint: string;
  readonly credentials: Credentials;
  /** Invokes a function with one event. */
  readonly invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /** Receives a line when a batch fails, and when the server begins to fail. */
  readonly logs: LogSink;
}

/**
 * Reads the queue of one event source mapping and calls the function, as Lambda does.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
 *
 * A message is deleted when the function has succeeded. Otherwise it becomes visible again when its visibility time-out
 * ends.
 */
export class QueuePoller {
  readonly #functionId: string;
  readonly #queue: QueuePollerOptions["queue"];
  readonly #concurrency: number;
  readonly #client: SQSClient;
  readonly #invoke: QueuePollerOptions["invoke"];
  readonly #logs: LogSink;
  readonly #closing = new AbortController();
  #isServerFailing = false;

  constructor(options: QueuePollerOptions) {
    const { functionId, queue, concurrency, endpoint, credentials, invoke, logs } = options;
    this.#functionId = functionId;
    this.#queue = queue;
    this.#concurrency = concurrency;
    this.#client = queueClient(endpoint, credentials);
    this.#invoke = invoke;
    this.#logs = logs;
    // Every batch in flight listens to it.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Starts polling; returns at once. */
  start(): void {
    for (let started = 0; started < this.#concurrency; started++) void this.#work();
  }

  /** Stops polling. The results of batches in flight are ignored; their messages are not deleted. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#client.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#isClosing) {
      const message = await this.#receive();
      if (message !== undefined && !this.#isClosing) await this.#deliver(message);
    }
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Undefined if no message arrived during the poll, or the server failed. */
  async #receive(): Promise<ReceivedMessage | undefined> {
    const command = new ReceiveMessageCommand({
      QueueUrl: this.#queue.url,
      MaxNumberOfMessages: 1,
      WaitTimeSeconds: longPollSeconds,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    });
    try {
      const { Messages = [] } = await this.#client.send(command, { abortSignal: this.#closing.signal });
      this.#isServerFailing = false;
      return z.array(messageSchema).parse(Messages)[0];
    } catch (error) {
      if (this.#isClosing) return undefined;
      if (!this.#isServerFailing) this.#log("The queue cannot be read", error);
      this.#isServerFailing = true;
      await this.#rest();
      return undefined;
    }
  }

  async #deliver(message: ReceivedMessage): Promise<void> {
    try {
      const event = queueEvent(this.#queue.arn, [message]);
      const answer = await this.#invoke(this.#functionId, event);
      if (this.#isClosing) return;
      const failed = reportedFailures(answer, [message]);
      if (failed === undefined) throw new Error("The report of failed messages is malformed");
      if (failed.has(message.MessageId)) return;
      const { url: QueueUrl } = this.#queue;
      const { ReceiptHandle } = message;
      await this.#client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }), {
        abortSignal: this.#closing.signal,
      });
    } catch (error) {
      if (!this.#isClosing) this.#log("A batch failed", error);
    }
  }

  async #rest(): Promise<void> {
    try {
      await wait(restMilliseconds, undefined, { signal: this.#closing.signal });
    } catch (error) {
      if (!this.#isClosing) throw error;
    }
  }

  #log(message: string, error: unknown): void {
    const line = { level: "ERROR", message, timestamp: new Date().toISOString() };
    const reason = error instanceof InvocationError ? `${error.errorType}: ${error.message}` : String(error);
    const details = { function: this.#functionId, reason };
    this.#logs.write(`${JSON.stringify({ ...line, ...details })}\n`);
  }
}
