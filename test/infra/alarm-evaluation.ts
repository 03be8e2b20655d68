/**
 * Evaluates alarms of a template over synthetic metrics, as CloudWatch does: statistics of aligned periods, metric math,
 * datapoints to alarm and missing data.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
 */
import * as z from "zod";
import { metricStatistic, resourcesOf, type Template, textOf } from "./template.ts";

/** A metric of an alarm; the values of its dimensions are as the template has them. */
export interface WatchedMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** So many values of this size. */
export interface Values {
  readonly value: number;
  readonly count: number;
}

/** The values that a metric gets in a minute, by the minute's number. */
export type Series = (metric: WatchedMetric, minute: number) => readonly Values[];

const alarm = z.object({
  ComparisonOperator: z.enum([
    "GreaterThanOrEqualToThreshold",
    "LessThanOrEqualToThreshold",
    "LessThanThreshold",
  ]),
  DatapointsToAlarm: z.number().optional(),
  EvaluateLowSampleCountPercentile: z.literal("ignore").optional(),
  EvaluationPeriods: z.number(),
  Threshold: z.number(),
  TreatMissingData: z.enum(["breaching", "notBreaching"]),
  MetricName: z.string().optional(),
  Namespace: z.string().optional(),
  Dimensions: metricStatistic.shape.Metric.shape.Dimensions,
  ExtendedStatistic: z.string().optional(),
  Period: z.number().optional(),
  Statistic: z.string().optional(),
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        MetricStat: metricStatistic.optional(),
        ReturnData: z.boolean().default(true),
      }),
    )
    .default([]),
});

type Alarm = z.output<typeof alarm>;

/** The logical id of each alarm of a template that watches metrics, and whether it is raised at the end of a minute. */
export function alarmsOf(
  template: Template,
): ReadonlyMap<string, (series: Series, minute: number) => boolean> {
  const watching = new Map(
    resourcesOf("AWS::CloudWatch::Alarm", alarm, template).map(({ logicalId, properties }) => [
      logicalId,
      (series: Series, minute: number) => isRaised(properties, series, minute),
    ]),
  );
  const composites = resourcesOf(
    "AWS::CloudWatch::CompositeAlarm",
    z.object({ AlarmRule: z.unknown() }),
    template,
  ).map(({ logicalId, properties }) => {
    const rule = textOf(properties.AlarmRule);
    const parts = [...rule.matchAll(/ALARM\("\$\{(\w+)\.Arn\}"\)/g)].map(([, id = ""]) => watching.get(id));
    if (parts.length < 2 || / OR |NOT /.test(rule)) throw new Error(`a rule that is not known: ${rule}`);
    const all = (series: Series, minute: number) => parts.every((part) => part?.(series, minute));
    return [logicalId, all] as const;
  });
  return new Map([...watching, ...composites]);
}

/** Whether a period of an alarm is breaching, by when it begins: several evaluations look at the same one. */
const knownPeriods = new WeakMap<Series, Map<Alarm, Map<number, boolean>>>();

function isRaised(alarm: Alarm, series: Series, minute: number): boolean {
  const period = periodOf(alarm);
  const ofSeries = knownPeriods.get(series) ?? new Map<Alarm, Map<number, boolean>>();
  const known = ofSeries.get(alarm) ?? new Map<number, boolean>();
  knownPeriods.set(series, ofSeries.set(alarm, known));
  // The latest period that has ended.
  const end = Math.floor(minute / period) * period;
  const periods = Array.from({ length: alarm.EvaluationPeriods }, (_, back) => end - (back + 1) * period);
  const breaching = periods.filter((start) => {
    const isOne = known.get(start) ?? isBreaching(alarm, series, start, period);
    known.set(start, isOne);
    return isOne;
  });
  return breaching.length >= (alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods);
}

/** In minutes. */
function periodOf({ Period, Metrics }: Alarm): number {
  const periods = new Set(
    [Period ?? [], ...Metrics.map(({ MetricStat }) => MetricStat?.Period ?? [])].flat(),
  );
  const [seconds, ...others] = periods;
  if (seconds === undefined || others.length > 0) throw new Error("an alarm of several periods");
  return seconds / 60;
}

function isBreaching(alarm: Alarm, series: Series, start: number, period: number): boolean {
  const value = resultOf(alarm, (metric) =>
    Array.from({ length: period }, (_, index) => series(metric, start + index)).flat(),
  );
  if (value === "too few") return false;
  if (value === undefined) return alarm.TreatMissingData === "breaching";
  switch (alarm.ComparisonOperator) {
    case "GreaterThanOrEqualToThreshold":
      return value >= alarm.Threshold;
    case "LessThanOrEqualToThreshold":
      return value <= alarm.Threshold;
    case "LessThanThreshold":
      return value < alarm.Threshold;
  }
}

