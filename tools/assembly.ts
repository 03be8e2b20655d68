import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FunctionId } from "../infra/access.ts";
import { networkCapabilities } from "../infra/app.ts";
import { constructName } from "../infra/bundles.ts";
import type { Stage } from "../infra/stage.ts";
import { buildFunctions } from "./build.ts";
import type { Template } from "./local/template.ts";

/** What a local run is made from; folders of its own, so that several runs do not meet. */
export interface MadeAssembly {
  /** The folder of the cloud assembly. */
  readonly assembly: string;
  /** The folder of the bundles the assembly was made from. */
  readonly bundles: string;
  readonly remove: () => void;
}

/** Builds the functions and synthesizes the stack into a new temporary folder, of the stage that is for trying out. */
export async function makeAssembly(stage: Stage = "dev"): Promise<MadeAssembly> {
  const folder = mkdtempSync(join(tmpdir(), "network-capabilities-"));
  const discard = () => rmSync(folder, { recursive: true, force: true });
  // Also when the program is stopped half-way.
  process.once("exit", discard);
  const remove = () => {
    process.off("exit", discard);
    discard();
  };
  const made = { assembly: join(folder, "assembly"), bundles: join(folder, "functions"), remove };
  try {
    await buildFunctions(made.bundles);
    networkCapabilities({ outdir: made.assembly, bundles: made.bundles, stage, validation: false }).synth();
    return made;
  } catch (error) {
    remove();
    throw error;
  }
}

/** Lends an assembly; it is gone afterwards. */
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
  const pattern = new RegExp(`^${constructName(id)}[0-9A-F]{8}$`);
  const found = template.functions.find(({ logicalId }) => pattern.test(logicalId));
  if (found === undefined) throw new Error(`the template has no function ${id}`);
  return found.logicalId;
}
