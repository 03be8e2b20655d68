import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmBase,
  ComparisonOperator,
  type MathExpression,
  type Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

interface ServiceAlarmProps {
  readonly metric: Metric | MathExpression;
  /** The alarm is raised at this value, and beyond it. */
  readonly threshold: number;
  /** Whether lower values are beyond it; greater ones unless given. */
  readonly atMost?: boolean;
  /** Whether it is raised without data too. */
  readonly withoutData?: boolean;
  /** What a person loses while it is on, and where to look. */
  readonly impact: string;
  /** The period in minutes. */
  readonly minutes?: number;
  /** How many of how many periods reach the threshold; one of one unless given. */
  readonly periods?: { readonly reached: number; readonly of: number };
  /** The topic that is notified when it is raised, and when it is over. */
  readonly topic: ITopic | undefined;
}

/**
 * An alarm that describes its impact. It is off with too little data for a percentile, and without data unless that is
 * what it is about.
 */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, id: string, props: ServiceAlarmProps) {
    const { metric, threshold, impact, minutes = 5, periods = { reached: 1, of: 1 }, topic } = props;
    const { atMost = false, withoutData = false } = props;
    const isPercentile = "statistic" in metric && /^p\d/.test(metric.statistic);
    super(scope, id, {
      metric: metric.with({ period: Duration.minutes(minutes) }),
      threshold,
      evaluationPeriods: periods.of,
      ...(periods.of === 1 ? {} : { datapointsToAlarm: periods.reached }),
      comparisonOperator: atMost
        ? ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: withoutData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: impact,
      ...(isPercentile ? { evaluateLowSampleCountPercentile: "ignore" } : {}),
    });
    if (topic !== undefined) notify(this, topic);
  }
}

/** Notifies a topic when an alarm is raised and when it is over, so that an incident tool can close the incident. */
export function notify(alarm: AlarmBase, topic: ITopic): void {
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
}
