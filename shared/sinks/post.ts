import { type IncomingMessage, request as startRequest } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { AttemptTimer, defaultLimits, type Limits } from "./attempt-timer.ts";
import { addressesOf, type ConnectOptions, firstConnected } from "./connection.ts";
import { Exchange } from "./exchange.ts";
import { outcomeOf, retryAfterSeconds } from "./sink-answer.ts";
import { mayConnect, parseSink } from "./sink-url.ts";
import { userAgent } from "./user-agent.ts";

const headerNames = [
  "content-type",
  "authorization",
  "x-correlator",
  "x-density-basis",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "content-digest",
] as const;

/** What one attempt needs. */
export interface PostOptions extends ConnectOptions {
  readonly sink: string;
  /** Values are printable ASCII. */
  readonly headers: Readonly<Partial<Record<(typeof headerNames)[number], string>>>;
  /**
   * Always closed, even after an error. The next chunk is requested only when the sink has read all but one of the
   * previous ones.
   */
  readonly body: AsyncIterable<Buffer>;
  /** The bytes of the whole body, for `Content-Length`: many receivers read no body without one. */
  readonly bodyBytes: number;
  /**
   * Awaited within the attempt's time limits when all chunks but the last have been sent: the sink cannot have the
   * whole body before it resolves. If it rejects, the last chunk is never sent.
   */
  readonly beforeLastChunk?: () => Promise<void>;
  /** Receives the chunks that are no longer needed. */
  readonly bufferPool?: Buffer[];
  /** Aborts the attempt. The body should listen to it too: an attempt waits for its body to be closed. */
  readonly signal?: AbortSignal;
  readonly now?: () => Date;
  readonly limits?: Partial<Limits>;
}

/** The result of an attempt. A `cause` is an error code, never text from or about the sink. */
export type PostResult = {
  /** Whether the last chunk was sent, so that the sink may hold the whole body with any outcome. */
  readonly sentWhole: boolean;
} /** A refusal is not to be retried. `SINK`: not a valid sink URL. `ADDRESS`: an address that is not allowed. */ & (
  | { readonly outcome: "delivered" | "refused"; readonly status: number }
  | { readonly outcome: "refused"; readonly cause: "SINK" | "ADDRESS" }
  /** To be retried, but not before the time that the sink asks for. */
  | { readonly outcome: "failed"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly outcome: "failed"; readonly cause: string }
);

/**
 * Makes one attempt to POST a body to a sink. The sink is assumed to be hostile: it decides nothing but the status of
 * its response and, within limits, the time of the next attempt.
 *
 * Each attempt looks the name up again. If one of its addresses is neither public nor allowed, the sink is refused for
 * good. Otherwise the addresses are tried in turn, and the connected address is checked again before anything is sent.
 * There are no proxies, redirects or reused connections; TLS is 1.2 or later with a verified certificate.
 *
 * A status that arrives before the whole body is sent ends the sending, unless it is 2xx: then the rest of the body is
 * sent, and it counts as delivered if the sink reads all of it.
 * @throws what the body or `beforeLastChunk` throws, or that the body has not `bodyBytes`, in which cases the sink never
 * receives the end of the body; an error naming a header whose value is not printable ASCII.
 */
