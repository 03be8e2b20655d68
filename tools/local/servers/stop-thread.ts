import type { Worker } from "node:worker_threads";

const graceMilliseconds = 500;

/**
 * Ends a thread. The message `{exit: true}` asks it to exit by itself: Node.js 20 can crash with "v8::ToLocalChecked
 * Empty MaybeLocal" if a thread is terminated while it parses an HTTP message. A thread that is too busy to read the
 * message is terminated after half a second.
 */
export async function stopThread(thread: Worker): Promise<void> {
  const hasEnded = thread.threadId === -1;
  if (hasEnded) return;
  const exit = new Promise((resolve) => thread.once("exit", resolve));
  const timer = setTimeout(() => void thread.terminate(), graceMilliseconds);
  thread.postMessage({ exit: true });
  await exit;
  clearTimeout(timer);
}
