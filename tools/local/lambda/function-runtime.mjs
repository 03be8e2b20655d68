/**
 * The Lambda runtime inside a function's thread: loads the handler, sends `{ready: true}`, then handles one event at a
 * time. It sends `{result}`, or, for a streaming handler, any number of `{chunk, isLast}` and then `{ended: true}`;
 * `{errorType, errorMessage}` if the handler fails. The rest of a stream and the end of its invocation are one message.
 * After each chunk before that, it waits for `{taken}` with the request's id. Its messages are marked `fromRuntime`, as
 * the function's own code can use the same port.
 */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { awslambda, isStreaming, ResponseStream } from "./response-stream.mjs";

globalThis.awslambda = awslambda;
const { file, exportName } = workerData;
const loaded = await import(pathToFileURL(file).href);
const handler = loaded[exportName];
if (typeof handler !== "function") {
  const missing = new Error(`${exportName} is undefined or not exported`);
  missing.name = "Runtime.HandlerNotFound";
  throw missing;
}

let logged = [];
let logTurn;
let chunks;
for (const stream of [process.stdout, process.stderr]) {
  stream._writev = (written, callback) => {
    logged.push(...written.map(({ chunk }) => chunk));
    logTurn ??= setImmediate(() => post());
    callback();
  };
}
process.on("exit", () => post(chunks?.stop()));

/** Sends a message together with the lines logged before it. */
function post(message, transferred) {
  clearImmediate(logTurn);
  logTurn = undefined;
  const log = logged;
  logged = [];
  if (log.length > 0) parentPort.postMessage({ fromRuntime: true, ...message, log }, transferred);
  else if (message !== undefined) parentPort.postMessage({ fromRuntime: true, ...message }, transferred);
}

parentPort.on("message", async ({ taken, event, context, endsAt }) => {
  if (taken !== undefined) return taken === chunks.requestId && chunks.onTaken();
  chunks = new Chunks(context.awsRequestId);
  const last = await answer(event, context, endsAt);
  post({ ...chunks.stop(), ...last });
});
post({ ready: true });

async function answer(event, lambdaContext, endsAt) {
  const context = {
    ...lambdaContext,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, endsAt - Date.now()),
  };
  try {
    if (isStreaming(handler)) {
      await stream(JSON.parse(event), context);
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
 * As in AWS's runtime (https://www.npmjs.com/package/aws-lambda-ric), an error of the stream ends the thread unless the
 * handler replaces its listeners, and an invocation ends only when its stream has been taken, even if the handler has
 * returned. Here the rest of a stream, at most 16 KiB, is not waited for. Everything written before a failure is sent before the failure.
 */
async function stream(event, context) {
  const response = new ResponseStream(chunks);
  response.on("error", (error) => {
    throw error;
  });
  const closed = new Promise((resolve) => response.on("close", resolve));
  const whole = new Promise((resolve) => response.on("finish", resolve));
  try {
    await handler(event, response, context);
    await whole;
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
  requestId;
  /** Whether what is still sent precedes the handler's failure, so that no chunk completes the response. */
  isFailing = false;
  onTaken = () => {};
  #isTaken = Promise.resolve();
  #held = [];
  #isWhole = false;
  #turn;

  constructor(requestId) {
    this.requestId = requestId;
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
    return { chunk, isLast: this.#isWhole && !this.isFailing };
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
