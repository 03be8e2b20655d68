import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { KeptContext } from "./settings.ts";

const file = fileURLToPath(new URL("../cdk.json", import.meta.url));

const cdkFile = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/** The context of the project's `cdk.json`, from any folder. */
export function keptContext(): KeptContext {
  return cdkFile.parse(JSON.parse(readFileSync(file, "utf8"))).context;
}
