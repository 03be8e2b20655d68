import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, tables } from "../../functions/areas.ts";
import { type AttemptResult, retryDelay } from "../../functions/population-density/delivery/rules.ts";
import { functionIds } from "../../infra/bundles.ts";
import { type FunctionId, functionRecords } from "../../infra/functions.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { logId } from "../../shared/aws/log.ts";
import { metrics } from "../../shared/aws/metrics.ts";
import { configuration } from "../../shared/environment.ts";
import { type QueueName, queues } from "../../shared/sqs/queues.ts";
import { metricNames } from "../support/metric-names.ts";
import { everySetting } from "./shared-templates.ts";
import {
  attribute,
  configured,
  deployed,
  eachStage,
  functionOf,
  only,
  queueOf,
  reference,
  resourcesOf,
  servedIn,
  type Template,
  tableNameOf,
  template,
  textOf,
} from "./template.ts";

/** Strict: an alarm on an expression is another kind of alarm. */
const alarmProperties = z
  .strictObject({
    AlarmActions: z.array(z.unknown()).default([]),
    AlarmDescription: z.string(),
    ComparisonOperator: z.string(),
    /** None for what the functions count, and for the whole account. */
    Dimensions: z
      .array(z.strictObject({ Name: z.string(), Value: z.union([z.string(), reference, attribute]) }))
      .max(2)
      .default([]),
    OKActions: z.array(z.unknown()).default([]),
    EvaluateLowSampleCountPercentile: z.literal("ignore").optional(),
    EvaluationPeriods: z.number(),
    ExtendedStatistic: z.string().optional(),
    MetricName: z.string(),
    Namespace: z.string(),
    Period: z.number(),
    Statistic: z.string().optional(),
    Threshold: z.number(),
    TreatMissingData: z.string(),
  })
  // What few requests took tells nothing of one in twenty.
  .refine((alarm) => (alarm.ExtendedStatistic === undefined) !== (alarm.Statistic === undefined))
  .refine(
    (alarm) =>
      (alarm.ExtendedStatistic === undefined) === (alarm.EvaluateLowSampleCountPercentile === undefined),
  );

const anyAlarm = z.looseObject({
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.unknown()).default([]),
  OKActions: z.array(z.unknown()).default([]),
});

const isPart = ({ AlarmDescription }: z.output<typeof anyAlarm>) =>
  /A part of another alarm\.$/.test(AlarmDescription);

/** The alarms that are not part of another. */
const allAlarmsIn = (from: Template) =>
  ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"].flatMap((type) =>
    resourcesOf(type, anyAlarm, from).filter(({ properties }) => !isPart(properties)),
  );

/** Those of them that watch one metric. */
const alarmsIn = (from: Template) =>
  resourcesOf("AWS::CloudWatch::Alarm", anyAlarm, from)
    .filter(({ properties }) => !isPart(properties) && properties.Metrics === undefined)
    .map(({ properties, ...alarm }) => ({ ...alarm, properties: alarmProperties.parse(properties) }));

const statisticOf = z.object({
  MetricStat: z.object({
    Metric: z.object({
      Dimensions: z.array(z.unknown()).default([]),
      MetricName: z.string(),
      Namespace: z.string(),
    }),
    Period: z.number(),
    Stat: z.string(),
  }),
});

/** An alarm on an expression; but for those of releases, over statistics of one metric: all have a value, or none. */
const shareProperties = z.object({
  AlarmDescription: z.string(),
  ComparisonOperator: z.literal("GreaterThanOrEqualToThreshold"),
  EvaluationPeriods: z.literal(1),
  Metrics: z
    .tuple([z.object({ Expression: z.string(), ReturnData: z.literal(true) }), statisticOf, statisticOf])
    .rest(statisticOf),
  Threshold: z.number(),
  TreatMissingData: z.literal("notBreaching"),
});

const sharesIn = (from: Template) =>
  resourcesOf("AWS::CloudWatch::Alarm", anyAlarm, from)
    .filter(({ properties }) => properties.Metrics !== undefined)
    .map(({ properties, ...alarm }) => ({ ...alarm, properties: shareProperties.parse(properties) }));

