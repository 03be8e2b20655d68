import type { Worker } from "node:worker_threads";

/**
 * The first message of a thread.
 * @throws {Error} naming the thread if it ends or sends nothing in time; the caller stops it.
 */
export function firstMessage(thread: Worker, milliseconds: number, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) => {
      clearTimeout(timer);
      reject(new Error(`${name} did not start: ${reason}`, { cause }));
    };
    const timer = setTimeout(() => fail(`no message within ${milliseconds / 1000} s`), milliseconds);
    thread.once("message", (message) => {
      clearTimeout(timer);
      resolve(message);
    });
    thread.once("error", (error) => fail(error.message, error));
    thread.once("exit", (code) => fail(`exit code ${code}`));
  });
}
