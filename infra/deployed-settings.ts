import type { Settings } from "./settings.ts";
import { deploymentSettings } from "./settings-source.ts";
import { configuration } from "./variables.ts";

/** Where the template of the service keeps `recordedSettings`. */
export const deployedSettings = "NetworkCapabilities::Settings";

/** The settings of a stage by their names, each as text. */
export type RecordedSettings = Readonly<Record<string, string>>;

/** What a later deployment must not forget: the settings that were given, and always the issuer. */
export function recordedSettings({
  given,
  tableNames,
}: Pick<Settings, "given" | "tableNames">): RecordedSettings {
  const recorded = Object.entries(given).filter(([name]) => !deploymentSettings.includes(name));
  // The second name of a restored table is for one release.
  const tables = Object.entries(tableNames).map(([name, [used]]) => [`tables.${name}`, used] as const);
  return {
    TOKEN_ISSUER: configuration.TOKEN_ISSUER.default,
    ...Object.fromEntries([...recorded, ...tables]),
  };
}

/** Settings by which a stage is found, by it and by others: another value takes them away. */
const identifying = /^(?:TOKEN_ISSUER|domainName|tables\..+)$/;

/** What a stage was deployed with and a new deployment is not: a sentence each. */
export function forgottenSettings(deployed: RecordedSettings, next: RecordedSettings): readonly string[] {
  return Object.entries(deployed)
    .filter(([name, value]) => !(name in next) || (identifying.test(name) && next[name] !== value))
    .map(([name, value]) => `${name} was deployed as ${value}, and would be ${next[name] ?? "its default"}`);
}
