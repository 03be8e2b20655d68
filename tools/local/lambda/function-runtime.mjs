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

let onTaken = () => {};
parentPort.on("message", async ({ taken, event, context, endsAt }) => {
  if (taken) onTaken();
  else if (event !== undefined) parentPort.postMessage(await answer(event, context, endsAt));
});
parentPort.postMessage({ ready: true });

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
  const response = new ResponseStream(send);
  try {
    await handler(event, response, context);
  } catch (error) {
    if (!response.destroyed) await finished(response.end());
    throw error;
  }
  await finished(response);
}

/** Sends a copy: what was written belongs to the handler. */
function send(chunks) {
  const chunk = new Uint8Array(Buffer.concat(chunks));
  return new Promise((resolve) => {
    onTaken = resolve;
    parentPort.postMessage({ chunk }, [chunk.buffer]);
  });
}
