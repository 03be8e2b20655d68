import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { stackName } from "../../infra/stack-names.ts";
import { plural } from "../../shared/plural.ts";
import { removedGrants } from "./grants.ts";
import type { Print } from "./print.ts";
import { readTemplate } from "./template-file.ts";

/** The project's template, in any working directory. */
const synthesized = fileURLToPath(new URL(`../../cdk.out/${stackName}.template.json`, import.meta.url));

/** `ncs removed-grants`: whether a release takes a right from the version that it replaces. */
export function addRemovedGrants(command: Command, print: Print): void {
  command
    .option("--template <file>", "what `cdk synth` wrote", synthesized)
    .action(async (deployed: string, { template }: { template: string }) => {
      const removed = removedGrants(await readTemplate(deployed), await readTemplate(template));
      for (const { role, action, resource } of removed) print(`${role}  ${action}  ${resource}`);
      if (removed.length > 0) {
        const rights = `${removed.length} ${plural(removed.length, "right is", "rights are")}`;
        const them = plural(removed.length, "it", "them");
        throw new Error(`${rights} removed: keep ${them}, and remove ${them} in the next release`);
      }
      print("No right is removed");
    });
}
