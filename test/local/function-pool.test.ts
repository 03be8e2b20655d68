import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { FunctionPool, type FunctionPoolLimits } from "../../tools/local/lambda/function-pool.ts";

/** `handler` waits as long as the event says and returns its thread's id; `stream` writes so many chunks of 64 KiB. */
const handler = `
import { threadId } from "node:worker_threads";
import { setTimeout as wait } from "node:timers/promises";
export const handler = async ({ milliseconds }) => {
  await wait(milliseconds);
  return threadId;
};
`;

let folder: TemporaryFolder;
let pool: FunctionPool;

beforeEach(() => {
  folder = temporaryFolder("function-pool-");
  writeFileSync(join(folder.path, "index.mjs"), handler);
});

afterEach(async () => {
  await pool.close();
  folder.remove();
});

function open(limits: FunctionPoolLimits): void {
  const definition = {
    logicalId: "Sample",
    name: "sample",
    arn: "arn:aws:lambda:eu-west-1:000000000000:function:sample",
    handler: "index.handler",
    assetDirectory: folder.path,
    memoryMegabytes: 128,
    timeoutSeconds: 60,
    environment: {},
    reservedConcurrency: undefined,
  };
  pool = new FunctionPool(definition, {}, { write: () => true }, limits);
}

const run = (milliseconds: number) => pool.invoke({ milliseconds });

describe("a pool of execution environments", () => {
  it("ends an environment that gets no event for some time, and starts another for the next event", async () => {
    open({ idleMilliseconds: 50 });
    const first = await run(0);

    await expect.poll(async () => await run(0), { interval: 500 }).not.toBe(first);
  });

  it("keeps an environment while events come", async () => {
    open({ idleMilliseconds: 60_000 });
    const first = await run(0);

    expect([await run(0), await run(0)]).toEqual([first, first]);
  });

  it("has no more environments than processors while these have no time to spare", async () => {
    open({ maxThreads: 100, spareTime: () => new Promise(() => {}) });

    const threads = await Promise.all(Array.from({ length: 100 }, () => run(1)));

    expect(new Set(threads).size).toBeLessThanOrEqual(availableParallelism());
  });

  it("starts another environment for a waiting event as soon as processors have time to spare", async () => {
    let spare = () => {};
    const spareTime = new Promise<void>((resolve) => {
      spare = resolve;
    });
    open({ maxThreads: 100, spareTime: () => spareTime });
    const slow = Array.from({ length: availableParallelism() }, () => expect(run(60_000)).rejects.toThrow());
    const waiting = run(0);

    spare();

    expect(await waiting).toEqual(expect.any(Number));
    await pool.close();
    await Promise.all(slow);
  });
});
