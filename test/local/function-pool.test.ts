import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { FunctionPool, type FunctionPoolLimits } from "../../tools/local/lambda/function-pool.ts";

/** `handler` waits as long as the event says and returns its thread's id; `stream` writes so many chunks of 64 KiB. */
const handler = `
import { once } from "node:events";
import { threadId } from "node:worker_threads";
import { setTimeout as wait } from "node:timers/promises";
export const handler = async ({ milliseconds }) => {
  await wait(milliseconds);
  return threadId;
};
export const stream = awslambda.streamifyResponse(async ({ chunks }, stream) => {
  for (let left = chunks; left > 0; left--)
    if (!stream.write(Buffer.alloc(65_536))) await once(stream, "drain");
  stream.end();
});
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

function open(limits: FunctionPoolLimits, exported = "handler"): void {
  const definition = {
    logicalId: "Sample",
    name: "sample",
    arn: "arn:aws:lambda:eu-west-1:000000000000:function:sample",
    handler: `index.${exported}`,
    assetDirectory: folder.path,
    memoryMegabytes: 128,
    timeoutSeconds: 60,
    environment: {},
    reservedConcurrency: undefined,
  };
  pool = new FunctionPool(definition, {}, { write: () => true }, limits);
}

const run = (milliseconds: number) => pool.invoke({ milliseconds });

test("a pool starts no more environments than there are processors before its pause has passed", async () => {
  open({ maxThreads: 100, pauseMilliseconds: 3_600_000 });

  const threads = await Promise.all(Array.from({ length: 100 }, () => run(1)));

  expect(new Set(threads).size).toBeLessThanOrEqual(availableParallelism());
});

test("a pool starts more environments than there are processors for an event that waits longer than its pause", async () => {
  open({ maxThreads: 100, pauseMilliseconds: 1 });
  const slow = Array.from({ length: availableParallelism() }, () => expect(run(60_000)).rejects.toThrow());
  const waiting = run(0);

  expect(await waiting).toEqual(expect.any(Number));
  await pool.close();
  await Promise.all(slow);
});

test("a pool answers an event while every environment waits for a reader that does not read", async () => {
  open({ maxThreads: 2 }, "stream");
  const unread = await Promise.all([pool.stream({ chunks: 100 }), pool.stream({ chunks: 100 })]);

  expect(await pool.invoke({ chunks: 0 })).toBeDefined();

  for (const stream of unread) stream.end();
});

test("a pool starts no more environments than its limit", async () => {
  open({ maxThreads: 1 });

  const threads = await Promise.all(Array.from({ length: 8 }, () => run(200)));

  expect(new Set(threads).size).toBe(1);
});
