/**
 * The Lambda runtime inside a function's thread: loads the handler, sends `{ready: true}`, then handles one event after
 * the other. It sends `{result}` or, for a handler that streams, any number of `{chunk}` and `{ended: true}`;
 * `{errorType, errorMessage}` when the handler fails. After a chunk it waits for `{taken: true}`. It exits at
 * `{exit: true}`.
 */
import { finished } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { awslambda, isStreaming, ResponseStream } from "./response-stream.mjs";

parentPort.on("message", ({ exit }) => {
  if (exit) process.exit();
});
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
for (const stream of [process.stdout, process.stderr]) {
  stream._writev = (written, callback) => {
    logged.push(...written.map(({ chunk }) => chunk));
    logTurn ??= setImmediate(() => post({}));
    callback();
  };
}
process.on("exit", () => post({}));

/** Sends a message, with the lines logged before it. */
function post(message, transferred) {
  clearImmediate(logTurn);
  logTurn = undefined;
  const log = logged;
  logged = [];
  if (log.length > 0) parentPort.postMessage({ ...message, log }, transferred);
  else if (Object.keys(message).length > 0) parentPort.postMessage(message, transferred);
}

let chunks;
parentPort.on("message", async ({ taken, event, context, endsAt }) => {
  if (taken) return chunks?.onTaken();
  chunks = new Chunks();
  chunks.end(await answer(event, context, endsAt));
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

/** What was written before a failure is sent before the failure is. */
async function stream(event, context) {
  const response = new ResponseStream((written) => chunks.send(written));
  try {
    await handler(event, response, context);
  } catch (error) {
    if (!response.destroyed) await finished(response.end());
    throw error;
  }
  await finished(response);
}

/** Up to so many bytes wait for the end of the turn; the handler may go on meanwhile. */
const heldBytes = 16_384;

/** What one event's handler streams. */
class Chunks {
  onTaken = () => {};
  #isTaken = Promise.resolve();
  #held = [];
  #turn;
  #hasEnded = false;

  /** Resolves when the handler may write more. */
  async send(written) {
    await this.#isTaken;
    if (this.#hasEnded) return;
    this.#held.push(...written);
    const bytes = this.#held.reduce((sum, { length }) => sum + length, 0);
    if (bytes > heldBytes) return await this.#pass();
    this.#turn ??= setImmediate(() => this.#pass());
  }

  /** Sends the last message of the event, with the chunk that is held. */
  async end(last) {
    await this.#isTaken;
    this.#hasEnded = true;
    clearImmediate(this.#turn);
    if (this.#held.length === 0) return post(last);
    const chunk = joined(this.#held);
    post({ ...last, chunk }, [chunk.buffer]);
  }

  #pass() {
    clearImmediate(this.#turn);
    this.#turn = undefined;
    const chunk = joined(this.#held);
    this.#held = [];
    this.#isTaken = new Promise((resolve) => (this.onTaken = resolve));
    post({ chunk }, [chunk.buffer]);
    return this.#isTaken;
  }
}

/** In memory of its own, which can be transferred. */
function joined(chunks) {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
