/** What a local run serves, read from what the stack is made of: plain data that one thread can send to another. */
import { tables } from "../../../functions/areas.ts";
import { functionVariables, type ResourceNames } from "../../../infra/function-variables.ts";
import { type FunctionId, functionDefaults, functionRecords } from "../../../infra/functions.ts";
import {
  type GatewayResponse,
  gatewayResponsesOf,
  type Method,
  methodsOf,
  type OtherVerbs,
  otherVerbsOf,
} from "../../../infra/gateway.ts";
import { originsPattern } from "../../../infra/origins.ts";
import { servedFunctions } from "../../../infra/served.ts";
import { localSettings, readSettings, type Settings } from "../../../infra/settings.ts";
import { stackNames } from "../../../infra/stack-names.ts";
import {
  type QueueName,
  queueDescription,
  queues,
  retentionDays,
  visibilitySeconds,
} from "../../../shared/sqs/queues.ts";
import { signingKeySecret, tableNameOf } from "./aws-names.ts";
import { configurationNames } from "./configuration.ts";
import { declaredTable, type LocalTable } from "./declared-table.ts";

/** A function, and what invokes it in addition to the gateway. */
export interface LocalFunction {
  readonly id: FunctionId;
  /** The file with its handler, from the root of the project. */
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Lambda refuses more concurrent events than this. */
  readonly reservedConcurrency: number | undefined;
  /** The variables that the stack gives it, but for the addresses of its queues. */
  readonly variables: Readonly<Record<string, string>>;
  /** The queues whose addresses it has. */
  readonly queues: readonly QueueName[];
  /** The queue whose messages invoke it, and how many at a time. */
  readonly consumes: { readonly queue: QueueName; readonly concurrency: number } | undefined;
  /** The interval of its schedule. */
  readonly everySeconds: number | undefined;
}

/** A standard queue. */
export interface LocalQueue {
  readonly name: QueueName;
  /** The attributes for `CreateQueue`, without the redrive policy. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly deadLetters: { readonly queue: QueueName; readonly maxReceiveCount: number } | undefined;
}

/** The API in front of the functions. */
export interface LocalApi {
  readonly methods: readonly Method[];
  readonly otherVerbs: readonly OtherVerbs[];
  readonly responses: readonly GatewayResponse[];
  /** Matches the origins whose pages may use it. */
  readonly origins: string;
}

/** Everything that a local run serves. */
export interface Declarations {
  readonly functions: readonly LocalFunction[];
  readonly api: LocalApi;
  readonly tables: readonly LocalTable[];
  readonly queues: readonly LocalQueue[];
}

/**
 * Reads the declarations for a shell, which may set the configuration of every function.
 * @throws {Misconfigured} naming a variable that is malformed.
 */
export function readDeclarations(shell: NodeJS.ProcessEnv): Declarations {
  const settings = settingsOf(shell);
  return {
    functions: servedFunctions(settings).map((id) => functionOf(id, settings, configurationOf(shell))),
    api: {
      methods: methodsOf(settings),
      otherVerbs: otherVerbsOf(settings),
      responses: gatewayResponsesOf(settings.corsOrigins),
      origins: originsPattern(settings.corsOrigins),
    },
    tables: tables.map((table) => declaredTable(table, tableNameOf(table.name))),
    queues: (Object.keys(queues) as QueueName[]).map((name) => ({
      name,
      attributes: {
        MessageRetentionPeriod: String(retentionDays * 86_400),
        VisibilityTimeout: String(visibilitySeconds),
      },
      deadLetters: queueDescription(name).deadLetters,
    })),
  };
}

const names: ResourceNames = {
  table: tableNameOf,
  // Known when the server has created them.
  queueUrl: () => "",
  signingKeySecretArn: signingKeySecret.arn,
  metricNamespace: stackNames.dev,
};

/** The settings of the stage `dev` on this machine. Of the shell's it has what decides which endpoints there are. */
function settingsOf({ TOKEN_ENDPOINT = localSettings.TOKEN_ENDPOINT }: NodeJS.ProcessEnv): Settings {
  return readSettings({ stage: "dev", ...localSettings, TOKEN_ENDPOINT });
}

/** The configuration of a shell, which every function of a local run has. */
function configurationOf(shell: NodeJS.ProcessEnv): Record<string, string> {
  const chosen = configurationNames.flatMap((name) => {
    const value = shell[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(chosen);
}

function functionOf(
  id: FunctionId,
  settings: Settings,
  chosen: Readonly<Record<string, string>>,
): LocalFunction {
  const record = functionRecords[id];
  const { consumes, everyMinutes, queues: used = {} } = record;
  const { timeoutSeconds, memoryMegabytes } = { ...functionDefaults, ...record };
  return {
    id,
    handler: record.handler,
    timeoutSeconds,
    memoryMegabytes,
    reservedConcurrency: settings.reservedConcurrency[id],
    variables: { ...functionVariables(id, settings, names), ...chosen },
    queues: Object.keys(used) as QueueName[],
    consumes: consumes && { queue: consumes, concurrency: settings.maxWorkers },
    everySeconds: everyMinutes === undefined ? undefined : 60 * everyMinutes,
  };
}
