import { join } from "node:path";
import * as z from "zod";
import { constructIdOf } from "../../infra/bundles.ts";
import type { FunctionId, ReleaseCheckId } from "../../infra/functions.ts";
import { stackName } from "../../infra/stack-names.ts";
import { readJsonAs } from "../import/json-file.ts";

/** The variables of a function by their names; one that refers to a resource has the logical id of that. */
export type SynthesizedVariables = Readonly<Record<string, string>>;

const value = z.union([z.string(), z.object({ Ref: z.string() }).transform(({ Ref }) => Ref)]);

const lambdaFunction = z.object({
  Type: z.literal("AWS::Lambda::Function"),
  Properties: z.object({
    Environment: z
      .object({ Variables: z.record(z.string(), value) })
      .transform(({ Variables }) => Variables)
      .default({}),
  }),
});

const otherResource = z.object({ Type: z.string() }).transform(() => undefined);

const template = z.object({ Resources: z.record(z.string(), z.union([lambdaFunction, otherResource])) });

/**
 * The variables of every function of a stage by its logical id, from what `cdk synth` has written.
 * @param assembly the folder of all templates.
 * @throws {Error} naming the template if it is missing or malformed.
 */
export async function readSynthesizedFunctions(
  assembly: string,
): Promise<ReadonlyMap<string, SynthesizedVariables>> {
  const { Resources } = await readJsonAs(template, join(assembly, `${stackName}.template.json`));
  const functions = Object.entries(Resources).flatMap(([logicalId, found]) =>
    found === undefined ? [] : [[logicalId, found.Properties.Environment] as const],
  );
  return new Map(functions);
}

/** Whether a function of a template is the one with this id: its construct's name and the eight digits that CDK appends. */
export function isFunction(id: FunctionId | ReleaseCheckId, logicalId: string): boolean {
  return new RegExp(`^${constructIdOf(id)}[0-9A-F]{8}$`).test(logicalId);
}
