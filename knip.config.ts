import type { KnipConfig } from "knip";
import { bundledIds, handlerPath } from "./infra/bundles.ts";

export default {
  workspaces: {
    ".": {
      entry: [
        ...bundledIds.map(handlerPath),
        "infra/main.ts",
        "console/main.ts",
        // Started by scripts that knip does not see through, `exec node …`, and by other programs.
        "tools/{local/start,ncs,invoke,bench}.ts",
        "tools/local/import-data.ts",
        "test/infra/make-templates.ts",
        "tools/{local/**,demo}/*.mjs",
        "tools/import/density/parse-thread.ts",
        "tools/bench/programs/*.{ts,mjs}",
        "test/generators/{vitest.config,*.check}.ts",
        // Compiled, and never run.
        "test/contract/refused.ts",
      ],
      project: ["{functions,shared,infra,console,tools,test}/**/*.{ts,mjs}"],
    },
    client: {
      // Made by `npm run docs`.
      entry: ["generate-schema.ts"],
      project: ["*.ts"],
    },
  },
  // Resolved by name in `tools/docs/docs.ts`, which runs it; imported by blocks of documents that a test runs.
  ignoreDependencies: ["@redocly/cli", "express", "fastify"],
  // Make a named pipe, read a file as GDAL does, run in a pseudo-terminal, and mount a small disk.
  ignoreBinaries: ["mkfifo", "ogrinfo", "script", "unshare"],
} satisfies KnipConfig;
