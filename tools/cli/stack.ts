import { readFile } from "node:fs/promises";
import * as z from "zod";
import { type TableName, tables } from "../../functions/areas.ts";
import { outputNames, queueOutput, tableOutput } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { configuration, type VariableName } from "../../infra/variables.ts";
import { dataFormat } from "../../shared/data-format.ts";
import { setting } from "../../shared/environment.ts";
import { type QueueName, queues, queueVariable } from "../../shared/sqs/queues.ts";
import { tableVariable } from "../../shared/table.ts";
import type { ImportedExtent } from "../import/density/extent.ts";
import { runningService } from "../local/running-service.ts";
import { forgetAwsAccount } from "../local/servers/aws-variables.ts";
import { isLoopback, type StackOptions } from "./options.ts";
import type { Print } from "./print.ts";

const outputsFile = z.record(z.string(), z.record(z.string(), z.string()));

/**
 * Sets the environment variables of the functions to a stack's tables, queues and signing key.
 * @returns the stack's name.
 * @throws {Error} that says which option is missing, or what is wrong with it.
 */
export async function useStack(options: StackOptions): Promise<string> {
  const stack = await stackOf(options);
  useVariables(stack);
  return stack.name;
}

function useVariables({ variables, isLocal }: Stack): void {
  if (isLocal) forgetAwsAccount(process.env);
  Object.assign(process.env, variables);
}

/**
 * As `useStack`, and reads nothing before AWS has answered for a table.
 * @throws {Error} that says what the shell lacks.
 */
export async function connectStack(
  options: StackOptions,
  table: TableName,
  use: (options: StackOptions) => Promise<string> = useStack,
): Promise<string> {
  const stack = await use(options);
  const { checkConnection } = await import("../../shared/aws/connection.ts");
  for (const one of tables) if (one.name === table) await checkConnection(one);
  return stack;
}

/**
 * Says where the map of the service shows what was imported into it. A stage's limits are not among its outputs: they
 * are taken to be the usual ones, and the page offers a coarser precision where the stage's are lower.
 */
export async function printWhereToLook(
  options: StackOptions,
  extent: ImportedExtent | undefined,
  print: Print,
): Promise<void> {
  if (extent === undefined) return;
  const { page } = await stackOf(options);
  if (page === undefined) return;
  const { addressOfImport } = await import("../console/address-of-import.ts");
  const environment = {
    DENSITY_SYNC_LIMIT: configuration.DENSITY_SYNC_LIMIT.default,
    DENSITY_ASYNC_LIMIT: configuration.DENSITY_ASYNC_LIMIT.default,
    ...process.env,
  };
  const limits = {
    precisions: setting(configuration.DENSITY_PRECISIONS),
    syncLimit: setting(configuration.DENSITY_SYNC_LIMIT, environment),
    asyncLimit: setting(configuration.DENSITY_ASYNC_LIMIT, environment),
  };
  const address = addressOfImport(page, extent, limits, new Date());
  print(
    address === undefined
      ? "not on the map: observed hours can be asked for once they are over, and for three months"
      : `on the map: ${address}`,
  );
}

/** How a stack publishes densities: imports and capabilities must say the same. */
const publishing = ["DENSITY_K", "DENSITY_PRECISIONS"] as const;

/**
 * As `useStack`, for an import of densities, which publishes by the stack's K and precisions.
 * @throws {Error} when the stack does not name them, or the shell has others.
 */
export async function usePublishingStack(options: StackOptions): Promise<string> {
  const stack = await stackOf(options);
  requirePublishing(stack.name, stack.variables);
  useVariables(stack);
  return stack.name;
}

function requirePublishing(stack: string, variables: Readonly<Record<string, string>>): void {
  for (const variable of publishing) {
    const [announced, inShell] = [variables[variable], process.env[variable]];
    if (announced === undefined) {
      throw new Error(
        `--outputs: ${stack} has no ${publishingOutputs[variable]}: deploy this version of the service, ` +
          "and take the outputs of that",
      );
    }
    const isSame =
      inShell === undefined ||
      String(setting(configuration[variable])) === String(setting(configuration[variable], variables));
    if (!isSame) {
      throw new Error(
        `${variable} is ${inShell} in this shell, but ${announced} in ${stack}, as callers are told: unset it`,
      );
    }
  }
}