/** What AWS measures, with the statistic that does not overlook a single message, run or refusal. */
const statistics: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "AWS/ApiGateway": { Latency: "p95" },
  "AWS/DynamoDB": { ReadThrottleEvents: "Sum", WriteThrottleEvents: "Sum" },
  "AWS/Lambda": { Errors: "Sum", RecursiveInvocationsDropped: "Sum", Throttles: "Sum" },
  "AWS/SQS": { ApproximateAgeOfOldestMessage: "Maximum", ApproximateNumberOfMessagesVisible: "Maximum" },
};

const queueNames = Object.keys(queues) as QueueName[];
const tableNames = tables.map(({ name }) => name);

function ofQueue(name: QueueName) {
  return [{ Name: "QueueName", Value: { "Fn::GetAtt": [queueOf(name), "QueueName"] } }];
}

function ofFunction(id: FunctionId) {
  return [{ Name: "FunctionName", Value: { Ref: functionOf(id) } }];
}

function ofIndex(table: (typeof tableNames)[number], index: string, stage: "dev" | "prod") {
  return [
    { Name: "GlobalSecondaryIndexName", Value: index },
    { Name: "TableName", Value: tableNameOf(table, stage) },
  ];
}

/** Whose metrics an alarm may look at. */
const owners: Readonly<Record<string, readonly unknown[]>> = {
  "AWS/ApiGateway": Object.values(stackNames).map((api) => [{ Name: "ApiName", Value: api }]),
  "AWS/DynamoDB": (["dev", "prod"] as const).flatMap((stage) =>
    tables.flatMap(({ name, indexes = [] }) => [
      [{ Name: "TableName", Value: tableNameOf(name, stage) }],
      ...indexes.map((index) => ofIndex(name, index.name, stage)),
    ]),
  ),
  // Without a dimension it is the whole account's.
  "AWS/Lambda": [[], ...functionIds.map(ofFunction)],
  "AWS/SQS": queueNames.map(ofQueue),
};

const filterProperties = z.object({
  FilterPattern: z.string(),
  LogGroupName: reference,
  MetricTransformations: z.tuple([
    z.strictObject({ MetricName: z.string(), MetricNamespace: z.string(), MetricValue: z.literal("1") }),
  ]),
});

/** What is counted in logs, in the log of one function. */
function countedIn(from: Template) {
  return resourcesOf("AWS::Logs::MetricFilter", filterProperties, from).map(({ properties }) => ({
    ...properties,
    ...properties.MetricTransformations[0],
  }));
}

