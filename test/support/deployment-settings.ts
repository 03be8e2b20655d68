import { readSettings, type Settings, undeployedSettings } from "../../infra/settings.ts";

/** The settings of a deployment with these values, whose alarms notify nobody, for any account and region. */
export function settingsOf(values: Readonly<Record<string, unknown>>): Settings {
  return readSettings({ ...undeployedSettings, ...values });
}
