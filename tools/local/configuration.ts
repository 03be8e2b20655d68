import { type ConfigurationName, configuration, setting } from "../../shared/environment.ts";

/** The variables that the shell may set on every function. */
export const configurationNames = Object.keys(configuration) as ConfigurationName[];

/** @throws {Error} naming a configuration variable of the shell that is malformed, never its value. */
export function refuseMalformedConfiguration(environment: NodeJS.ProcessEnv): void {
  for (const name of configurationNames) if (environment[name] !== undefined) setting(name, environment);
}
