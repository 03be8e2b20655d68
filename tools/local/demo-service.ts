import { demoData } from "../import/data-files.ts";
import type { Around } from "./around.ts";
import { refuseMalformedConfiguration } from "./declared/configuration.ts";
import { type DemoTables, importData, makeDemoTables } from "./demo-tables.ts";
import { freeAttempts } from "./free-attempts.ts";
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
    | "blockedMilliseconds"
    | "bundles"
    | "kept"
    | "logs"
    | "onBroken"
    | "pages"
    | "publicUrl"
  > {
  readonly port: number;
  /** Folder of the data to import before the port is opened, unless `kept` already has data. */
  readonly data: string;
  /** What is covered instead of the demo's city. */
  readonly around?: (CoveredPlace & Partial<Pick<Around, "model">>) | undefined;
}

/** Allows sinks on this machine, which no deployed stage does. */
export const localSinks = "127.0.0.1/32:1024-65535,[::1]/128:1024-65535";

/**
 * Issues tokens to clients at the service's own address, so that they find it by its metadata.
 * @param port the one it is going to have.
 * @param publicUrl under which others reach it, if they do.
 */
export function ownIssuer(port: number, publicUrl?: URL) {
  return { TOKEN_ISSUER: publicUrl?.origin ?? `http://127.0.0.1:${port}` };
}

/** Serves the declarations, with data in their tables. */
export async function startDemoService(options: DemoServiceOptions): Promise<LocalService> {
  const { data, around, kept } = options;
  refuseMalformedConfiguration(options.environment);
  const isFirst = kept?.firstStart === undefined;
  const isDemo = data === demoData && !options.environment.AWS_ENDPOINT_URL_DYNAMODB;
  const demo = isFirst && isDemo ? await makeDemoTables(around?.model) : undefined;
  try {
    return await startLocalService({
      ...options,
      extraEnvironment: {
        ...options.extraEnvironment,
        ...(around === undefined ? {} : { EXAMPLES_AT: around.at }),
        ...(isDemo && around === undefined ? { DEMO_CITY: "on" } : {}),
      },
      environment: { SINK_ALLOWED_NETWORKS: localSinks, ...options.environment },
      beforeListening: async (backend, firstKey) => {
        // The lock of the kept folder says that no other program has workers here.
        if (!isFirst) return await freeAttempts(backend);
        if (demo === undefined) await importData(data, storeEnvironment(backend), around?.model);
        else await loadDemo(demo, backend);
        // A folder that is kept has a key once it has data.
        await firstKey;
        await kept?.finishFirstStart(data, new Date(), around);
      },
    });
  } finally {
    demo?.remove();
  }
}

/** Loads the items of the demo data into the tables of a local service. */
export async function loadDemo({ file }: DemoTables, backend: LocalBackend): Promise<void> {
  const names = storeEnvironment(backend);
  await loadTables(file, { endpoint: backend.databaseEndpoint, credentials: embeddedCredentials, names });
}
