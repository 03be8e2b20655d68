import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { retryDelay } from "../../functions/population-density/delivery/rules.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { logEntries } from "../../shared/aws/log.ts";
import { metrics } from "../../shared/aws/metrics.ts";
import { setting } from "../../shared/environment.ts";
import { SINK_RETRY_SECONDS } from "../../shared/variables/sink-retry-seconds.ts";
import { assumptions } from "../../tools/cli/cost-rules.ts";
import { metricNames } from "../support/metric-names.ts";
import { defaultSettings } from "../support/settings.ts";
import {
  configured,
  deployed,
  eachStage,
  only,
  reference,
  resourcesOf,
  type Template,
  template,
  textOf,
} from "./template.ts";

/** An alarm on one metric. */
const alarmProperties = z.object({
  Dimensions: z.array(z.unknown()).default([]),
  MetricName: z.string(),
  Namespace: z.string(),
  Period: z.number(),
  Threshold: z.number(),
  TreatMissingData: z.string(),
});

const anyAlarm = z.looseObject({
  AlarmDescription: z.string(),
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

test.each(eachStage)(
  "every metric of ours that an alarm of %s watches is written by a function or counted in a log",
  (stage, from) => {
    const counted = new Set(countedIn(from).map(({ MetricName }) => MetricName));
    const written = new Set<string>(metricNames);
    const watched = alarmsIn(from).filter(({ properties }) => properties.Namespace === stackNames[stage]);
    expect(watched.length).toBeGreaterThan(5);
    expect(
      watched
        .map(({ properties }) => properties.MetricName)
        .filter(
          (name) =>
            counted.has(name) === (written.has(name) && metrics[name as keyof typeof metrics] === undefined),
        ),
    ).toEqual([]);
  },
);

test.each(eachStage)("LOG_LEVEL leaves out no line that an alarm of %s counts", (_, from) => {
  const patterns = countedIn(from).map(({ FilterPattern }) => FilterPattern);
  const mayBeLeftOut = Object.values(logEntries).filter(({ level }) => level !== "error");
  expect(patterns.filter((pattern) => mayBeLeftOut.some(({ id }) => pattern.includes(id)))).toEqual([]);
});

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
  test("an alarm is raised for jobs about to expire and not for jobs on schedule", () => {
    const { Threshold } = alarmOn("OldestJobSeconds", []);
    const schedule = setting(SINK_RETRY_SECONDS, defaultSettings);
    const longest = schedule.map(
      (_, index) => retryDelay(index + 1, undefined, "answer", { schedule, random: 1 }) ?? 0,
    );
    expect(Threshold).toBeGreaterThan(longest.reduce((sum, seconds) => sum + seconds, 0));
    expect(Threshold).toBeLessThan(86_400);
  });
});