function resultOf(
  alarm: Alarm,
  valuesOf: (metric: WatchedMetric) => readonly Values[],
): number | "too few" | undefined {
  const { MetricName, Namespace, Statistic, ExtendedStatistic, Dimensions, Metrics } = alarm;
  const statistic = Statistic ?? ExtendedStatistic;
  if (MetricName !== undefined && Namespace !== undefined && statistic !== undefined) {
    const values = valuesOf(metricOf({ MetricName, Namespace, Dimensions }));
    const percentile = percentileOf(statistic);
    const isIgnored = alarm.EvaluateLowSampleCountPercentile === "ignore" && percentile !== undefined;
    // CloudWatch's documented least number of values of a percentile from the median on.
    if (isIgnored && countOf(values) < 10 / (1 - percentile / 100)) return "too few";
    return statisticOf(statistic, values);
  }
  const variables = new Map(
    Metrics.flatMap(({ Id, MetricStat }) =>
      MetricStat === undefined
        ? []
        : [[Id, statisticOf(MetricStat.Stat, valuesOf(metricOf(MetricStat.Metric)))]],
    ),
  );
  const [result, ...others] = Metrics.filter(({ ReturnData }) => ReturnData);
  if (result?.Expression === undefined || others.length > 0)
    throw new Error("an alarm without one expression");
  return evaluate(result.Expression, variables);
}

function metricOf({
  MetricName,
  Namespace,
  Dimensions,
}: z.output<typeof metricStatistic>["Metric"]): WatchedMetric {
  const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, textOf(Value)]));
  return { namespace: textOf(Namespace), name: MetricName, dimensions };
}

function countOf(values: readonly Values[]): number {
  return values.reduce((sum, { count }) => sum + count, 0);
}

function percentileOf(statistic: string): number | undefined {
  const [, percentile] = /^p(\d+(?:\.\d+)?)$/.exec(statistic) ?? [];
  return percentile === undefined ? undefined : Number(percentile);
}

/** Undefined without values. */
function statisticOf(statistic: string, values: readonly Values[]): number | undefined {
  const present = values.filter(({ count }) => count > 0).sort((one, other) => one.value - other.value);
  const [count, sum] = [countOf(present), present.reduce((all, one) => all + one.value * one.count, 0)];
  if (count === 0) return undefined;
  const percentile = percentileOf(statistic);
  if (percentile !== undefined) {
    const rank = (percentile / 100) * count;
    return present.find((_, index) => countOf(present.slice(0, index + 1)) >= rank)?.value;
  }
  const [, limit] = /^PR\(:(\d+)\)$/.exec(statistic) ?? [];
  if (limit !== undefined)
    return (100 * countOf(present.filter(({ value }) => value <= Number(limit)))) / count;
  switch (statistic) {
    case "Average":
      return sum / count;
    case "Maximum":
      return present.at(-1)?.value;
    case "Minimum":
      return present[0]?.value;
    case "SampleCount":
      return count;
    case "Sum":
      return sum;
    default:
      throw new Error(`a statistic that is not known: ${statistic}`);
  }
}

/**
 * The value of an expression of metric math; undefined if one of the metrics that it needs has none.
 * @throws {Error} for what is not known here.
 */
export function evaluate(
  expression: string,
  variables: ReadonlyMap<string, number | undefined>,
): number | undefined {
  const tokens = expression.match(/>=|<=|[A-Za-z]\w*|\d+(?:\.\d+)?|[^\s]/g) ?? [];
  let at = 0;
  const take = (token: string) => {
    if (tokens[at] !== token) throw new Error(`${expression}: ${token} expected, not ${tokens[at]}`);
    at++;
  };
  /** Operators of one rank, from left to right. */
  const ranked =
    (
      operators: Readonly<Record<string, (one: number, other: number) => number>>,
      operand: () => number | undefined,
    ) =>
    (): number | undefined => {
      let value = operand();
      for (;;) {
        const apply = operators[tokens[at] ?? ""];
        if (apply === undefined) return value;
        at++;
        const other = operand();
        value = value === undefined || other === undefined ? undefined : apply(value, other);
      }
    };
  const primary = (): number | undefined => {
    const token = tokens[at++] ?? "";
    if (token === "(") {
      const value = comparison();
      take(")");
      return value;
    }
    if (/^\d/.test(token)) return Number(token);
    if (token === "IF") {
      const [condition, one, other] = parameters(3);
      if (condition === undefined) return undefined;
      return condition === 0 ? other : one;
    }
    if (token === "FILL") {
      const [value, filling] = parameters(2);
      return value ?? filling;
    }
    if (!variables.has(token)) throw new Error(`${expression}: ${token} is not known`);
    return variables.get(token);
  };
  const parameters = (count: number) => {
    take("(");
    const values = Array.from({ length: count }, (_, index) => {
      if (index > 0) take(",");
      return comparison();
    });
    take(")");
    return values;
  };
  const product = ranked({ "*": (one, other) => one * other, "/": (one, other) => one / other }, primary);
  const sum = ranked({ "+": (one, other) => one + other, "-": (one, other) => one - other }, product);
  const comparison = ranked({ ">=": (one, other) => Number(one >= other) }, sum);
  const value = comparison();
  if (at < tokens.length) throw new Error(`${expression}: ${tokens[at]} is not known`);
  return value;
}
