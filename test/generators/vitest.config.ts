import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { busyMachine } from "../support/busy-machine.ts";

// `npm run check:clients` runs these files: they need packages that the project does not install.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["test/generators/*.check.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    env: busyMachine,
  },
});