describe("docs/alarms.md", () => {
  const watching = z.object({
    ComparisonOperator: z.string(),
    DatapointsToAlarm: z.number().optional(),
    EvaluationPeriods: z.number(),
    Metrics: z
      .array(
        z.object({
          Expression: z.string().optional(),
          MetricStat: z.object({ Period: z.number() }).optional(),
        }),
      )
      .default([]),
    Period: z.number().optional(),
    Threshold: z.number(),
  });
  const signs: Readonly<Record<string, string>> = {
    GreaterThanOrEqualToThreshold: "≥",
    LessThanOrEqualToThreshold: "≤",
    LessThanThreshold: "<",
  };
  /** `≥ 5 % of 20 in 5 min`, and without the number. */
  const thresholdOf = (alarm: z.output<typeof watching>) => {
    const { ComparisonOperator, EvaluationPeriods: periods, Metrics, Threshold } = alarm;
    const minutes = (alarm.Period ?? Metrics.find((one) => one.MetricStat)?.MetricStat?.Period ?? 0) / 60;
    const expression = Metrics.find((one) => one.Expression)?.Expression ?? "";
    const [, least] = /^IF\(\w+ >= (\d+), 100 /.exec(expression) ?? [];
    const every = minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
    const lasting = periods === 1 ? "" : `, ${alarm.DatapointsToAlarm ?? periods} of ${periods} times`;
    return {
      number: Threshold,
      sign: signs[ComparisonOperator] ?? ComparisonOperator,
      rest: `${least === undefined ? "" : ` % of ${least}`} in ${every}${lasting}`,
    };
  };
  const rows = [
    ...readFileSync("docs/alarms.md", "utf8").matchAll(/^\| (`[^|]*) \| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm),
  ]
    .map(([, first = "", threshold = ""]) => ({
      names: [...first.matchAll(/`(…?[A-Z]\w+)`/g)].map(([, name = ""]) => name),
      threshold,
    }))
    .filter(({ names }) => names.length > 0);
  /** Alarms by what they are called, parts of another by its name; those of settings where the stage has none. */
  const byId = new Map<string, ReturnType<typeof thresholdOf>[]>();
  for (const from of [deployed, configured]) {
    const known = new Set(byId.keys());
    for (const { logicalId, properties } of resourcesOf("AWS::CloudWatch::Alarm", watching, from)) {
      const id = logicalId.slice(0, -8).replace(/(?:Long|Short|Now|Before)$/, "");
      if (!known.has(id)) byId.set(id, [...(byId.get(id) ?? []), thresholdOf(properties)]);
    }
  }
  /** The longest name that is an alarm's own, or after `…` the end of its own. */
  const rowNameOf = (id: string) =>
    rows
      .flatMap(({ names }) => names)
      .filter((name) => (name.startsWith("…") ? id.endsWith(name.slice(1)) : id === name))
      .sort((one, other) => other.length - one.length)[0];

  test("every alarm has a row in docs/alarms.md, and every row an alarm", () => {
    const used = [...byId.keys()].map(rowNameOf);
    expect([...byId.keys()].filter((id) => rowNameOf(id) === undefined)).toEqual([]);
    expect(rows.flatMap(({ names }) => names).filter((name) => !used.includes(name))).toEqual([]);
  });

  // A row names the setting that is its threshold.
  test.each(rows.filter(({ threshold }) => !threshold.startsWith("`")))(
    "the row of $names states the threshold of the template",
    ({ names, threshold }) => {
      const numbers = new Map<string, Set<number>>();
      for (const [id, thresholds] of byId) {
        if (!names.includes(rowNameOf(id) ?? "")) continue;
        for (const { number, sign, rest } of thresholds)
          numbers.set(`${sign}|${rest}`, (numbers.get(`${sign}|${rest}`) ?? new Set()).add(number));
      }
      const stated = [...numbers].map(([key, values]) => {
        const [sign, rest] = key.split("|");
        const sorted = [...values].sort((one, other) => one - other);
        return `${sign} ${sorted.map((value) => value.toLocaleString("en")).join(" or ")}${rest}`;
      });
      expect(threshold).toBe(stated.join("; "));
    },
  );
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
});

test("an alarm of each endpoint's function names the endpoint's summary", () => {
  const descriptions = allAlarmsIn(deployed).map(({ properties }) => properties.AlarmDescription);
  const unnamed = endpoints.filter(
    ({ summary }) => !descriptions.some((one) => one.includes(`"${summary}"`)),
  );
  expect(unnamed.map(({ id }) => id)).toEqual([]);
});

test("what ncs cost takes for alarms is the number of metrics and of composite alarms in the template of prod", () => {
  const watching = resourcesOf("AWS::CloudWatch::Alarm", z.looseObject({}), deployed).map(
    ({ logicalId, properties: { Metrics } }) => ({
      isEssential: !/Burns|(?:Reads|Writes)Throttled[0-9A-F]{8}$/.test(logicalId),
      metrics: Array.isArray(Metrics) ? Metrics.filter((one) => "MetricStat" in one).length : 1,
    }),
  );
  const composites = resourcesOf("AWS::CloudWatch::CompositeAlarm", z.unknown(), deployed);
  const sum = (of: typeof watching) => of.reduce((all, { metrics }) => all + metrics, 0);

  expect(assumptions.alarms).toEqual({
    all: { metrics: sum(watching), composites: composites.length },
    essential: {
      metrics: sum(watching.filter(({ isEssential }) => isEssential)),
      composites: composites.filter(({ logicalId }) => !logicalId.includes("Burns")).length,
    },
  });
});
