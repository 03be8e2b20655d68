import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isFunction } from "../assembly.ts";
import { installed, keptFolder } from "../build-cache.ts";
import { runProgram } from "../child-program.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { configurationNames, refuseMalformedConfiguration } from "./configuration.ts";
import { emptyTables, loadTables, saveTables } from "./servers/table-copy.ts";
import {
  embeddedCredentials,
  type LocalBackend,
  type LocalService,
  type LocalServiceOptions,
  startLocalService,
} from "./service.ts";

/** The project's own demo data. */
export const demoData = fileURLToPath(new URL("../demo", import.meta.url));

interface DemoServiceOptions
  extends Pick<LocalServiceOptions, "assembly" | "environment" | "extraEnvironment" | "logs"> {
  readonly port: number;
  /** Folder of the data that is imported before the port is opened. */
  readonly data: string;
}

/** Sinks on this machine, which no deployed stage can reach. */
const localSinks = "127.0.0.1/32:1024-65535";

/** Serves an assembly with data in its tables. */
export async function startDemoService(options: DemoServiceOptions): Promise<LocalService> {
  // The SDK warns of the Node.js it runs on, not of the one the functions are deployed on.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  refuseMalformedConfiguration(options.environment);
  return await startLocalService({
    ...options,
    environment: { SINK_ALLOWED_NETWORKS: localSinks, ...options.environment },
    configuration: configurationNames,
    maxThreadsOf: (definition) =>
      isFunction("profile/authenticate", definition) ? hashesAtOnce() : undefined,
    beforeListening: (backend) =>
      options.data === demoData && !options.environment.AWS_ENDPOINT_URL_DYNAMODB
        ? importDemo(backend)
        : importData(options.data, backend),
  });
}

/**
 * What a program may do at once off its threads, files and hashes alike: https://docs.libuv.org/en/v1.x/threadpool.html
 */
const poolThreads = 4;

/**
 * Logins at once. A hash keeps a processor and one of the threads that all functions share busy; two of these are
 * left, or a function that is loaded meanwhile would wait behind all logins.
 */
function hashesAtOnce(): number {
  const size = Number(process.env.UV_THREADPOOL_SIZE) || poolThreads;
  return Math.max(1, Math.min(availableParallelism(), size - 2));
}

/** Everything that the items of the demo data follow from, but for the settings of their densities. */
export const demoSources = [
  "tools/demo",
  "tools/import",
  "tools/local/import-data.ts",
  "tools/temporary-folder.ts",
  // The form of what is kept, with the names that the stack gives its tables.
  "tools/local/servers/table-copy.ts",
  "infra",
  "functions",
  "shared",
  ...installed,
];

/** Imports the demo data, or reads back what the same import came to before. */
async function importDemo(backend: LocalBackend): Promise<void> {
  // What is there before, such as the signing key, is not of the import.
  const tables = await emptyTables({
    endpoint: backend.databaseEndpoint,
    credentials: embeddedCredentials,
    tables: backend.template.tables,
  });
  const { DENSITY_K, DENSITY_PRECISIONS } = importEnvironment(backend);
  const kept = keptFolder("demo-tables", {
    sources: demoSources,
    settings: JSON.stringify([DENSITY_K, DENSITY_PRECISIONS]),
  });
  const temporary = temporaryFolder("network-capabilities-tables-");
  const file = join(temporary.path, "items");
  try {
    if (kept.restore(temporary.path)) return await loadTables(file, tables);
    await importData(demoData, backend);
    await saveTables(file, tables);
    kept.keep(temporary.path);
  } finally {
    temporary.remove();
  }
}

/** Imports as an operator does, in a process of its own: what an import holds is not kept by the service. */
async function importData(data: string, backend: LocalBackend): Promise<void> {
  const temporary = temporaryFolder("network-capabilities-import-");
  try {
    const parameters = [resolve(data), temporary.path];
    await runProgram(new URL("./import-data.ts", import.meta.url), parameters, importEnvironment(backend));
  } finally {
    temporary.remove();
  }
}

/** Lets a program's stores work on the tables of a local service, as a function's do. */
function importEnvironment({ template, environmentOf }: LocalBackend): NodeJS.ProcessEnv {
  const variables = template.functions.flatMap(({ logicalId }) => Object.entries(environmentOf(logicalId)));
  const needed = variables.filter(([name]) => /^(?:TABLE_|AWS_(?!LAMBDA_))/.test(name));
  return { ...process.env, ...Object.fromEntries(needed) };
}
