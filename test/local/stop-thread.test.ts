import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { stopThread } from "../../tools/local/servers/stop-thread.ts";

/** Starts a thread that handles messages, and waits until it runs. */
async function thread(onMessage: string, then = ""): Promise<Worker> {
  const code = `const { parentPort } = require("node:worker_threads");
    parentPort.on("message", ${onMessage});
    parentPort.postMessage("up");
    ${then}`;
  const started = new Worker(code, { eval: true });
  await once(started, "message");
  return started;
}

test("stopThread lets a thread exit by itself", async () => {
  const asked = await thread("({ exit }) => exit && process.exit(7)");
  const exit = once(asked, "exit");
  await stopThread(asked);
  expect(await exit).toEqual([7]);
});

test.each([
  ["is in an endless loop", await thread("() => {}", "while (true);")],
  ["does not listen", await thread("() => {}")],
])("stopThread terminates a thread that %s", async (_, busy) => {
  const exit = once(busy, "exit");
  await stopThread(busy);
  expect(await exit).toEqual([1]);
});

test("stopThread does nothing to a thread that has ended", async () => {
  const ended = await thread("() => process.exit()");
  await stopThread(ended);
  await stopThread(ended);
  expect(ended.threadId).toBe(-1);
});
