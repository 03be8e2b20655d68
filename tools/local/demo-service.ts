import { availableParallelism } from "node:os";
import { isFunction } from "../assembly.ts";
import { demoData } from "../import/data-files.ts";
import type { Around } from "./around.ts";
import { configurationNames, refuseMalformedConfiguration } from "./configuration.ts";
import { type DemoTables, importData, makeDemoTables } from "./demo-tables.ts";
import type { CoveredPlace } from "./kept-state.ts";
import { embeddedCredentials } from "./servers/backing-server.ts";
import { loadTables } from "./servers/table-copy.ts";
import {
  type LocalBackend,
  type LocalService,
  type LocalServiceOptions,
  startLocalService,
} from "./service.ts";
import { storeEnvironment } from "./store-environment.ts";

interface DemoServiceOptions
  extends Pick<
    LocalServiceOptions,
    | "allowedHosts"
    | "deadlineFactor"
    | "environment"
    | "extraEnvironment"
    | "idleMilliseconds"
    | "kept"
    | "maxThreadsOf"
    | "logs"
    | "onBroken"
  > {
  readonly port: number;
  /** The folder of the cloud assembly. The demo data is imported while the assembly is being built. */
  readonly assembly: string | Promise<string>;
  /** Folder of the data to import before the port is opened, unless `kept` already has data. */
  readonly data: string;
  /** What is covered instead of the demo's city. */
  readonly around?: (CoveredPlace & Partial<Pick<Around, "model">>) | undefined;
}

/** Allows sinks on this machine, which no deployed stage does. */
const localSinks = "127.0.0.1/32:1024-65535";

/**
 * Issues tokens to clients at the service's own address, so that they find it by its metadata.
 * @param port the one it is going to have.
 */
export function ownIssuer(port: number) {
  return { TOKEN_ISSUER: `http://127.0.0.1:${port}` };
}

/** Serves an assembly, with data in its tables. */
export async function startDemoService(options: DemoServiceOptions): Promise<LocalService> {
  const { data, around, kept } = options;
  refuseMalformedConfiguration(options.environment);
  const isFirst = kept?.firstStart === undefined;
  const isDemo = data === demoData && !options.environment.AWS_ENDPOINT_URL_DYNAMODB;
  const [assembly, demo] = await Promise.all([
    options.assembly,
    isFirst && isDemo ? makeDemoTables(around?.model) : undefined,
  ]);
  try {
    return await startLocalService({
      ...options,
      assembly,
      extraEnvironment: {
        ...options.extraEnvironment,
        ...(around === undefined ? {} : { EXAMPLES_AT: around.at }),
        ...(isDemo && around === undefined ? { DEMO_CITY: "on" } : {}),
      },
      environment: { SINK_ALLOWED_NETWORKS: localSinks, ...options.environment },
      configuration: configurationNames,
      maxThreadsOf: (definition, batches) =>
        isFunction("profile/authenticate", definition)
          ? hashesAtOnce()
          : options.maxThreadsOf?.(definition, batches),
      beforeListening: async (backend) => {
        if (!isFirst) return;
        if (demo === undefined) await importData(data, storeEnvironment(backend), around?.model);
        else await loadDemo(demo, backend);
        await kept?.finishFirstStart(data, new Date(), around);
      },
    });
  } finally {
    demo?.remove();
  }
}

/** The size of libuv's thread pool, which files and hashes share: https://docs.libuv.org/en/v1.x/threadpool.html */
const poolThreads = 4;

/**
 * Maximum number of concurrent logins. A hash occupies a processor and one thread of the pool that all functions share.
 * Two threads stay free; otherwise loading a function would wait behind all logins.
 */
function hashesAtOnce(): number {
  const size = Number(process.env.UV_THREADPOOL_SIZE) || poolThreads;
  return Math.max(1, Math.min(availableParallelism(), size - 2));
}

/** Loads the items of the demo data into the tables of a local service. */
export async function loadDemo({ file }: DemoTables, backend: LocalBackend): Promise<void> {
  const names = storeEnvironment(backend);
  await loadTables(file, { endpoint: backend.databaseEndpoint, credentials: embeddedCredentials, names });
}
