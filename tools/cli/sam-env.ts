import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { samLocalEnvironment } from "../../infra/sam-local.ts";
import { type Fault, faultyVariables, readFault } from "../faults.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { stackVariables } from "./stack.ts";
import { readSynthesizedFunctions } from "./synthesized-functions.ts";

/** The project's folder of templates, in any working directory. */
const defaultAssembly = fileURLToPath(new URL("../../cdk.out", import.meta.url));

/** `ncs sam-env`: the environment of every function, as `sam local invoke --env-vars` takes it. */
export function addSamEnv(command: Command, print: Print): void {
  withStackOptions(command)
    .option("--assembly <folder>", "what `cdk synth` wrote for that stage", defaultAssembly)
    .option("--host <name>", "this machine as containers know it, with --local", "127.0.0.1")
    .option("--fault <name>", "a fault of events/faults whose variables the functions have")
    .action(async ({ assembly, fault, host, ...stack }: SamEnvOptions) => {
      const environment = await samEnvironment(stack, assembly, host);
      const printed = fault === undefined ? environment : underFault(environment, readFault(fault));
      print(JSON.stringify(printed, null, 2));
    });
}

interface SamEnvOptions extends StackOptions {
  readonly assembly: string;
  readonly host: string;
  readonly fault?: string;
}

type Environments = Record<string, Record<string, string>>;

/**
 * The variables of every function by its logical id. SAM passes on only variables that the template has, and knows
 * neither the addresses of queues nor the ARN of the secret.
 * https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-sam-cli-using-invoke.html
 * @throws {Error} when the service is local, and the template has no variables for its servers.
 */
async function samEnvironment(stack: StackOptions, assembly: string, host: string): Promise<Environments> {
  const synthesized = [...(await readSynthesizedFunctions(assembly))];
  const servers = Object.keys(samLocalEnvironment);
  const hasServers = synthesized.every(([, variables]) => servers.every((name) => name in variables));
  if (stack.local !== undefined && !hasServers) {
    throw new Error(
      `${assembly} is not for a local service: run cdk synth --quiet -c stage=dev -c samLocal=true`,
    );
  }
  const known = await stackVariables(stack);
  const valueFor = (name: string, value: string) =>
    (known[name] ?? value).replace(/^http:\/\/127\.0\.0\.1(?=:)/, `http://${host}`);
  const functions = synthesized.map(([logicalId, declared]) => {
    const variables = Object.entries(declared).map(([name, value]) => [name, valueFor(name, value)]);
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
        ? "this fault changes the event: ncs event <event> --fault <name>"
        : `${Object.keys(fault.environment)} is not in the template, so SAM ignores it: use npm run invoke`,
    );
  }
  return Object.fromEntries(
    changes.map(([logicalId, changed]) => [logicalId, { ...environments[logicalId], ...changed }]),
  );
}
