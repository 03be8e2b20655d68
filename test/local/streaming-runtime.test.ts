/** What handlers do with their stream, in a thread of a local run and on AWS's runtime client. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { FunctionPool } from "../../tools/local/lambda/function-pool.ts";
import { InvocationError } from "../../tools/local/lambda/invocation-error.ts";
import { RuntimeClient } from "../support/runtime-client.ts";

const source = `
import { setTimeout as wait } from "node:timers/promises";
let invocations = 0;
const replaceListeners = (stream) => stream.removeAllListeners("error").on("error", () => {});
const actions = {
  end: (stream) => void stream.end(),
  fail: () => { throw new TypeError("a fault"); },
  destroy: async (stream) => {
    await wait(100);
    stream.destroy();
    await wait(100);
  },
  destroyAndFail: async (stream) => {
    replaceListeners(stream);
    await wait(100);
    stream.destroy();
    throw new TypeError("a fault");
  },
  destroyAndReturn: async (stream) => {
    replaceListeners(stream);
    await wait(100);
    stream.destroy();
  },
};
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  stream.write(String(++invocations));
  await actions[event.do](stream);
});
`;

const folder = temporaryFolder("streaming-runtime-");
beforeAll(() => writeFileSync(join(folder.path, "index.mjs"), source));
afterAll(() => folder.remove());

/** An execution environment of the function, whose time-out is two seconds. */
interface Environment {
  start(): Promise<void>;
  /** Whether it serves another event after the handler has done this. */
  outlives(what: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A thread of a local run. If it has ended, the next event gets a new thread, which counts from 1. */
function localThread(): Environment {
  const definition = {
    logicalId: "Streaming",
    name: "streaming",
    arn: "arn:aws:lambda:eu-west-1:123456789012:function:streaming",
    assetDirectory: folder.path,
    handler: "index.handler",
    timeoutSeconds: 2,
    memoryMegabytes: 128,
    reservedConcurrency: undefined,
    environment: {},
  };
  const pool = new FunctionPool(definition, {}, { write: () => true }, { maxThreads: 1 });
  const run = async (what: string) => await text(await pool.stream({ do: what }));
  return {
    start: async () => {},
    outlives: async (what) => {
      await run(what).catch((error: unknown) => expect(error).toBeInstanceOf(InvocationError));
      return (await run("end")) === "2";
    },
    close: () => pool.close(),
  };
}

function runtimeClient(): Environment {
  const client = new RuntimeClient({ graceMilliseconds: 2_000 });
  return {
    start: () =>
      client.start({
        AWS_LAMBDA_FUNCTION_NAME: "streaming",
        AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "128",
        AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/streaming",
        AWS_LAMBDA_LOG_STREAM_NAME: "local",
        LAMBDA_TASK_ROOT: folder.path,
        _HANDLER: "index.handler",
      }),
    outlives: async (what) => {
      try {
        await client.invoke({ do: what }, { remainingMilliseconds: 2_000 });
      } catch {
        return false;
      }
      return (await client.invoke({ do: "end" })).streamed.toString() === "2";
    },
    close: () => client.close(),
  };
}

describe.each([
  ["in a local run", localThread],
  ["on AWS's runtime client", runtimeClient],
])("%s", (where, open) => {
  let environment: Environment;
  beforeEach(async () => {
    environment = open();
    await environment.start();
  });
  afterEach(() => environment.close());

  test.each([
    ["ends its stream", "end"],
    ["fails after it has written", "fail"],
    ["replaces the listeners of its stream, destroys it and fails", "destroyAndFail"],
  ])(`a handler that %s keeps its environment ${where}`, async (_, what) => {
    expect(await environment.outlives(what)).toBe(true);
  });

  test.each([
    ["destroys its stream", "destroy"],
    ["replaces the listeners of its stream, destroys it and returns", "destroyAndReturn"],
  ])(`a handler that %s ends its environment ${where}`, async (_, what) => {
    expect(await environment.outlives(what)).toBe(false);
  });
});
