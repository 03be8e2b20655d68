import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { isFunction } from "../assembly.ts";
import { installed, keptFolder } from "../build-cache.ts";
import { runProgram } from "../child-program.ts";
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
  extends Pick<LocalServiceOptions, "assembly" | "environment" | "extraEnvironment" | "logs" | "throttled"> {
  readonly port: number;
  /** Folder of the data that is imported before the port is opened. */
  readonly data: string;
}

/** Sinks on this machine. No deployed stage allows them. */
const localSinks = "127.0.0.1/32:1024-65535";

/** Serves an assembly with data in its tables. */
export async function startDemoService(options: DemoServiceOptions): Promise<LocalService> {
  // The SDK would warn about the local Node.js version, which is not that of the deployed functions.
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

/** The size of libuv's thread pool, which files and hashes share: https://docs.libuv.org/en/v1.x/threadpool.html */
const poolThreads = 4;

/**
 * Maximum of concurrent logins. A hash occupies a processor and one thread of the pool that all functions share. Two
 * threads stay free, because loading a function would otherwise wait behind all logins.
 */
function hashesAtOnce(): number {
  const size = Number(process.env.UV_THREADPOOL_SIZE) || poolThreads;
  return Math.max(1, Math.min(availableParallelism(), size - 2));
}

/** The files on which the items of the demo data depend. */
export const demoSources = [
  "tools/demo",
  "tools/import",
  "tools/local/import-data.ts",
  "tools/aws",
  // The form of what is kept, with the names that the stack gives its tables.
  "tools/local/servers/table-copy.ts",
  "infra",
  "functions",
  "shared",
  ...installed,
];

/** Imports the demo data, or restores the items of an earlier, identical import. */
export async function importDemo(backend: LocalBackend): Promise<void> {
  // Items that exist before, such as the signing key, do not belong to the import.
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

/** Imports as an operator does, in a process of its own, so that its memory is freed. */
async function importData(data: string, backend: LocalBackend): Promise<void> {
  const temporary = temporaryFolder("network-capabilities-import-");
  try {
    const parameters = [resolve(data), temporary.path];
    await runProgram(new URL("./import-data.ts", import.meta.url), parameters, importEnvironment(backend));
  } finally {
    temporary.remove();
  }
}

/** Lets a program's stores use the tables of a local service. */
function importEnvironment({ template, environmentOf }: LocalBackend): NodeJS.ProcessEnv {
  const variables = template.functions.flatMap(({ logicalId }) => Object.entries(environmentOf(logicalId)));
  const needed = variables.filter(([name]) => /^(?:TABLE_|AWS_(?!LAMBDA_))/.test(name));
  // What tests import is kept for `npm start` too: its hashes are not those of tests.
  const { PASSWORD_HASH_LN: _, ...shell } = process.env;
  return { ...shell, ...Object.fromEntries(needed) };
}
