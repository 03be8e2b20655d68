/**
 * The Lambda runtime inside a thread of functions: handles any number of events at a time, and loads a handler for the
 * first of its events, or all of them when it is told to `load`; then it sends `{loaded: true}`. Messages about an event have the request's id: any number of
 * `{chunk, isLast}` of a streaming handler, and at the end `{result}`, `{ended: true}`, or `{errorType, errorMessage}`.
 * The rest of a stream and the end of its invocation are one message. After each chunk before that, the stream waits for
 * `{taken}` with the request's id. All are marked `fromRuntime`, as the functions' own code can use the same port.
 */
import { flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { keepCompiled } from "../../compile-cache.mjs";
import { awslambda, isStreaming, ResponseStream } from "./response-stream.mjs";

keepCompiled();
globalThis.awslambda = awslambda;

/** The files of the handlers by the ids of their functions; how often the event loop has turned, and what is loading. */
const { files, turns, loading } = workerData;
setInterval(() => Atomics.add(turns, 0, 1), 200).unref();

const handlers = new Map();
function handlerOf(id) {
  if (!handlers.has(id)) handlers.set(id, load(id));
  return handlers.get(id);
}

async function load(id) {
  Atomics.add(loading, 0, 1);
  const { handler } = await import(pathToFileURL(files[id]).href).finally(() => Atomics.sub(loading, 0, 1));
  if (typeof handler === "function") return handler;
  throw Object.assign(new Error("handler is undefined or not exported"), { name: "Runtime.HandlerNotFound" });
}

let logged = [];
let logTurn;
/** The chunks of the events under way, by the request's id. */
const streams = new Map();
for (const stream of [process.stdout, process.stderr]) {
  stream._writev = (written, callback) => {
    logged.push(...written.map(({ chunk }) => chunk));
    logTurn ??= setImmediate(() => post({}));
    callback();
  };
}
process.on("exit", () => {
  for (const chunks of streams.values()) post(chunks.stop());
  post({});
});

/** Sends a message together with the lines logged before it. */
function post(message, transferred) {
  clearImmediate(logTurn);
  logTurn = undefined;
  const log = logged;
  logged = [];
  const isEmpty = Object.keys(message).length === 0;
  if (log.length > 0) parentPort.postMessage({ fromRuntime: true, ...message, log }, transferred);
  else if (!isEmpty) parentPort.postMessage({ fromRuntime: true, ...message }, transferred);
}

parentPort.on("message", async ({ load, taken, id, event, context, endsAt }) => {
  if (load) return await loadAll();
  if (taken !== undefined) return streams.get(taken)?.onTaken();
  const requestId = context.awsRequestId;
  const chunks = new Chunks(requestId);
  streams.set(requestId, chunks);
  const last = await answer(id, event, context, endsAt, chunks);
  streams.delete(requestId);
  post({ requestId, ...chunks.stop(), ...last });
});

/** One after another, so that an event that has come meanwhile waits for its own handler alone. */
async function loadAll() {
  for (const id of Object.keys(files)) await handlerOf(id);
  post({ loaded: true });
  // A thread that is terminated would not.
  flushCompileCache();
}

async function answer(id, event, lambdaContext, endsAt, chunks) {
  const context = {
    ...lambdaContext,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, endsAt - Date.now()),
  };
  try {
    const handler = await handlerOf(id);
    if (isStreaming(handler)) {
      await stream(handler, JSON.parse(event), context, chunks);
      return { ended: true };
    }
    const result = await handler(JSON.parse(event), context);
    return { result: JSON.stringify(result) ?? "null" };
  } catch (error) {
    const isError = error instanceof Error;
    return {
      errorType: isError ? error.name : typeof error,
      errorMessage: isError ? error.message : String(error),
    };
  }
}

/**
 * As in AWS's runtime (https://www.npmjs.com/package/aws-lambda-ric), an invocation ends only when its stream has been
 * taken, even if the handler has returned, and with an error of the stream unless the handler replaces its listeners.
 * There such an error ends the process, here its own invocation alone. The rest of a stream, at most 16 KiB, is not waited
 * for. Everything written before a failure is sent before the failure.
 */
async function stream(handler, event, context, chunks) {
  const response = new ResponseStream(chunks);
  const broken = new Promise((_, reject) => response.on("error", reject));
  const closed = new Promise((resolve) => response.on("close", resolve));
  const whole = new Promise((resolve) => response.on("finish", resolve));
  try {
    const handled = (async () => {
      await handler(event, response, context);
      await whole;
    })();
    await Promise.race([handled, broken]);
  } catch (error) {
    chunks.isFailing = true;
    response.end();
    await closed;
    throw error;
  }
}

/** Up to this many bytes are held until the end of the turn, while the handler continues. */
const heldBytes = 16_384;

/** The chunks that the handler of one event streams. */
class Chunks {
  /** Whether what is still sent precedes the handler's failure, so that no chunk completes the response. */
  isFailing = false;
  onTaken = () => {};
  #requestId;
  #isTaken = Promise.resolve();
  #held = [];
  #isWhole = false;
  #turn;

  constructor(requestId) {
    this.#requestId = requestId;
  }

  /** Resolves when the handler may write more. */
  async send(written) {
    await this.#isTaken;
    this.#held.push(...written);
    const bytes = this.#held.reduce((sum, { length }) => sum + length, 0);
    if (bytes > heldBytes) {
      clearImmediate(this.#turn);
      return await this.#pass();
    }
    this.#turn ??= setImmediate(() => this.#pass());
  }

  /** Sends what is held of a stream that has ended, and does not wait: Lambda buffers so few bytes. */
  async flush() {
    await this.#isTaken;
    this.#isWhole = true;
    clearImmediate(this.#turn);
    if (this.#held.length > 0) this.#turn = setImmediate(() => this.#pass());
  }

  /** Returns the rest of a stream that has just ended; nothing more of a destroyed one is sent. */
  stop() {
    clearImmediate(this.#turn);
    return this.#isWhole && this.#held.length > 0 ? this.#next() : {};
  }

  #pass() {
    this.#turn = undefined;
    const next = this.#next();
    this.#isTaken = new Promise((resolve) => (this.onTaken = resolve));
    post(next, [next.chunk.buffer]);
    return this.#isTaken;
  }

  #next() {
    const chunk = joined(this.#held);
    this.#held = [];
    return { requestId: this.#requestId, chunk, isLast: this.#isWhole && !this.isFailing };
  }
}

/** Copies chunks into one buffer of its own, which can be transferred. */
function joined(chunks) {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
