import { readFile } from "node:fs/promises";
import * as z from "zod";
import { tables } from "../../functions/areas.ts";
import { densityImportOutputs, queueOutput, signingKeyOutput, tableOutput } from "../../infra/outputs.ts";
import { densityImportStackOf, stackNames } from "../../infra/stack-names.ts";
import { bucketVariable, type VariableName } from "../../shared/environment.ts";
import { type QueueName, queues, queueVariable } from "../../shared/sqs/queues.ts";
import { tableVariable } from "../../shared/table.ts";

const outputsFile = z.record(z.string(), z.record(z.string(), z.string()));

/** The option of every command that works on a deployed stack. */
export const outputsOption = ["--outputs <file>", "what `cdk deploy --outputs-file` wrote"] as const;

/** Sets the environment variables of the functions to a deployed stack's tables, queues and signing key. */
export async function useStack(path: string): Promise<void> {
  Object.assign(process.env, await stackVariables(path));
}

/**
 * The functions' environment variables for tables, queues and signing key of a deployed stack.
 * @param path what `cdk deploy --outputs-file` wrote.
 * @throws {Error} when the file does not have the outputs of exactly one stage of the service.
 */
export async function stackVariables(path: string): Promise<Readonly<Record<string, string>>> {
  const outputs = outputsOf(outputsFile.parse(JSON.parse(await readFile(path, "utf8"))), path);
  const named: readonly (readonly [variable: string, output: string])[] = [
    ...tables.map((table) => [tableVariable(table), tableOutput(table)] as const),
    ...(Object.keys(queues) as QueueName[]).map(
      (queue) => [queueVariable(queue), queueOutput(queue)] as const,
    ),
    ["SIGNING_KEY_SECRET_ARN" satisfies VariableName, signingKeyOutput],
  ];
  return Object.fromEntries(
    named.flatMap(([variable, output]) => {
      const value = outputs[output];
      return value === undefined ? [] : [[variable, value]];
    }),
  );
}

/**
 * Uses the bucket of the stack that imports densities.
 * @param path what `cdk deploy --outputs-file` wrote.
 * @returns the ARN of its state machine.
 * @throws {Error} when the file does not have the outputs of exactly one such stack.
 */
export async function useDensityImport(path: string): Promise<string> {
  const stacks = outputsFile.parse(JSON.parse(await readFile(path, "utf8")));
  const found = Object.values(stackNames).map((name) => stacks[densityImportStackOf(name)] ?? {});
  const [only, ...others] = found.filter((outputs) => densityImportOutputs.stateMachine in outputs);
  const { [densityImportOutputs.bucket]: bucket, [densityImportOutputs.stateMachine]: arn } = only ?? {};
  if (bucket === undefined || arn === undefined || others.length > 0) {
    throw new Error(`${path} has not the outputs of one stack that was deployed with -c densityImport=true`);
  }
  process.env[bucketVariable] = bucket;
  return arn;
}

function outputsOf(stacks: z.output<typeof outputsFile>, path: string): Readonly<Record<string, string>> {
  const names = Object.values(stackNames);
  const ours = names.map((name) => stacks[name]).filter((found) => found !== undefined);
  const [only] = ours;
  if (only === undefined || ours.length > 1) {
    throw new Error(`${path} has outputs of ${ours.length} stacks of ${names.join(", ")}; expected one`);
  }
  return only;
}
