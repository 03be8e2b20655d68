import { join } from "node:path";
import { constructIdOf } from "../infra/bundles.ts";
import type { FunctionId } from "../infra/functions.ts";
import { temporaryFolder } from "../shared/temporary-folder.ts";
import type { Building } from "./build.ts";
import { cachedFolder, installed } from "./build-cache.ts";
import { runProgram } from "./child-program.ts";
import type { Template } from "./local/template/template.ts";

/** The bundles and the cloud assembly of a local run, in folders of its own, so that runs do not share files. */
export interface MadeAssembly {
  /** The folder of the cloud assembly. */
  readonly assembly: string;
  /** The folder of the bundles the assembly was made from. */
  readonly bundles: string;
  readonly remove: () => void;
}

/** The files from which an assembly is made. */
export const assemblySources = [
  "functions",
  "shared",
  "infra",
  "console",
  "docs/openapi.json",
  "tools/build.ts",
  "tools/build-console.ts",
  "tools/console",
  "tools/import/density/drawn-city.ts",
  "tools/demo/density-model.json",
  "tools/demo/subscriber-token.mjs",
  "tools/make-assembly.ts",
  ...installed,
  "tsconfig.json",
];

/**
 * Builds the functions and synthesizes the stack into a new temporary folder. If the same sources were built before,
 * its cached files are given, under names of their own.
 * @param tokenEndpoint whether clients get tokens, as `TOKEN_ENDPOINT` says it.
 * @param onBuilding told of each step where there was none to give.
 */
export async function makeAssembly(
  tokenEndpoint = "on",
  onBuilding?: (building: Building) => void,
): Promise<MadeAssembly> {
  const { path, remove } = temporaryFolder("network-capabilities-");
  const made = { assembly: join(path, "assembly"), bundles: join(path, "functions"), remove };
  try {
    const cached = cachedFolder(`assembly-tokens-${tokenEndpoint}`, { sources: assemblySources });
    if (cached.restore(path)) return made;
    const parameters = [made.bundles, made.assembly, tokenEndpoint];
    // Settings are for deployments; an assembly in the cache follows from its sources alone.
    const { CDK_CONTEXT_JSON: _, ...environment } = process.env;
    const onLine = (line: string) => {
      if (line.startsWith("{")) onBuilding?.(JSON.parse(line) as Building);
    };
    await runProgram(new URL("./make-assembly.ts", import.meta.url), parameters, { environment, onLine });
    cached.store(path);
    return made;
  } catch (error) {
    remove();
    throw error;
  }
}

/** Lends an assembly and removes it afterwards. */
export async function withAssembly<Result>(use: (assembly: string) => Promise<Result>): Promise<Result> {
  const { assembly, remove } = await makeAssembly();
  try {
    return await use(assembly);
  } finally {
    remove();
  }
}

/** The logical id of a function: its construct's name and the eight digits that CDK appends. */
export function logicalIdOf(id: FunctionId, template: Template): string {
  const found = template.functions.find((candidate) => isFunction(id, candidate));
  if (found === undefined) throw new Error(`the template has no function ${id}`);
  return found.logicalId;
}

/** Whether a function of a template is the one with this id. */
export function isFunction(id: FunctionId, { logicalId }: { readonly logicalId: string }): boolean {
  return new RegExp(`^${constructIdOf(id)}[0-9A-F]{8}$`).test(logicalId);
}