async function stackOf({ outputs, local, url }: StackOptions): Promise<Stack> {
  const given = Object.entries({ outputs, local, url }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`],
  );
  if (given.length > 1) throw new Error(`${given.join(" and ")} name several services: give one of them`);
  if (outputs !== undefined) return await deployedStack(outputs);
  if (local !== undefined) return localStack(local === true ? undefined : local);
  if (url === undefined) {
    throw new Error(
      "say which service: --outputs FILE, which `cdk deploy --outputs-file FILE` writes, or --local for `npm start`",
    );
  }
  const { hostname, port } = new URL(url);
  if (isLoopback(hostname)) return localStack(Number(port || 80));
  throw new Error(
    "--url names no tables: give --outputs FILE, which `cdk deploy --outputs-file FILE` writes",
  );
}

function localStack(port: number | undefined): Stack {
  const { url, environment } = runningService(port);
  return { name: url, page: url, variables: environment, isLocal: true };
}

/**
 * The address of a service's API, without a slash at its end.
 * @throws {Error} that says what is wrong with an option.
 */
export async function addressOfService(options: StackOptions): Promise<string> {
  if (options.url !== undefined && options.outputs === undefined && options.local === undefined)
    return options.url;
  const { name, page } = await stackOf(options);
  if (page === undefined) throw new Error(`--outputs: ${name} has no ${outputNames.apiAddress}`);
  return page;
}

/** A stack by its name or address, and the environment variables of its functions. */
interface Stack {
  readonly name: string;
  /** The address of its page, without a slash at its end; undefined if its outputs have none. */
  readonly page: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  /** Whether it is an `npm start`, whose servers know nothing of the shell's account. */
  readonly isLocal: boolean;
}

/**
 * The functions' environment variables for tables, queues and signing key of a stack.
 * @throws {Error} that says which option is missing, or what is wrong with it.
 */
export async function stackVariables(options: StackOptions): Promise<Readonly<Record<string, string>>> {
  return (await stackOf(options)).variables;
}

const publishingOutputs = {
  DENSITY_K: outputNames.densityK,
  DENSITY_PRECISIONS: outputNames.densityPrecisions,
} as const satisfies Record<(typeof publishing)[number], string>;

async function deployedStack(path: string): Promise<Stack> {
  const { name, outputs } = outputsOf(await readOutputs(path), path);
  requireFormat(name, outputs[outputNames.dataFormat]);
  const named: readonly (readonly [variable: string, output: string])[] = [
    ...tables.map((table) => [tableVariable(table), tableOutput(table)] as const),
    ...(Object.keys(queues) as QueueName[]).map(
      (queue) => [queueVariable(queue), queueOutput(queue)] as const,
    ),
    ["SIGNING_KEY_SECRET_ARN" satisfies VariableName, outputNames.signingKey],
    ...publishing.map((variable) => [variable, publishingOutputs[variable]] as const),
  ];
  const variables = Object.fromEntries(
    named.flatMap(([variable, output]) => {
      const value = outputs[output];
      return value === undefined ? [] : [[variable, value]];
    }),
  );
  const page = outputs[outputNames.apiAddress]?.replace(/\/$/, "");
  return { name, page, variables, isLocal: false };
}

/** A stage whose functions write another form may not read what this `ncs` writes, nor this `ncs` what they write. */
function requireFormat(stack: string, format: string | undefined): void {
  if (format === undefined || format === String(dataFormat)) return;
  throw new Error(
    `--outputs: ${stack} has data of format ${format}, and this ncs is for ${dataFormat}: use the ncs of its release, ` +
      "or take the outputs of its last deployment",
  );
}

async function readOutputs(path: string): Promise<z.output<typeof outputsFile>> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `--outputs: ${path} cannot be read (${error.code}): \`cdk deploy --outputs-file FILE\` writes it`,
    );
  });
  try {
    return outputsFile.parse(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new Error(`--outputs: ${path} is not what \`cdk deploy --outputs-file FILE\` writes`);
  }
}

function outputsOf(stacks: z.output<typeof outputsFile>, path: string) {
  const names = Object.values(stackNames);
  const [only, ...others] = names.flatMap((name) => {
    const outputs = stacks[name];
    return outputs === undefined ? [] : [{ name, outputs }];
  });
  if (only === undefined || others.length > 0) {
    const found = only === undefined ? "no stage" : "two stages";
    throw new Error(
      `--outputs: ${path} has the outputs of ${found}, and those of one are expected: ${names.join(" or ")}`,
    );
  }
  return only;
}
