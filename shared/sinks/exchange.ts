import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { AttemptAborted } from "./attempt-timer.ts";
import { outcomeOf } from "./sink-answer.ts";

/** Maximum of interim responses (1xx), each of which takes time to read and carries no result. */
const maxInterimAnswers = 16;

/** A request and its response on one connection. */
export class Exchange {
  /** The response, or the error that came instead. */
  readonly response: Promise<IncomingMessage | Error>;
  readonly #request: ClientRequest;
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  #answer: IncomingMessage | undefined;
  /** Whether the operating system has accepted the whole request. */
  #isFlushed = false;
  #isAcceptedEarly = false;
  #wantsMore = true;
  /** The error that ended the connection before both sides had finished. */
  #failure: Error | undefined;
  #stopWaiting = () => {};

  constructor(request: ClientRequest, socket: Socket) {
    this.#request = request;
    this.#socket = socket;
    this.response = new Promise((resolve) => {
      const fail = (error: Error) => {
        this.#failure ??= error;
        resolve(error);
        this.#stop();
      };
      request.once("response", (response) => {
        this.#answer = response;
        // The status is enough; ignore a truncated body.
        response.on("error", () => {});
        const isAccepted = outcomeOf(response.statusCode ?? 0) === "delivered";
        this.#isAcceptedEarly = isAccepted && !this.#isFlushed;
        resolve(response);
        if (!isAccepted) this.#stop();
      });
      request.on("error", fail);
      request.once("close", () => {
        if (!this.#isFlushed || !this.#answer?.complete) fail(new AttemptAborted("CLOSED"));
      });
      let interimAnswers = 0;
      request.on("information", () => {
        if (++interimAnswers > maxInterimAnswers) request.destroy(new AttemptAborted("INTERIM_ANSWERS"));
      });
    });
    this.#closed = new Promise((resolve) => {
      request.once("close", resolve);
    });
  }

  /** False after a status other than 2xx, or the end of the connection. */
  get wantsMore(): boolean {
    return this.#wantsMore;
  }

  /** Whether a 2xx came before the whole request was sent, so that it says little about the rest. */
  get isAcceptedEarly(): boolean {
    return this.#isAcceptedEarly;
  }

  /** Sends a chunk. @returns true once it is written, false if the sink wants no more. */
  async write(chunk: Buffer): Promise<boolean> {
    return await this.#unlessStopped((taken) => {
      this.#request.write(chunk, (error) => {
        if (!error) taken();
      });
    });
  }

  /** Sends the last chunk, if there is one, and ends the request. */
  async end(chunk: Buffer | undefined): Promise<boolean> {
    return await this.#unlessStopped((taken) => {
      this.#request.end(chunk, () => {
        if (this.#socket.destroyed) return;
        this.#isFlushed = true;
        taken();
      });
    });
  }

  /** Waits for a step. @returns true when it has ended, false if the sink wants no more before then. */
  async whileWanted(step: Promise<void> | undefined): Promise<boolean> {
    return await this.#unlessStopped((over, fail) => void Promise.resolve(step).then(over, fail));
  }

  /**
   * Waits until the sink ends the connection. Once the response is complete, this side ends its half after the request.
   * So a sink sees the end only if it has read the whole request, and a sink that closed the connection earlier resets
   * it.
   * @returns the error that cut it off while the sink may not have read the whole request; undefined if it ended
   * normally or is still open after this time.
   */
  async failureWithin(milliseconds: number): Promise<Error | undefined> {
    const endWhenAnswered = () => {
      if (this.#answer?.complete) this.#socket.end();
    };
    this.#socket.on("data", endWhenAnswered);
    endWhenAnswered();
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([this.#closed, isOver]);
    clearTimeout(timer);
    return this.#failure;
  }

  async #unlessStopped(start: (done: () => void, fail: (error: Error) => void) => void): Promise<boolean> {
    if (!this.#wantsMore) return false;
    await new Promise<void>((resolve, reject) => {
      this.#stopWaiting = resolve;
      start(resolve, reject);
    });
    return this.#wantsMore;
  }

  #stop(): void {
    this.#wantsMore = false;
    this.#stopWaiting();
  }
}
