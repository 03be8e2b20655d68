import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { Settings } from "./settings.ts";

/** The topics that alarms of a stack notify; undefined where they notify nobody. */
export interface AlarmTopics {
  readonly now: ITopic | undefined;
  /** For what may wait until the next working day: the same topic unless a setting names another. */
  readonly later: ITopic | undefined;
}

/** The topics that the settings name. */
export function alarmTopicsOf(
  scope: Construct,
  { alarmTopicArn, laterAlarmTopicArn }: Pick<Settings, "alarmTopicArn" | "laterAlarmTopicArn">,
): AlarmTopics {
  const topicOf = (id: string, arn: string | undefined) =>
    arn === undefined ? undefined : Topic.fromTopicArn(scope, id, arn);
  const now = topicOf("AlarmTopic", alarmTopicArn);
  return { now, later: topicOf("LaterAlarmTopic", laterAlarmTopicArn) ?? now };
}
