import { Duration, Stack } from "aws-cdk-lib";
import {
  Alarm,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  MathExpression,
  type Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { AlarmTopics } from "./alarm-topic.ts";
import type { WatchedByName } from "./alarms.ts";
import { notify } from "./constructs/service-alarm.ts";
import { serviceMetric, type Undivided } from "./metrics.ts";

/** What callers of a stage can rely on: the share of good events, over 30 days. */
interface Objective {
  /** How much of what is counted must be good. */
  readonly percent: number;
  /** The metric of which the share is computed, and how many of its values are bad, in percent. */
  readonly metric: Metric;
  /** An expression over `value`, the metric's statistic. */
  readonly badPercent: string;
  /** What people get instead, and where to look. */
  readonly impact: string;
}

/** The objectives of the service, by the beginning of their alarms' names. */
function objectivesOf({ service, api }: WatchedByName): Readonly<Record<string, Objective>> {
  const within = (name: Undivided, limit: number) => serviceMetric(service, name, `PR(:${limit})`);
  return {
    Availability: {
      percent: 99.9,
      // The average of 5XXError is the share of requests that ended in one.
      metric: api.metricServerError({ statistic: "avg" }),
      badPercent: "100 * value",
      impact: "Callers get 5xx for more than one request in a thousand",
    },
    Latency: {
      percent: 95,
      metric: within("RequestMilliseconds", 300),
      badPercent: "100 - value",
      impact: "Callers wait more than 300 ms for more than one request in twenty",
    },
    DensityLatency: {
      percent: 95,
      metric: within("DensityMilliseconds", 1_500),
      badPercent: "100 - value",
      impact: "Callers wait more than 1.5 s for more than one request for densities in twenty",
    },
    FirstAttempt: {
      percent: 99,
      metric: within("FirstAttemptSeconds", 60),
      badPercent: "100 - value",
      impact: "Callers wait more than a minute for the first attempt of more than one delivery in a hundred",
    },
  };
}

/**
 * How fast the budget of bad events may be used up, and in which windows. Both windows must exceed the rate: the long
 * one so that a few events raise no alarm, the short one so that the alarm ends soon after its cause.
 * Google, The Site Reliability Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts".
 */
const burnRates = {
  /** Two percent of a month's budget in an hour. */
  BurnsFast: { factor: 14.4, longMinutes: 60, shortMinutes: 5, budgetDays: 2, notifies: "now" },
  /** Five percent of a month's budget in six hours. */
  BurnsSlowly: { factor: 6, longMinutes: 360, shortMinutes: 30, budgetDays: 5, notifies: "later" },
} as const;

/** With fewer events than this in a window, a single bad one would be too large a share. */
const minEvents = { long: 200, short: 20 } as const;

/** Adds two alarms for each objective, one for a fast and one for a slow use of its budget. */
export function addObjectives(scope: Construct, watched: WatchedByName, topics: AlarmTopics): void {
  for (const [name, objective] of Object.entries(objectivesOf(watched))) {
    for (const [speed, rate] of Object.entries(burnRates)) {
      const { factor, longMinutes, shortMinutes, budgetDays } = rate;
      const threshold = Number((factor * (100 - objective.percent)).toFixed(3));
      const id = `${name}${speed}`;
      const long = windowAlarm(scope, `${id}Long`, objective, threshold, longMinutes, minEvents.long);
      const short = windowAlarm(scope, `${id}Short`, objective, threshold, shortMinutes, minEvents.short);
      composite(
        scope,
        id,
        [long, short],
        topics[rate.notifies],
        `${objective.impact}: at this rate what a month allows is used up in ${budgetDays} days.`,
      );
    }
  }
}

/** An alarm on the share of bad events in one window. It has no actions: it is part of a composite alarm. */
function windowAlarm(
  scope: Construct,
  id: string,
  { metric, badPercent, impact }: Objective,
  threshold: number,
  minutes: number,
  min: number,
): Alarm {
  return new Alarm(scope, id, {
    metric: new MathExpression({
      expression: `IF(events >= ${min}, ${badPercent}, 0)`,
      usingMetrics: { value: metric, events: metric.with({ statistic: "n" }) },
      period: Duration.minutes(minutes),
      label: "bad percent",
    }),
    threshold,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    alarmDescription: `${impact}, in a window of ${minutes} minutes. A part of another alarm.`,
  });
}

/** An alarm that is raised while all of some others are. */
function composite(
  scope: Construct,
  id: string,
  all: readonly Alarm[],
  topic: ITopic | undefined,
  alarmDescription: string,
): void {
  const alarmRule = AlarmRule.allOf(...all.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM)));
  const compositeAlarmName = `${Stack.of(scope).stackName}-${id}`;
  const made = new CompositeAlarm(scope, id, { compositeAlarmName, alarmRule, alarmDescription });
  if (topic !== undefined) notify(made, topic);
}

/** Requests of the last day from which on a quarter of an hour without any is no coincidence: seven a minute. */
const busyDayRequests = 10_000;

/** Adds the alarm that is raised when a busy API gets no requests at all. */
export function addTrafficAlarm(
  scope: Construct,
  { api }: Pick<WatchedByName, "api">,
  topic: ITopic | undefined,
): void {
  const requests = api.metricCount({ statistic: "sum" });
  const none = new Alarm(scope, "TrafficStoppedNow", {
    metric: requests.with({ period: Duration.minutes(15) }),
    threshold: 1,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    // Without requests the metric has no values.
    treatMissingData: TreatMissingData.BREACHING,
    alarmDescription: "Callers have sent no request for 15 minutes. A part of another alarm.",
  });
  const busy = new Alarm(scope, "TrafficStoppedBefore", {
    metric: requests.with({ period: Duration.days(1) }),
    threshold: busyDayRequests,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    alarmDescription: `Callers have sent ${busyDayRequests} requests within a day. A part of another alarm.`,
  });
  const impact = "Callers do not reach the API: no request for 15 minutes, after a day with many.";
  composite(scope, "TrafficStopped", [none, busy], topic, impact);
}