describe.each(eachStage)("alarms of %s", (stage, from) => {
  const alarms = alarmsIn(from);
  const counted = countedIn(from);

  describe.each(alarms)("$logicalId", ({ logicalId, properties }) => {
    const { Namespace, MetricName, Dimensions } = properties;

    test(`alarm ${logicalId} of ${stage} is off without data, and has no action unless a topic is set`, () => {
      expect(properties.AlarmActions).toEqual([]);
      expect(properties.TreatMissingData).toBe("notBreaching");
      expect(properties.ComparisonOperator).toBe("GreaterThanOrEqualToThreshold");
      expect(properties.Threshold).toBeGreaterThan(0);
    });

    test(`alarm ${logicalId} of ${stage} watches a metric that exists with the statistic that misses nothing`, () => {
      const statistic = properties.Statistic ?? properties.ExtendedStatistic;
      if (Namespace === stackNames[stage]) {
        const inLog = counted.some((one) => one.MetricName === MetricName);
        const byFunctions = metricNames.some((name) => name === MetricName && metrics[name] === undefined);
        expect(inLog).not.toBe(byFunctions);
        expect(Dimensions).toEqual([]);
        // An age that is measured is no sum.
        expect(statistic).toBe(/^Oldest|Age/.test(MetricName) ? "Maximum" : "Sum");
      } else {
        expect(owners[Namespace]).toContainEqual(Dimensions);
        expect(statistic).toBe(statistics[Namespace]?.[MetricName]);
      }
    });

    test(`alarm ${logicalId} of ${stage} is raised within minutes`, () => {
      // A metric has a value a minute.
      expect(properties.Period % 60).toBe(0);
      expect(properties.Period * properties.EvaluationPeriods).toBeGreaterThanOrEqual(60);
      // A key that is too old has been so for days, and not every minute has a login.
      const max = MetricName === "SigningKeyAgeDays" ? 3_600 : 900;
      expect(properties.Period * properties.EvaluationPeriods).toBeLessThanOrEqual(max);
    });
  });

  test(`an alarm of ${stage} is raised at a share of 5xx among at least 20 requests`, () => {
    const { properties } = only(
      sharesIn(from).filter(({ logicalId }) => logicalId.startsWith("RequestsFailing")),
      "alarms",
    );
    const [{ Expression }, failed, requests] = properties.Metrics;
    expect(Expression).toBe("IF(requests >= 20, 100 * failed, 0)");
    expect([failed.MetricStat.Stat, requests.MetricStat.Stat]).toEqual(["Average", "SampleCount"]);
    expect(failed.MetricStat.Metric).toEqual({
      Dimensions: [{ Name: "ApiName", Value: stackNames[stage] }],
      MetricName: "5XXError",
      Namespace: "AWS/ApiGateway",
    });
    expect(properties.Threshold).toBe(5);
  });

  test(`the alarms of ${stage} watch every failure, latency and throttling that a caller can meet`, () => {
    const watchedIn = (namespace: string) =>
      new Set(
        alarms
          .filter(({ properties }) => properties.Namespace === namespace)
          .map(({ properties }) => properties.MetricName),
      );
    for (const namespace of ["AWS/ApiGateway", "AWS/DynamoDB", "AWS/Lambda"]) {
      expect(watchedIn(namespace)).toEqual(new Set(Object.keys(statistics[namespace] ?? {})));
    }
    for (const name of ["LoginFailures", "IssuerKeysUnreachable", "QuotaNotCounted"] as const) {
      expect(watchedIn(stackNames[stage])).toContain(name);
    }
  });

  test(`the alarms of ${stage} watch the API of this stage`, () => {
    const { Name } = only(
      resourcesOf("AWS::ApiGateway::RestApi", z.object({ Name: z.string() }), from),
      "APIs",
    ).properties;
    expect(Name).toBe(stackNames[stage]);
    const ofApi = alarms.filter(({ properties }) => properties.Namespace === "AWS/ApiGateway");
    expect(ofApi.length).toBeGreaterThan(0);
    for (const { properties } of ofApi) {
      expect(properties.Dimensions).toEqual([{ Name: "ApiName", Value: Name }]);
    }
  });

  test(`the alarms of ${stage} watch the throttling of every table that its functions read or write`, () => {
    const watching = (metric: string) =>
      alarms
        .filter(({ properties }) => properties.MetricName === metric && properties.Dimensions.length === 1)
        .map(({ properties }) => textOf(properties.Dimensions[0]?.Value))
        .sort();
    const used = (pattern: RegExp) =>
      tableNames
        .filter((name) =>
          servedIn[stage].functionIds.some((id) =>
            functionRecords[id].tables?.[name]?.some((action) => pattern.test(action)),
          ),
        )
        .map((name) => tableNameOf(name, stage))
        .sort();
    expect(watching("ReadThrottleEvents")).toEqual(used(/Get|Query/));
    expect(watching("WriteThrottleEvents")).toEqual(used(/Put|Update|Delete|Insert/));
  });
});

test.each(tables.flatMap(({ name, indexes = [] }) => indexes.map((index) => [name, index.name] as const)))(
  "the alarms watch the throttling of reads and writes of the index of %s %s",
  (name, index) => {
    const watching = alarmsIn(template)
      .filter(({ properties }) => isDeepStrictEqual(properties.Dimensions, ofIndex(name, index, "dev")))
      .map(({ properties }) => properties.MetricName);
    expect(watching.sort()).toEqual(["ReadThrottleEvents", "WriteThrottleEvents"]);
  },
);

const alarms = alarmsIn(template);

/** The one alarm on a metric of something. */
function alarmOn(metric: string, of: unknown) {
  return only(
    alarms.filter(
      ({ properties: { MetricName, Dimensions } }) =>
        MetricName === metric && isDeepStrictEqual(Dimensions, of),
    ),
    metric,
  ).properties;
}

