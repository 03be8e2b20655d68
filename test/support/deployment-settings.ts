import { RootConstruct } from "constructs";
import { type KeptContext, type Settings, settingsIn, undeployedSettings } from "../../infra/settings.ts";

/**
 * The settings of a deployment with what stands behind `-c` on its command line, whose alarms notify nobody, for any account and region.
 * @param kept the context of `cdk.json`.
 */
export function settingsOf(context: Readonly<Record<string, unknown>>, kept: KeptContext = {}): Settings {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries({ ...undeployedSettings, ...kept, ...context }))
    node.setContext(name, value);
  return settingsIn(node, kept);
}
