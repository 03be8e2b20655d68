import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { isFunction } from "../assembly.ts";
import { readEventFile } from "../event-files.ts";
import { loadTemplate } from "../local/template/template.ts";
import type { Print } from "./print.ts";
import { outputsOption, stackVariables } from "./stack.ts";

/** Of the project, wherever the command is run. */
const synthesized = fileURLToPath(new URL("../../cdk.out", import.meta.url));

/** `ncs sam-env`: the environment of every function, as `sam local invoke --env-vars` takes it. */
export function addSamEnv(command: Command, print: Print): void {
  command
    .requiredOption(...outputsOption)
    .option("--assembly <folder>", "what `cdk synth` wrote for that stage", synthesized)
    .option("--event <file>", "an event whose `.env.json` changes the environment of its function")
    .action(async ({ outputs, assembly, event }: SamEnvOptions) => {
      print(JSON.stringify(await samEnvironment(outputs, assembly, event), null, 2));
    });
}

interface SamEnvOptions {
  readonly outputs: string;
  readonly assembly: string;
  readonly event?: string;
}

/**
 * The variables of every function by its logical id. SAM passes on only variables that the template has, and knows
 * neither the addresses of queues nor the ARN of the secret.
 * https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-sam-cli-using-invoke.html
 * @throws {Error} naming a variable of the event that the template does not have.
 */
async function samEnvironment(
  outputs: string,
  assembly: string,
  eventFile: string | undefined,
): Promise<Record<string, Record<string, string>>> {
  const deployed = await stackVariables(outputs);
  const event = eventFile === undefined ? undefined : await readEventFile(eventFile);
  const functions = loadTemplate(assembly).functions.map((one) => {
    const variables = Object.entries(one.environment).map(([name, value]) => [name, deployed[name] ?? value]);
    const changed = event !== undefined && isFunction(event.functionId, one) ? (event.environment ?? {}) : {};
    const unknown = Object.keys(changed).find((name) => !(name in one.environment));
    if (unknown !== undefined) {
      throw new Error(
        `${unknown} is not in the template, so SAM ignores it: use npm run invoke for this event`,
      );
    }
    return [one.logicalId, { ...Object.fromEntries(variables), ...changed }];
  });
  return Object.fromEntries(functions);
}