export async function post(options: PostOptions): Promise<PostResult> {
  const chunks = options.body[Symbol.asyncIterator]();
  const timer = new AttemptTimer({ ...defaultLimits, ...options.limits }, options.signal);
  try {
    const headers = checkedHeaders(options.headers);
    const sink = parseSink(options.sink, options.allowed);
    if (sink === undefined) return { outcome: "refused", cause: "SINK", sentWhole: false };
    const addresses = await addressesOf(sink, options, timer);
    if (addresses instanceof Error) return failed(addresses);
    if (!addresses.every((address) => mayConnect(address, sink.port, options))) {
      return { outcome: "refused", cause: "ADDRESS", sentWhole: false };
    }
    const socket = await firstConnected(addresses, sink, options, timer);
    if (socket instanceof Error) return failed(socket);
    return await send(socket, { ...headers, host: sink.authority }, sink.path, chunks, options, timer);
  } finally {
    timer.stop();
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

function failed(error: Error, sentWhole = false): PostResult {
  const cause = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return { outcome: "failed", cause, sentWhole };
}

const maxHeaderBytes = 16_384;
const maxAnswerBytes = 16_384;

async function send(
  socket: Socket,
  headers: Readonly<Record<string, string>>,
  path: string,
  chunks: AsyncIterator<Buffer>,
  options: PostOptions,
  timer: AttemptTimer,
): Promise<PostResult> {
  const request = startRequest({
    method: "POST",
    path,
    headers: { ...headers, accept: "*/*", "user-agent": userAgent, "content-length": options.bodyBytes },
    // Instead of an agent, which might pool connections or use a proxy. `undici` would have to be stopped from pooling,
    // redirecting and retrying, and its `lookup` hook is not called for literal addresses.
    createConnection: () => socket,
    maxHeaderSize: maxHeaderBytes,
  });
  // No `Connection: close`: after an early response, Node.js and other servers would close with the body half read.
  request.removeHeader("connection");
  const end = () => request.destroy(timer.signal.reason);
  timer.signal.addEventListener("abort", end);
  if (timer.signal.aborted) end();
  try {
    const exchange = new Exchange(request, socket);
    const sentWhole = await sendBody(exchange, chunks, options, timer);
    const response = await exchange.response;
    if (response instanceof Error) return failed(response, sentWhole);
    if (exchange.isAcceptedEarly) {
      timer.expectProgress(Number.POSITIVE_INFINITY);
      const failure = await exchange.failureWithin(timer.limits.stall);
      if (failure !== undefined) return failed(failure, sentWhole);
    } else {
      await readToEnd(response, timer.limits.answer);
    }
    return resultOf(response, sentWhole, options.now?.() ?? new Date());
  } finally {
    timer.signal.removeEventListener("abort", end);
    request.destroy();
  }
}

/**
 * Sends chunks until all are sent or the sink wants no more. Always holds one chunk back, because it may be the last.
 * @returns whether the last chunk was sent.
 */
async function sendBody(
  exchange: Exchange,
  chunks: AsyncIterator<Buffer>,
  { bodyBytes, bufferPool, beforeLastChunk }: PostOptions,
  timer: AttemptTimer,
): Promise<boolean> {
  const isOver = () => !exchange.wantsMore || timer.signal.aborted;
  const taken = (chunk: Buffer) => {
    bufferPool?.push(chunk);
    timer.count(chunk.length);
  };
  let held: Buffer | undefined;
  let bytesLeft = bodyBytes;
  while (true) {
    // Time spent waiting for the body is not a stall of the sink; it counts for the whole attempt only.
    timer.expectProgress(Number.POSITIVE_INFINITY);
    const next = await whileOpen(() => chunks.next(), isOver);
    if (next === undefined) return false;
    if (next.done) break;
    // An empty chunk at the end must not be the one that is held back.
    if (next.value.length === 0) continue;
    bytesLeft -= next.value.length;
    if (bytesLeft < 0) break;
    timer.expectProgress(timer.limits.stall);
    if (held !== undefined) {
      if (!(await exchange.write(held))) return false;
      taken(held);
    }
    held = next.value;
  }
  if (bytesLeft !== 0) throw new Error("a body of another length than its Content-Length");
  const mayRelease = await whileOpen(() => exchange.whileWanted(beforeLastChunk?.()), isOver);
  if (mayRelease !== true) return false;
  timer.expectProgress(timer.limits.stall);
  if ((await exchange.end(held)) && held !== undefined) taken(held);
  timer.expectProgress(timer.limits.stall);
  return true;
}

/** Runs a step; returns undefined once sending has stopped, even if the step throws because of that. */
async function whileOpen<Value>(
  step: () => Promise<Value>,
  isOver: () => boolean,
): Promise<Value | undefined> {
  if (isOver()) return undefined;
  try {
    const value = await step();
    // With a sink that reads everything at once the event loop would never turn; this lets an early response and the
    // timer in.
    await nextTurn();
    return isOver() ? undefined : value;
  } catch (error) {
    if (isOver()) return undefined;
    throw error;
  }
}

/** Reads the rest of a response, up to a maximum size and time. */
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
    // The status is enough; ignore a truncated body.
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
