import { fileURLToPath } from "node:url";
import { type ConfigurationName, configuration, setting } from "../../shared/environment.ts";
import { importFolder } from "../import/data-folder.ts";
import {
  type LocalBackend,
  type LocalService,
  type LocalServiceOptions,
  startLocalService,
} from "./service.ts";

/** The project's own demo data. */
export const demoData = fileURLToPath(new URL("../demo", import.meta.url));

interface DemoServiceOptions extends Pick<LocalServiceOptions, "assembly" | "environment" | "logs"> {
  readonly port: number;
  /** Folder of the data that is imported before the port is opened. */
  readonly data: string;
}

/** Sinks on this machine, which no deployed stage can reach. */
const localSinks = "127.0.0.1/32:1024-65535";

const names = Object.keys(configuration) as ConfigurationName[];

/** @throws {Error} naming a configuration variable of the shell that is malformed, never its value. */
export function refuseMalformedConfiguration(environment: NodeJS.ProcessEnv): void {
  for (const name of names) if (environment[name] !== undefined) setting(name, environment);
}

/** Serves an assembly with data in its tables. */
export async function startDemoService(options: DemoServiceOptions): Promise<LocalService> {
  // The SDK warns of the Node.js it runs on, not of the one the functions are deployed on.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  refuseMalformedConfiguration(options.environment);
  return await startLocalService({
    ...options,
    environment: { SINK_ALLOWED_NETWORKS: localSinks, ...options.environment },
    configuration: names,
    beforeListening: async (backend) => {
      useTablesOf(backend);
      await importFolder(options.data);
    },
  });
}

/** Lets this program's own stores work on the tables of a local service, as a function's would. */
function useTablesOf(backend: LocalBackend): void {
  for (const { logicalId } of backend.template.functions) {
    for (const [name, value] of Object.entries(backend.environmentOf(logicalId))) {
      if (name.startsWith("TABLE_") || name.startsWith("AWS_")) process.env[name] = value;
    }
  }
}
