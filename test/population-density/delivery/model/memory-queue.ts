import { hourMilliseconds } from "../../../../shared/calendar.ts";
import type { Verdict } from "../../../../shared/sqs/worker.ts";

/** SQS hides no message for longer than this, counted from its receive. */
const maxHiddenMilliseconds = 12 * hourMilliseconds;

/** A message as its receiver gets it. */
export interface ReceivedMessage {
  readonly operationId: string;
  readonly receiptHandle: string;
  readonly sentAt: number;
  /** How often it was received, this time included. */
  readonly receives: number;
}

interface Message {
  readonly operationId: string;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
  /** Handle of the last receive: the only one that is valid. */
  handle: string;
  receivedAt: number;
  /** Whether the worker that received it last ended without a verdict, or with one that a fault made. */
  isBrokenOff: boolean;
}

/**
 * A standard queue of SQS in memory. A received message is hidden for the visibility time-out, and visible again
 * after it; only the handle of the last receive is valid, and only while the message is hidden; a message is hidden for
 * at most 12 hours after its receive. One that was received too often goes to the dead-letter queue instead of a
 * receiver.
 */
export class MemoryQueue {
  #messages: Message[] = [];
  /** Ids of operations whose messages are in the dead-letter queue. */
  readonly dead: string[] = [];
  readonly #visibilityMilliseconds: number;
  readonly #maxReceiveCount: number;
  #lastHandle = 0;

  constructor(visibilitySeconds: number, maxReceiveCount: number) {
    this.#visibilityMilliseconds = visibilitySeconds * 1_000;
    this.#maxReceiveCount = maxReceiveCount;
  }

  /**
   * @param visibleAt a message is on its way until then.
   * @param receives how often it counts as received already.
   */
  send(operationId: string, sentAt: number, visibleAt: number, receives: number): void {
    const message = { operationId, sentAt, visibleAt, receives, handle: "", receivedAt: visibleAt };
    this.#messages.push({ ...message, isBrokenOff: false });
  }

  /**
   * Receives one of the visible messages.
   * @param pick chooses among them: a standard queue has no order.
   */
  receive(
    now: number,
    pick: <Choice>(choices: readonly Choice[]) => Choice | undefined,
  ): ReceivedMessage | undefined {
    for (;;) {
      const message = pick(this.#messages.filter(({ visibleAt }) => visibleAt <= now));
      if (message === undefined) return undefined;
      message.receives++;
      if (message.receives > this.#maxReceiveCount) {
        this.#messages = this.#messages.filter((one) => one !== message);
        this.dead.push(message.operationId);
        continue;
      }
      message.handle = `handle-${++this.#lastHandle}`;
      message.receivedAt = now;
      message.visibleAt = now + this.#visibilityMilliseconds;
      message.isBrokenOff = true;
      const { operationId, sentAt, handle, receives } = message;
      return { operationId, receiptHandle: handle, sentAt, receives };
    }
  }

  /** Makes a message that was received visible although it is hidden: SQS may deliver it twice. */
  receiveAgain({ receiptHandle }: ReceivedMessage, visibleAt: number): void {
    const message = this.#messages.find(({ handle }) => handle === receiptHandle);
    if (message !== undefined) message.visibleAt = visibleAt;
  }

  /**
   * Does what a worker's verdict asks of SQS.
   * @param isAfterFault whether a fault made the verdict: a dependency that did not answer.
   */
  settle({ receiptHandle }: ReceivedMessage, verdict: Verdict, now: number, isAfterFault: boolean): void {
    if (verdict === "ack") {
      this.#messages = this.#messages.filter(({ handle }) => handle !== receiptHandle);
      return;
    }
    const message = this.#changeVisibility(receiptHandle, verdict.retryInSeconds, now);
    if (message !== undefined) message.isBrokenOff = isAfterFault;
  }

  /** @returns undefined when SQS refuses the call. */
  #changeVisibility(receiptHandle: string, seconds: number, now: number): Message | undefined {
    const message = this.#messages.find(({ handle }) => handle === receiptHandle);
    const visibleAt = now + Math.ceil(seconds) * 1_000;
    const isHidden = message !== undefined && message.visibleAt > now;
    if (!isHidden || visibleAt > message.receivedAt + maxHiddenMilliseconds) return undefined;
    message.visibleAt = visibleAt;
    return message;
  }

  /** When messages are visible, in epoch milliseconds. */
  visibleTimes(): readonly number[] {
    return this.#messages.map(({ visibleAt }) => visibleAt);
  }

  /**
   * Whether a job has a message that its workers keep coming back to: it has arrived, and its last worker gave a
   * verdict that no fault made.
   */
  isKept(operationId: string, now: number): boolean {
    return this.#messages.some(
      (message) =>
        message.operationId === operationId &&
        !message.isBrokenOff &&
        (message.receives > 0 || message.visibleAt <= now),
    );
  }
}
