import { Stack, type StackProps } from "aws-cdk-lib";
import { alarmTopicsOf } from "./alarm-topic.ts";
import { addServiceAlarms, type WatchedByName } from "./alarms.ts";
import { addObjectives, addTrafficAlarm } from "./objectives.ts";
import type { Settings } from "./settings.ts";
import { stages } from "./stage.ts";

interface MonitoringProps extends StackProps {
  readonly settings: Settings;
  readonly watched: WatchedByName;
}

/**
 * The alarms of the whole service and of its objectives. They have a stack of their own so that the service's stack
 * stays far below CloudFormation's limit. Nothing depends on them, and they refer to other resources by name only.
 */
export class MonitoringStack extends Stack {
  constructor(scope: ConstructorParameters<typeof Stack>[0], id: string, props: MonitoringProps) {
    const { settings, watched, ...others } = props;
    super(scope, id, others);
    const topics = alarmTopicsOf(this, settings);
    addServiceAlarms(this, watched, settings, topics);
    if (!stages[settings.stage].objectives) return;
    if (settings.allAlarms) addObjectives(this, watched, topics);
    addTrafficAlarm(this, watched, topics.now);
  }
}
