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

test("a thread exits by itself when it is asked to", async () => {
  const asked = await thread("({ exit }) => exit && process.exit(7)");
  const exit = once(asked, "exit");
  await stopThread(asked);
  expect(await exit).toEqual([7]);
});

test.each([
  ["computes for ever", await thread("() => {}", "while (true);")],
  ["does not listen", await thread("() => {}")],
])("a thread that %s is terminated", async (_, busy) => {
  const exit = once(busy, "exit");
  await stopThread(busy);
  expect(await exit).toEqual([1]);
});

test("a thread that has ended is left alone", async () => {
  const ended = await thread("() => process.exit()");
  await stopThread(ended);
  await stopThread(ended);
  expect(ended.threadId).toBe(-1);
});
