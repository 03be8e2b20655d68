import { join } from "node:path";
import type { FunctionId, ReleaseCheckId } from "../infra/functions.ts";
import { temporaryFolder } from "../shared/temporary-folder.ts";
import { cachedFolder } from "./build-cache.ts";
import { runProgram } from "./child-program.ts";
import { importedFiles } from "./imported-files.ts";
import { pageSources } from "./local/pages.ts";

/** The bundles of all functions, in a folder of their own, so that programs do not share files. */
export interface MadeBundles {
  /** Has a folder for each function. */
  readonly bundles: string;
  readonly remove: () => void;
}

/** The files from which the bundles are made. */
export function bundleSources(): readonly string[] {
  const folders = ["functions", "shared", "infra", "docs/openapi.json"];
  return [...new Set([...folders, ...pageSources(), ...importedFiles("tools/build.ts")])];
}

/** Builds the functions into a new temporary folder; files that were built of the same sources before are given again. */
export async function makeBundles(): Promise<MadeBundles> {
  const { path, remove } = temporaryFolder("network-capabilities-bundles-");
  const made = { bundles: join(path, "functions"), remove };
  try {
    const cached = cachedFolder("bundles", { sources: bundleSources() });
    if (cached.restore(path)) return made;
    await runProgram(new URL("./build.ts", import.meta.url), [made.bundles]);
    cached.store(path);
    return made;
  } catch (error) {
    remove();
    throw error;
  }
}

/** The variables by which AWS's runtime interface client finds the bundle of a function. */
export function bundleVariables(bundles: string, id: FunctionId | ReleaseCheckId): Record<string, string> {
  return { LAMBDA_TASK_ROOT: join(bundles, id), _HANDLER: "index.handler" };
}
