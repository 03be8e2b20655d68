import { RootConstruct } from "constructs";
import { type Settings, settingsIn } from "../../infra/settings.ts";

/** The settings of a deployment with what stands behind `-c` on its command line, whose alarms notify nobody. */
export function settingsOf(context: Readonly<Record<string, unknown>>): Settings {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries({ alarmTopicArn: "none", ...context }))
    node.setContext(name, value);
  return settingsIn(node);
}
