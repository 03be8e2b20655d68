import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { defineConfig } from "vitest/config";
import { busyMachine } from "./test/support/busy-machine.ts";
import { WaitingInTurn } from "./test/support/sequencer.ts";

const tests = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => `test/${file.replaceAll("\\", "/")}`);
const service = tests.filter((file) => readsService(file));

/** Whether a file, or one of the tests' own files that it imports, reads what the started service provides. */
function readsService(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  if (/\binject\("/.test(text)) return true;
  const imported = [...text.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, path]) =>
    join(dirname(file), path ?? ""),
  );
  return imported.some((path) => path.startsWith("test/") && readsService(path, seen));
}

export default defineConfig(({ mode }) => {
  // `--mode all` runs long tests whole: `test/support/sample.ts`. Projects do not inherit the mode.
  const env = { TEST_MODE: mode };
  return {
    test: {
      // More than there are processors, because tests wait as well: for queues, time-outs and programs.
      maxWorkers: availableParallelism() + 3,
      sequence: { sequencer: WaitingInTurn },
      projects: [
        {
          extends: true,
          test: { name: "unit", env, include: tests.filter((file) => !service.includes(file)) },
        },
        {
          extends: true,
          // The service and its tables are started once; every test makes identifiers of its own.
          test: { name: "service", env, include: service, globalSetup: ["test/support/local-service.ts"] },
        },
      ],
      isolate: false,
      // What a file is compiled to is kept by its content: both projects, and later runs, compile it no more.
      experimental: { fsModuleCache: true },
      setupFiles: ["test/support/random-runs.ts"],
      // Each thread compiles the WebAssembly of Node.js anew. The threads that optimize it, and those that help to
      // collect garbage, cost more than they save: see CONTRIBUTING.md. Most code runs too seldom to be worth
      // optimizing: code is when it has run fifteen times as often as usual.
      execArgv: ["--liftoff-only", "--single-threaded-gc", "--interrupt-budget=1000000"],
      expect: { poll: { timeout: 25_000 } },
      testTimeout: 120_000,
      hookTimeout: 180_000,
      env: {
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
        // The machine may be busy with other tests: `test/support/busy-machine.ts`.
        ...busyMachine,
      },
    },
  };
});
