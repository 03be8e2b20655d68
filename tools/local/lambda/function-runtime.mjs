/**
 * The Lambda runtime inside a function's thread: loads the handler, sends `{ready: true}`, then handles one event after
 * the other and sends `{result}` or `{errorType, errorMessage}`.
 */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

const { file, exportName } = workerData;
const loaded = await import(pathToFileURL(file).href);
const handler = loaded[exportName];
if (typeof handler !== "function") {
  const missing = new Error(`${exportName} is undefined or not exported`);
  missing.name = "Runtime.HandlerNotFound";
  throw missing;
}

parentPort.on("message", async ({ event, context, endsAt }) => {
  parentPort.postMessage(await answer(event, context, endsAt));
});
parentPort.postMessage({ ready: true });

async function answer(event, context, endsAt) {
  try {
    const result = await handler(JSON.parse(event), {
      ...context,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, endsAt - Date.now()),
    });
    return { result: JSON.stringify(result) ?? "null" };
  } catch (error) {
    const isError = error instanceof Error;
    return {
      errorType: isError ? error.name : typeof error,
      errorMessage: isError ? error.message : String(error),
    };
  }
}