describe("nobody waits in vain without an alarm", () => {
  const consumed = new Set(Object.values(functionRecords).map(({ consumes }) => consumes));

  test.each(queueNames.filter((name) => !consumed.has(name)))(
    "an alarm is raised at the first message in %s, which no function consumes",
    (name) => {
      expect(alarmOn("ApproximateNumberOfMessagesVisible", ofQueue(name)).Threshold).toBe(1);
    },
  );

  const ending = [
    ["JOB_EXPIRED", "population-density/deliver"],
    ["JOB_EXPIRED", "population-density/sweep"],
  ] as const;
  test.each(ending)("an alarm is raised at the first log line %s of %s", (entry, id) => {
    const filter = only(
      countedIn(template).filter(
        ({ LogGroupName, FilterPattern }) =>
          isDeepStrictEqual(LogGroupName, logGroupOf(id)) && FilterPattern.includes(logId(entry)),
      ),
      "filters",
    );
    expect(filter.FilterPattern).toBe(`{ $.id = "${logId(entry)}" }`);
    expect(alarmOn(filter.MetricName, []).Threshold).toBe(1);
  });

  test("an alarm is raised at the first answer that cannot be computed, and not for a sink that does not take it", () => {
    const ofWorker = countedIn(template).filter(({ LogGroupName }) =>
      isDeepStrictEqual(LogGroupName, logGroupOf("population-density/deliver")),
    );
    const filter = only(
      ofWorker.filter(({ FilterPattern }) => FilterPattern.includes(logId("ATTEMPT"))),
      "filters",
    );
    const outcome = "not computed" satisfies AttemptResult["outcome"];
    expect(filter.FilterPattern).toBe(`{ ($.id = "${logId("ATTEMPT")}") && ($.outcome = "${outcome}") }`);
    expect(alarmOn(filter.MetricName, []).Threshold).toBe(1);
    expect(ofWorker.filter(({ FilterPattern }) => FilterPattern.includes(logId("JOB_FAILED")))).toEqual([]);
  });

  test("an alarm is raised when the account's functions are throttled every three seconds, not once", () => {
    expect(alarmOn("Throttles", [])).toMatchObject({ Threshold: 100, Period: 300 });
  });

  test("an alarm is raised for jobs that no worker begins within an hour", () => {
    const { Threshold } = alarmOn("OldestUnstartedJobSeconds", []);
    expect(Threshold).toBeGreaterThan(2 * workerSeconds);
    expect(Threshold).toBeLessThan(3_600);
  });

  test("an alarm is raised for jobs about to expire and not for jobs on schedule", () => {
    const { Threshold } = alarmOn("OldestJobSeconds", []);
    const schedule = configuration.SINK_RETRY_SECONDS.read(configuration.SINK_RETRY_SECONDS.default) ?? [];
    const longest = schedule.map(
      (_, index) => retryDelay(index + 1, undefined, "answer", { schedule, random: 1 }) ?? 0,
    );
    expect(Threshold).toBeGreaterThan(longest.reduce((sum, seconds) => sum + seconds, 0));
    expect(Threshold).toBeLessThan(86_400);
  });
});

test("alarms are raised at a failed rotation and for an old signing key, unless the operator replaces it", () => {
  expect(alarmOn("Errors", ofFunction("keys/rotate")).Threshold).toBe(1);
  expect(alarmOn("SigningKeyAgeDays", []).Threshold).toBeGreaterThan(30);
  const without = alarmsIn(configured).filter(
    ({ properties: { Dimensions, MetricName } }) =>
      MetricName === "SigningKeyAgeDays" || isDeepStrictEqual(Dimensions, ofFunction("keys/rotate")),
  );
  expect(without).toEqual([]);
});

const compositeProperties = z.object({
  AlarmDescription: z.string(),
  AlarmName: z.string(),
  AlarmRule: z.unknown(),
});

