import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { busyMachine } from "./test/support/busy-machine.ts";
import { LongestFirst } from "./test/support/sequencer.ts";
import { forgetAwsAccount } from "./tools/local/servers/aws-variables.ts";

// For this process, which starts the service, and the workers of tests, which begin with its environment.
forgetAwsAccount(process.env);

// What Node.js compiles is kept for the workers of tests and for the programs that tests start.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, "node_modules/.cache/node-compile-cache");
enableCompileCache(process.env.NODE_COMPILE_CACHE);

export default defineConfig(({ mode }) => ({
  test: {
    include: ["test/**/*.test.ts"],
    // Starts nothing until a file imports `test/support/service.ts`.
    globalSetup: ["test/support/global-setup.ts"],
    // Node.js runs what starts the service as it is: Vitest 4.1.12 ends by a TypeError where the stack of an error names
    // a module that it has run itself, in its first process, from the cache below.
    server: { deps: { external: [/\/test\/support\/global-setup\.ts$/] } },
    setupFiles: ["test/support/same-environment.ts", "test/support/random-runs.ts"],
    isolate: false,
    // One more than there are processors, because tests wait as well: for queues, time-outs and programs. With more,
    // a run takes as long, and functions under test exceed their time.
    maxWorkers: availableParallelism() + 1,
    // Concurrent tests of a file wait, and all of them at once: `test/shared/http/runtime-client.test.ts`.
    maxConcurrency: 10,
    // A run ends with short files, so that no worker is the last for long.
    sequence: { sequencer: LongestFirst },
    // What a file is compiled to is kept by its content: later runs compile it no more.
    experimental: { fsModuleCache: true },
    // For what hangs, far above what tests need on a busy machine. A long test that runs whole computes up to 70 times as
    // much as its sample.
    expect: { poll: { timeout: 100_000 } },
    testTimeout: mode === "long" ? 3_600_000 : mode === "all" ? 1_200_000 : 300_000,
    hookTimeout: 300_000,
    env: {
      // `--mode all` runs long tests whole, `--mode ci` what `npm test` leaves to CI: `test/support/sample.ts`.
      TEST_MODE: mode,
      // The machine may be busy with other tests: `test/support/busy-machine.ts`.
      ...busyMachine,
    },
  },
}));
