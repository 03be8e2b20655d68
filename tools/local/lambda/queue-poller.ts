import { setTimeout as wait } from "node:timers/promises";
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import type { Credentials } from "../servers/backing-server.ts";
import { longPollSeconds, queueClient } from "../servers/queue-server.ts";
import type { LocalEventSource, LocalQueue } from "../template/queues.ts";
import { InvocationError, type LogSink } from "./function-thread.ts";
import { messageSchema, queueEvent, type ReceivedMessage, reportedFailures } from "./queue-event.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const maxPerRequest = 10;

const restMilliseconds = 1_000;

/** What a poller reads, and where it brings it. */
export interface QueuePollerOptions {
  readonly source: LocalEventSource;
  readonly queue: LocalQueue;
  readonly endpoint: string;
  readonly credentials: Credentials;
  /** One event through a function. */
  readonly invoke: (functionLogicalId: string, event: unknown) => Promise<unknown>;
  /** Receives a line when a batch fails, and when the server begins to fail. */
  readonly logs: LogSink;
}

/**
 * Reads the queue of one event source mapping and calls the function, as Lambda does.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
 *
 * Messages are deleted after the function has answered, and never when it has failed: these become visible again
 * when their visibility time-out ends.
 */
export class QueuePoller {
  readonly #source: LocalEventSource;
  readonly #queue: LocalQueue;
  readonly #client: SQSClient;
  readonly #invoke: QueuePollerOptions["invoke"];
  readonly #logs: LogSink;
  readonly #closing = new AbortController();
  /** One poll at a time, so that batches fill. */
  #turn: Promise<readonly ReceivedMessage[]> = Promise.resolve([]);
  #isServerFailing = false;

  constructor({ source, queue, endpoint, credentials, invoke, logs }: QueuePollerOptions) {
    this.#source = source;
    this.#queue = queue;
    this.#client = queueClient(endpoint, credentials);
    this.#invoke = invoke;
    this.#logs = logs;
  }

  /** Begins to poll; returns at once. */
  start(): void {
    for (let started = 0; started < this.#source.concurrency; started++) void this.#work();
  }

  /** Cuts the poll short. The answer to a batch that is under way no longer counts; its messages are not deleted. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#client.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#isClosing) {
      this.#turn = this.#turn.then(() => this.#collect());
      const batch = await this.#turn;
      if (batch.length > 0 && !this.#isClosing) await this.#deliver(batch);
    }
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Up to a batch of messages; none when none came for the length of a poll or the server failed. */
  async #collect(): Promise<readonly ReceivedMessage[]> {
    const { batchSize, windowSeconds } = this.#source;
    const batch: ReceivedMessage[] = [];
    let secondsLeft = longPollSeconds;
    let endsAt = Number.POSITIVE_INFINITY;
    try {
      do {
        batch.push(...(await this.#receive(batchSize - batch.length, secondsLeft)));
        endsAt = Math.min(endsAt, Date.now() + windowSeconds * 1000);
        secondsLeft = Math.ceil((endsAt - Date.now()) / 1000);
      } while (batch.length > 0 && batch.length < batchSize && secondsLeft > 0);
      this.#isServerFailing = false;
    } catch (error) {
      if (this.#isClosing) return [];
      if (!this.#isServerFailing) this.#log("The queue cannot be read", error);
      this.#isServerFailing = true;
      await this.#rest();
    }
    return batch;
  }

  async #receive(most: number, waitSeconds: number): Promise<readonly ReceivedMessage[]> {
    const { Messages = [] } = await this.#client.send(
      new ReceiveMessageCommand({
        QueueUrl: this.#queue.url,
        MaxNumberOfMessages: Math.min(most, maxPerRequest),
        WaitTimeSeconds: Math.min(waitSeconds, longPollSeconds),
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      }),
      { abortSignal: this.#closing.signal },
    );
    return z.array(messageSchema).parse(Messages);
  }

  async #deliver(batch: readonly ReceivedMessage[]): Promise<void> {
    const { functionLogicalId, reportsItemFailures } = this.#source;
    try {
      const answer = await this.#invoke(functionLogicalId, queueEvent(this.#queue.arn, batch));
      if (this.#isClosing) return;
      const failed = reportsItemFailures ? reportedFailures(answer, batch) : new Set();
      if (failed === undefined) throw new Error("The report of failed messages is malformed");
      await this.#delete(batch.filter(({ MessageId }) => !failed.has(MessageId)));
    } catch (error) {
      if (!this.#isClosing) this.#log("A batch failed", error);
    }
  }

  async #delete(messages: readonly ReceivedMessage[]): Promise<void> {
    for (let start = 0; start < messages.length; start += maxPerRequest) {
      const Entries = messages
        .slice(start, start + maxPerRequest)
        .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const { Failed = [] } = await this.#client.send(
        new DeleteMessageBatchCommand({ QueueUrl: this.#queue.url, Entries }),
        { abortSignal: this.#closing.signal },
      );
      const codes = new Set(Failed.map(({ Code }) => Code));
      if (codes.size > 0)
        throw new Error(`${Failed.length} messages cannot be deleted: ${[...codes].join()}`);
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
    const { logicalId, functionLogicalId } = this.#source;
    const line = { level: "ERROR", message, timestamp: new Date().toISOString() };
    const reason = error instanceof InvocationError ? `${error.errorType}: ${error.message}` : String(error);
    const details = { eventSource: logicalId, function: functionLogicalId, reason };
    this.#logs.write(`${JSON.stringify({ ...line, ...details })}\n`);
  }
}
