import { type ConfigurationName, configuration } from "../../../infra/variables.ts";
import { setting } from "../../../shared/environment.ts";

/** The variables that the shell may set on every function. */
export const configurationNames = Object.keys(configuration) as ConfigurationName[];

/** @throws {Error} if a configuration variable of the shell is malformed: names the variable, never its value. */
export function refuseMalformedConfiguration(environment: NodeJS.ProcessEnv): void {
  for (const name of configurationNames)
    if (environment[name] !== undefined) setting(configuration[name], environment);
}
