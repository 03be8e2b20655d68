import { lookup } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as startRequest } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as startTls } from "node:tls";
import { outcomeOf, retryAfterSeconds } from "./sink-answer.ts";
import { mayConnect, parseSink, type Reach, type Sink } from "./sink-url.ts";

const headerNames = [
  "content-type",
  "authorization",
  "x-correlator",
  "webhook-id",
  "webhook-timestamp",
] as const;

/** Milliseconds that one attempt may take. */
interface Limits {
  /** To look the name up. */
  readonly lookup: number;
  /** To connect to one address, TLS included. */
  readonly connect: number;
  /** In all, from the look-up to the status of the answer, … */
  readonly attempt: number;
  /** … and more for each MiB that the sink has taken. */
  readonly perMebibyte: number;
  /**
   * Until the sink takes the next chunk; from the last one to the status of its answer, or, after a status of 2xx that
   * came early, to the end of the connection.
   */
  readonly stall: number;
  /** For the rest of the answer, which nobody reads. */
  readonly answer: number;
}

const defaultLimits: Limits = {
  lookup: 3_000,
  connect: 3_000,
  attempt: 15_000,
  perMebibyte: 1_000,
  stall: 10_000,
  answer: 1_000,
};

/** The input of one attempt. */
export interface PostOptions extends Reach {
  readonly sink: string;
  /** Values are printable ASCII. */
  readonly headers: Readonly<Partial<Record<(typeof headerNames)[number], string>>>;
  /** Always closed. The next chunk is requested only when the sink has read all but one of the previous ones. */
  readonly body: AsyncIterable<Buffer>;
  /**
   * Awaited within the attempt's time when all chunks but the last are sent: the sink cannot have the whole body before
   * it resolves. If it rejects, the last chunk is never sent.
   */
  readonly beforeLastChunk?: () => Promise<void>;
  /** Receives the chunks that are no longer needed. */
  readonly bufferPool?: Buffer[];
  /** Aborts the attempt. The body should listen to it too: an attempt waits for its body to be closed. */
  readonly signal?: AbortSignal;
  /** All addresses of a host name, as they come from the system's resolver by default. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly now?: () => Date;
  /** PEM of the authorities to trust instead of Node's own and those of `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string;
  readonly limits?: Partial<Limits>;
}

/** The result of an attempt. A `cause` is the code of an error, never a text from the sink or about it. */
export type PostResult = {
  /** Whether the last chunk was sent, so that the sink may hold the whole body whatever the outcome. */
  readonly sentWhole: boolean;
} /** A refusal is not to be retried. `SINK`: not a valid sink URL. `ADDRESS`: an address that is not allowed. */ & (
  | { readonly outcome: "delivered" | "refused"; readonly status: number }
  | { readonly outcome: "refused"; readonly cause: "SINK" | "ADDRESS" }
  /** To be tried again, and not before what the sink asks for. */
  | { readonly outcome: "failed"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly outcome: "failed"; readonly cause: string }
);

/**
 * Makes one attempt to POST a body to a sink. The sink is assumed to be hostile: it decides nothing but the status of
 * its response and, within limits, the time of the next attempt.
 *
 * A name is looked up anew in each attempt. If one of its addresses is neither public nor allowed, the sink is refused
 * for good. Otherwise the addresses are tried until one is connected to, and the connection's own address is checked
 * before anything is sent. No proxy, no redirect, no connection used twice, TLS 1.2 or later with a verified
 * certificate.
 *
 * A status that comes before the whole body is sent ends the sending, unless it is 2xx: then the body is sent to its
 * end, and is delivered if the sink takes all of it.
 * @throws what the body or `beforeLastChunk` throws; the sink then never gets the end of the body. An error that names
 * a header whose value is not printable ASCII.
 */
export async function post(options: PostOptions): Promise<PostResult> {
  const chunks = options.body[Symbol.asyncIterator]();
  const clock = new Clock({ ...defaultLimits, ...options.limits }, options.signal);
  try {
    const headers = checkedHeaders(options.headers);
    const sink = parseSink(options.sink, options.allowed);
    if (sink === undefined) return { outcome: "refused", cause: "SINK", sentWhole: false };
    const addresses = await addressesOf(sink, options, clock);
    if (addresses instanceof Error) return failed(addresses);
    if (!addresses.every((address) => mayConnect(address, sink.port, options))) {
      return { outcome: "refused", cause: "ADDRESS", sentWhole: false };
    }
    const socket = await firstConnected(addresses, sink, options, clock);
    if (socket instanceof Error) return failed(socket);
    return await send(socket, { ...headers, host: sink.authority }, sink.path, chunks, options, clock);
  } finally {
    clock.stop();
    await chunks.return?.();
  }
}

function checkedHeaders(headers: PostOptions["headers"]): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const name of headerNames) {
    const value = headers[name];
    if (value === undefined) continue;
    if (!/^[ -~]*$/.test(value)) throw new Error(`header ${name} is not printable ASCII`);
    checked[name] = value;
  }
  return checked;
}