describe("objectives", () => {
  const composites = resourcesOf("AWS::CloudWatch::CompositeAlarm", compositeProperties, deployed);
  const shares = sharesIn(deployed);
  /** The alarms that must all be raised for a composite one. */
  const partsOf = (name: string) => {
    const { AlarmRule } = only(
      composites.filter(({ properties }) => properties.AlarmName.endsWith(`-${name}`)),
      name,
    ).properties;
    const rule = textOf(AlarmRule);
    expect(rule).toMatch(/^\(ALARM\("\$\{\w+\.Arn\}"\) AND ALARM\("\$\{\w+\.Arn\}"\)\)$/);
    return [...rule.matchAll(/\{(\w+)\.Arn/g)].map(([, id = ""]) => id);
  };

  test.each([
    ["Availability", "5XXError", "Average", 0.1],
    ["Latency", "RequestMilliseconds", "PR(:300)", 5],
    ["DensityLatency", "DensityMilliseconds", "PR(:1500)", 5],
    ["FirstAttempt", "FirstAttemptSeconds", "PR(:60)", 1],
  ])(
    "the objective %s is watched in four windows, for a fast and a slow use of its budget",
    (name, metric, stat, budget) => {
      for (const [speed, factor, periods] of [
        ["BurnsFast", 14.4, [3_600, 300]],
        ["BurnsSlowly", 6, [21_600, 1_800]],
      ] as const) {
        const parts = partsOf(`${name}${speed}`).map(
          (id) =>
            only(
              shares.filter(({ logicalId }) => logicalId === id),
              id,
            ).properties,
        );
        expect(parts.map(({ Metrics: [, { MetricStat }] }) => MetricStat.Period)).toEqual(periods);
        for (const { Metrics, Threshold } of parts) {
          const [{ Expression }, value, events] = Metrics;
          expect(value.MetricStat).toMatchObject({ Stat: stat, Metric: { MetricName: metric } });
          expect(events.MetricStat).toMatchObject({ Stat: "SampleCount", Metric: value.MetricStat.Metric });
          expect(Expression).toMatch(stat === "Average" ? /, 100 \* value, 0\)$/ : /, 100 - value, 0\)$/);
          expect(Threshold).toBeCloseTo(factor * budget, 3);
        }
      }
    },
  );

  test("an alarm is raised when an API that was busy for a day gets no request", () => {
    const count = z.looseObject({
      MetricName: z.literal("Count"),
      Period: z.number(),
      TreatMissingData: z.string(),
    });
    const parts = partsOf("TrafficStopped").map((id) => count.parse(deployed.Resources[id]?.Properties));
    expect(parts).toMatchObject([
      { ComparisonOperator: "LessThanThreshold", Threshold: 1, Period: 900, TreatMissingData: "breaching" },
      {
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
        Period: 86_400,
        TreatMissingData: "notBreaching",
      },
    ]);
  });

  test("the stage dev has no composite alarms", () => {
    expect(resourcesOf("AWS::CloudWatch::CompositeAlarm", compositeProperties, template)).toEqual([]);
  });
});

test("every alarm notifies the topic that is set, when it is raised and when it is over, except parts of composite alarms", () => {
  const parts = resourcesOf("AWS::CloudWatch::Alarm", anyAlarm, configured).filter(({ properties }) =>
    isPart(properties),
  );
  const actionsOf = ({ properties }: (typeof parts)[number]) => [
    properties.AlarmActions,
    properties.OKActions,
  ];
  expect(parts.flatMap(actionsOf).flat()).toEqual([]);
  const notifying = allAlarmsIn(configured);
  expect(notifying.length).toBeGreaterThan(20);
  const topic = [everySetting.alarmTopicArn];
  expect(notifying.filter((one) => !isDeepStrictEqual(actionsOf(one), [topic, topic]))).toEqual([]);
});

describe("dashboard", () => {
  const dashboards = (from: Template) =>
    resourcesOf("AWS::CloudWatch::Dashboard", z.object({ DashboardBody: z.unknown() }), from);

  test("the dashboard shows every metric of the service and those of its AWS resources", () => {
    const shown = textOf(only(dashboards(deployed), "dashboards").properties.DashboardBody);
    const wanted = [...metricNames, "Latency", "4XXError", "5XXError", "Throttles", "ReadThrottleEvents"];
    expect([...wanted, "ApproximateAgeOfOldestMessage"].filter((name) => !shown.includes(name))).toEqual([]);
    expect(() => JSON.parse(shown)).not.toThrow();
  });

  test("the stage dev has no dashboard", () => {
    expect(dashboards(template)).toEqual([]);
  });
});

test("an alarm of each endpoint's function names the endpoint's summary", () => {
  const descriptions = allAlarmsIn(deployed).map(({ properties }) => properties.AlarmDescription);
  const unnamed = endpoints.filter(
    ({ summary }) => !descriptions.some((one) => one.includes(`"${summary}"`)),
  );
  expect(unnamed.map(({ id }) => id)).toEqual([]);
});

const workerSeconds = 300;

/** The log group of a function, as its properties name it. */
function logGroupOf(id: FunctionId): unknown {
  return only(
    resourcesOf(
      "AWS::Lambda::Function",
      z.object({ LoggingConfig: z.object({ LogGroup: reference }) }),
    ).filter(({ logicalId }) => logicalId === functionOf(id)),
    "functions",
  ).properties.LoggingConfig.LogGroup;
}
