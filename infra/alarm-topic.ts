import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { Settings } from "./settings.ts";

/** The topic that alarms of a stack notify; undefined if they notify nobody. */
export function alarmTopicOf(
  scope: Construct,
  { alarmTopicArn }: Pick<Settings, "alarmTopicArn">,
): ITopic | undefined {
  return alarmTopicArn === undefined ? undefined : Topic.fromTopicArn(scope, "AlarmTopic", alarmTopicArn);
}