/** The end of an attempt that this side gives up. */
class AttemptAborted extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

function failed(error: Error, sentWhole = false): PostResult {
  const cause = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return { outcome: "failed", cause, sentWhole };
}

const bytesPerMebibyte = 1_048_576;

/** The time of one attempt; its signal aborts with the error that the attempt has failed with. */
class Clock {
  readonly limits: Limits;
  readonly #outer: AbortSignal | undefined;
  readonly #ending = new AbortController();
  readonly #started = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(limits: Limits, outer: AbortSignal | undefined) {
    this.limits = limits;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#abandon);
    if (outer?.aborted) this.#abandon();
    this.expectProgress(Number.POSITIVE_INFINITY);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Starts to wait for something that may take so many milliseconds, and the attempt no longer than it may. */
  expectProgress(milliseconds: number): void {
    clearTimeout(this.#timer);
    const { attempt, perMebibyte } = this.limits;
    const max = attempt + (this.#bytes / bytesPerMebibyte) * perMebibyte;
    const left = this.#started + max - performance.now();
    const code = milliseconds < left ? "STALLED" : "OVERTIME";
    this.#timer = setTimeout(
      () => this.#ending.abort(new AttemptAborted(code)),
      Math.max(0, Math.min(milliseconds, left)),
    );
  }

  /** Counts what the sink has taken. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * What a step comes to within so many milliseconds of the attempt, or the error that ended it first. Its signal
   * aborts when nothing waits for it any more.
   */
  async within<Value>(
    milliseconds: number,
    code: string,
    step: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | Error> {
    const ending = new AbortController();
    const end = () => ending.abort(this.signal.reason);
    const timer = setTimeout(() => ending.abort(new AttemptAborted(code)), milliseconds);
    this.signal.addEventListener("abort", end);
    try {
      this.signal.throwIfAborted();
      const ended = new Promise<never>((_, reject) => {
        ending.signal.addEventListener("abort", () => reject(ending.signal.reason));
      });
      return await Promise.race([step(ending.signal), ended]);
    } catch (error) {
      if (error instanceof Error) return error;
      throw error;
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", end);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abandon);
  }

  readonly #abandon = () => this.#ending.abort(new AttemptAborted("ABORTED"));
}

async function addressesOf(
  sink: Sink,
  options: PostOptions,
  clock: Clock,
): Promise<readonly string[] | Error> {
  if (sink.addresses !== undefined) return sink.addresses;
  const { resolve = lookUp } = options;
  const addresses = await clock.within(clock.limits.lookup, "LOOKUP_TIMEOUT", () => resolve(sink.hostname));
  return addresses instanceof Error || addresses.length > 0 ? addresses : new AttemptAborted("NO_ADDRESS");
}

/** Looks up the name as it is: the dot keeps the resolver from trying it inside of a search domain. */
async function lookUp(name: string): Promise<readonly string[]> {
  const found = await lookup(`${name}.`, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** A connection to the first of the addresses that can be connected to, ready to be written to. */
async function firstConnected(
  addresses: readonly string[],
  sink: Sink,
  options: PostOptions,
  clock: Clock,
): Promise<Socket | Error> {
  let last: Error = new AttemptAborted("NO_ADDRESS");
  for (const address of addresses) {
    const socket = await clock.within(clock.limits.connect, "CONNECT_TIMEOUT", (signal) =>
      connected(address, sink, options, signal),
    );
    if (!(socket instanceof Error)) return socket;
    last = socket;
  }
  return last;
}

async function connected(
  address: string,
  sink: Sink,
  options: PostOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const { hostname, port, secure } = sink;
  const socket = connect({ host: address, port, noDelay: true });
  signal.addEventListener("abort", () => socket.destroy());
  await opened(socket, "connect");
  if (!mayConnect(socket.remoteAddress ?? "", port, options)) {
    socket.destroy();
    throw new AttemptAborted("REMOTE_ADDRESS");
  }
  if (!secure) return socket;
  const tls = startTls({
    socket,
    // The name that the certificate has to have; an address is not sent as a server's name (RFC 6066 section 3).
    host: hostname,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  await opened(tls, "secureConnect");
  return tls;
}

/** Rejects when the socket fails first. The socket keeps a listener for errors, without which one ends the process. */
async function opened(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    socket.on("error", reject);
    socket.once("close", () => reject(new AttemptAborted("CLOSED")));
  });
}

const maxHeaderBytes = 16_384;
const maxAnswerBytes = 16_384;

/** Answers with a status of 1xx, each of which takes time to read and says nothing. */
const maxInterimAnswers = 16;

async function send(
  socket: Socket,
  headers: Readonly<Record<string, string>>,
  path: string,
  chunks: AsyncIterator<Buffer>,
  options: PostOptions,
  clock: Clock,
): Promise<PostResult> {
  const request = startRequest({
    method: "POST",
    path,
    headers: { ...headers, "transfer-encoding": "chunked" },
    // Nothing of an agent: no pool, no proxy.
    createConnection: () => socket,
    maxHeaderSize: maxHeaderBytes,
  });
  const end = () => request.destroy(clock.signal.reason);
  clock.signal.addEventListener("abort", end);
  if (clock.signal.aborted) end();
  try {
    const exchange = new Exchange(request, socket);
    const sentWhole = await sendBody(exchange, chunks, options, clock);
    const response = await exchange.response;
    if (response instanceof Error) return failed(response, sentWhole);
    if (exchange.isAcceptedEarly) {
      clock.expectProgress(Number.POSITIVE_INFINITY);
      const failure = await exchange.failureWithin(clock.limits.stall);
      if (failure !== undefined) return failed(failure, sentWhole);
    } else {
      await readToEnd(response, clock.limits.answer);
    }
    return resultOf(response, sentWhole, options.now?.() ?? new Date());
  } finally {
    clock.signal.removeEventListener("abort", end);
    request.destroy();
  }
}

/** A request and its answer on one connection. */
class Exchange {
  /** The answer, or what came instead of it. */
  readonly response: Promise<IncomingMessage | Error>;
  readonly #request: ClientRequest;
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  /** Whether the system has taken the request to its end. */
  #isFlushed = false;
  #isAcceptedEarly = false;
  #wantsMore = true;
  /** What ended the connection before both sides were done with it. */
  #failure: Error | undefined;
  #stopWaiting = () => {};

  constructor(request: ClientRequest, socket: Socket) {
    this.#request = request;
    this.#socket = socket;
    let answer: IncomingMessage | undefined;
    this.response = new Promise((resolve) => {
      const fail = (error: Error) => {
        this.#failure ??= error;
        resolve(error);
        this.#stop();
      };
      request.once("response", (response) => {
        answer = response;
        // An answer that breaks off has said what counts.
        response.on("error", () => {});
        const isAccepted = outcomeOf(response.statusCode ?? 0) === "delivered";
        this.#isAcceptedEarly = isAccepted && !this.#isFlushed;
        resolve(response);
        if (!isAccepted) this.#stop();
      });
      request.on("error", fail);
      request.once("close", () => {
        if (!this.#isFlushed || !answer?.complete) fail(new AttemptAborted("CLOSED"));
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

  /** False from a status that is not 2xx, or the end of the connection. */
  get wantsMore(): boolean {
    return this.#wantsMore;
  }

  /** Whether a status of 2xx came before the request was sent to its end, so that it says little about the rest. */
  get isAcceptedEarly(): boolean {
    return this.#isAcceptedEarly;
  }

  /** Sends a chunk; true when it is taken, and false when no more is wanted. */
  async write(chunk: Buffer): Promise<boolean> {
    return await this.#unlessStopped((taken) => {
      this.#request.write(chunk, (error) => {
        if (!error) taken();
      });
    });
  }

  /** Sends the last chunk, if there is any, and the end. */
  async end(chunk: Buffer | undefined): Promise<boolean> {
    return await this.#unlessStopped((taken) => {
      this.#request.end(chunk, () => {
        if (this.#socket.destroyed) return;
        this.#isFlushed = true;
        taken();
      });
    });
  }

  /** Waits for a step as long as more is wanted; true when it is over, and false when no more is wanted. */
  async whileWanted(step: Promise<void> | undefined): Promise<boolean> {
    return await this.#unlessStopped((over, fail) => void Promise.resolve(step).then(over, fail));
  }

  /**
   * Waits until the sink ends the connection, as every request asks it to (`Connection: close`, RFC 9112 section 9.6).
   * @returns what broke it off while the sink may not have taken the whole request; undefined when it ended well, or is
   * still open after so many milliseconds.
   */
  async failureWithin(milliseconds: number): Promise<Error | undefined> {
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

/**
 * Sends one chunk after the other until all are sent or the sink wants no more. It holds one back until it knows
 * whether that is the last.
 * @returns whether the last chunk was released.
 */
async function sendBody(
  exchange: Exchange,
  chunks: AsyncIterator<Buffer>,
  { bufferPool, beforeLastChunk }: PostOptions,
  clock: Clock,
): Promise<boolean> {
  const isOver = () => !exchange.wantsMore || clock.signal.aborted;
  const taken = (chunk: Buffer) => {
    bufferPool?.push(chunk);
    clock.count(chunk.length);
  };
  let held: Buffer | undefined;
  while (true) {
    // The body's time is not the sink's: it counts for the attempt only.
    clock.expectProgress(Number.POSITIVE_INFINITY);
    const next = await unlessOver(() => chunks.next(), isOver);
    if (next === undefined) return false;
    if (next.done) break;
    clock.expectProgress(clock.limits.stall);
    if (held !== undefined) {
      if (!(await exchange.write(held))) return false;
      taken(held);
    }
    held = next.value;
  }
  const mayRelease = await unlessOver(() => exchange.whileWanted(beforeLastChunk?.()), isOver);
  if (mayRelease !== true) return false;
  clock.expectProgress(clock.limits.stall);
  if ((await exchange.end(held)) && held !== undefined) taken(held);
  clock.expectProgress(clock.limits.stall);
  return true;
}

/** What a step comes to, or undefined when the sending is over; what the step throws for that reason is no fault. */
async function unlessOver<Value>(
  step: () => Promise<Value>,
  isOver: () => boolean,
): Promise<Value | undefined> {
  if (isOver()) return undefined;
  try {
    const value = await step();
    // A sink that takes everything at once calls back at once: only another turn lets an early answer and the clock in.
    await nextTurn();
    return isOver() ? undefined : value;
  } catch (error) {
    if (isOver()) return undefined;
    throw error;
  }
}

/** Reads what is left of an answer, as far as that is little and comes soon. */
async function readToEnd(response: IncomingMessage, milliseconds: number): Promise<void> {
  if (response.closed) return;
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
    response.on("data", (data: Buffer) => {
      bytes += data.length;
      if (bytes >= maxAnswerBytes) resolve();
    });
    // An answer that breaks off has said what counts.
    response.on("error", () => resolve());
    response.once("close", resolve);
  });
  clearTimeout(timer);
}

function resultOf(
  { statusCode: status = 0, headers }: IncomingMessage,
  sentWhole: boolean,
  now: Date,
): PostResult {
  const outcome = outcomeOf(status);
  if (outcome !== "failed") return { outcome, status, sentWhole };
  const seconds = retryAfterSeconds(headers["retry-after"], now);
  return { outcome, status, sentWhole, ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) };
}
