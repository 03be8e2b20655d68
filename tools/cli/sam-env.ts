import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { type Fault, faultyVariables, readFault } from "../faults.ts";
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
    .option("--fault <name>", "a fault of events/faults whose variables the functions have")
    .action(async ({ outputs, assembly, fault }: SamEnvOptions) => {
      const environment = await samEnvironment(outputs, assembly);
      const printed = fault === undefined ? environment : underFault(environment, readFault(fault));
      print(JSON.stringify(printed, null, 2));
    });
}

interface SamEnvOptions {
  readonly outputs: string;
  readonly assembly: string;
  readonly fault?: string;
}

type Environments = Record<string, Record<string, string>>;

/**
 * The variables of every function by its logical id. SAM passes on only variables that the template has, and knows
 * neither the addresses of queues nor the ARN of the secret.
 * https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-sam-cli-using-invoke.html
 * @throws {Error} when the service is local, and the template has no variables for its servers.
 */
async function samEnvironment(outputs: string, assembly: string): Promise<Environments> {
  const deployed = await stackVariables(outputs);
  const functions = loadTemplate(assembly).functions.map(({ logicalId, environment }) => {
    const variables = Object.entries(environment).map(([name, value]) => [name, deployed[name] ?? value]);
    return [logicalId, Object.fromEntries(variables)];
  });
  return Object.fromEntries(functions);
}

/** @throws {Error} when no function of the template has a variable of the fault, so that SAM would ignore it. */
function underFault(environments: Environments, fault: Fault): Environments {
  const changes = Object.entries(environments).map(
    ([logicalId, variables]) => [logicalId, faultyVariables(fault, variables)] as const,
  );
  if (changes.every(([, changed]) => Object.keys(changed).length === 0)) {
    throw new Error(
      fault.environment === undefined
        ? "this fault changes the event: npm run invoke -- <event> --fault <name> --print"
        : `${Object.keys(fault.environment)} is not in the template, so SAM ignores it: use npm run invoke`,
    );
  }
  return Object.fromEntries(
    changes.map(([logicalId, changed]) => [logicalId, { ...environments[logicalId], ...changed }]),
  );
}
