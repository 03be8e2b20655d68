import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import * as z from "zod";
import { stackName } from "../../infra/stack-names.ts";
import { readJsonAs } from "../import/json-file.ts";
import { removedGrants, templateSchema } from "./grants.ts";
import type { Print } from "./print.ts";

/** Of the project, wherever the command is run. */
const synthesized = fileURLToPath(new URL(`../../cdk.out/${stackName}.template.json`, import.meta.url));

/** `ncs removed-grants`: whether a release takes a right from the version that it replaces. */
export function addRemovedGrants(command: Command, print: Print): void {
  command
    .option("--template <file>", "what `cdk synth` wrote", synthesized)
    .action(async (deployed: string, { template }: { template: string }) => {
      const removed = removedGrants(await readTemplate(deployed), await readTemplate(template));
      for (const { role, action, resource } of removed) print(`${role}  ${action}  ${resource}`);
      if (removed.length > 0) {
        throw new Error(
          `${removed.length} rights are removed: keep them, and remove them in the next release`,
        );
      }
      print("No right is removed");
    });
}

const textOfTemplate = z
  .string()
  .refine((text) => templateSchema.safeParse(jsonIn(text)).success)
  .transform((text) => templateSchema.parse(jsonIn(text)));

/** The AWS CLI writes a template as an object, or as its text. */
const templateFile = z.union([templateSchema, textOfTemplate], "must be a template of CloudFormation");

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function readTemplate(path: string): Promise<z.output<typeof templateSchema>> {
  return await readJsonAs(templateFile, path);
}
