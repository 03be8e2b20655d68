import type { KnipConfig } from "knip";
import { functionIds } from "./infra/bundles.ts";

export default {
  entry: [
    ...functionIds.map((id) => `functions/${id}.ts`),
    "infra/main.ts",
    // Started by a script that knip does not see through: `exec tsx …`.
    "tools/local/start.ts",
    "tools/local/*.mjs",
    "tools/bench/*.{ts,mjs}",
  ],
  project: ["{functions,shared,infra,tools,test}/**/*.{ts,mjs}"],
} satisfies KnipConfig;
