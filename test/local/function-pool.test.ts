import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { FunctionPool } from "../../tools/local/lambda/function-pool.ts";

/** Writes so many chunks of 64 KiB. */
const handler = `
import { once } from "node:events";
export const handler = awslambda.streamifyResponse(async ({ chunks }, stream) => {
  for (let left = chunks; left > 0; left--)
    if (!stream.write(Buffer.alloc(65_536))) await once(stream, "drain");
  stream.end();
});
`;

test("a pool answers an event while every environment waits for a reader that does not read", async () => {
  const folder = temporaryFolder("function-pool-");
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, "index.mjs"), handler);
  const definition = {
    logicalId: "Sample",
    name: "sample",
    arn: "arn:aws:lambda:eu-west-1:000000000000:function:sample",
    handler: "index.handler",
    assetDirectory: folder.path,
    memoryMegabytes: 128,
    timeoutSeconds: 60,
    initializationSeconds: 60,
    environment: {},
    reservedConcurrency: undefined,
  };
  const pool = new FunctionPool(definition, {}, { write: () => true }, { maxThreads: 2 });
  onTestFinished(() => pool.close());
  const unread = await Promise.all([pool.stream({ chunks: 100 }), pool.stream({ chunks: 100 })]);

  expect(await pool.invoke({ chunks: 0 })).toBeDefined();

  for (const stream of unread) stream.end();
});
