import { configuration } from "../shared/environment.ts";
import type { Settings } from "./settings.ts";

/** Where the template of the service keeps `keptSettings`. */
export const deployedSettings = "NetworkCapabilities::Settings";

/** Settings by which a stage is found, by it and by others: a deployment that forgets one takes them away. */
export type KeptSettings = Readonly<Record<string, string>>;

/** The members of `Settings` that a later deployment must not forget, as `-c` takes them. */
export function keptSettings({ domain, tableNames, configuration: chosen }: Settings): KeptSettings {
  const tables = Object.entries(tableNames).map(([name, [used]]) => [`tables.${name}`, used] as const);
  return {
    TOKEN_ISSUER: chosen.TOKEN_ISSUER ?? configuration.TOKEN_ISSUER.default,
    ...(domain === undefined ? {} : { domainName: domain.name }),
    ...Object.fromEntries(tables),
  };
}

/** What a stage was deployed with and a new deployment is not: a sentence each. */
export function forgottenSettings(deployed: KeptSettings, next: KeptSettings): readonly string[] {
  return Object.entries(deployed)
    .filter(([name, value]) => next[name] !== value)
    .map(([name, value]) => `${name} was deployed as ${value}, and would be ${next[name] ?? "its default"}`);
}
