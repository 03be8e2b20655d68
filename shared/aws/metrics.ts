import { Console } from "node:console";
import { metricNamespace } from "../environment.ts";

/**
 * Every metric of the service, with its dimension if it has one. A name never changes its meaning: alarms and
 * dashboards rely on it.
 */
export const metrics = {
  /** Requests that a function answered. Those that API Gateway refused itself are in its own metrics. */
  Requests: "operation",
  /** Requests that a function answered with an error. */
  Errors: "code",
  /** Internal errors that a function caught, for its release: the function's name and version. */
  Crashes: "release",
  /** Response times of the operations whose endpoint names no other metric. */
  RequestMilliseconds: undefined,
  /** Response times of requests for densities. */
  DensityMilliseconds: undefined,
  /** Slots (cells × hours) of synchronous density answers. */
  DensitySlots: undefined,
  /** Jobs that ended. */
  Deliveries: "outcome",
  /** 0 for each delivery that its sink accepted or refused, 1 for each that failed; none for a cancelled one. */
  FailedDeliveries: undefined,
  /** Jobs that ended with nothing at their sinks, a day after their requests. */
  JobsExpired: undefined,
  /** Attempts to deliver, with any result. */
  Attempts: undefined,
  /** Attempts for which the answer could not be computed. */
  JobsNotComputed: undefined,
  /**
   * How long jobs waited for a worker that made their first attempt, without jobs that their own caller's or host's
   * uploads held back.
   */
  FirstAttemptSeconds: undefined,
  /** Age of the oldest job without an outcome, measured every minute. */
  OldestJobSeconds: undefined,
  /** The longest that a job without an attempt has been waiting for a worker, measured every minute. */
  OldestUnstartedJobSeconds: undefined,
  /** Days since the latest observed day of densities, measured every minute where there is one. */
  ObservedDayAgeDays: undefined,
  /** Days since the stack's own signing key was created, measured at logins. */
  SigningKeyAgeDays: undefined,
  /** Logins with a wrong address or password, or refused after too many such logins. */
  LoginFailures: undefined,
  /** Fetches of a token issuer's keys that failed. */
  IssuerKeysUnreachable: undefined,
  /** Requests that were served although they could not be counted against the quota. */
  QuotaNotCounted: undefined,
} as const satisfies Record<string, string | undefined>;

/** The name of a metric. */
export type MetricName = keyof typeof metrics;

/** A metric of response times, with an objective of its own. */
export type DurationMetric = Extract<MetricName, `${string}Milliseconds`>;

/**
 * A value for a metric: 1 unless `value` is given. The value of a dimension is a fixed word of the service, never data
 * of a request.
 */
export type Count = {
  [Name in MetricName]: { readonly metric: Name; readonly value?: number } & Dimension<Name>;
}[MetricName];

type Dimension<Name extends MetricName> = (typeof metrics)[Name] extends infer Key extends string
  ? { readonly [Member in Key]: string }
  : unknown;

let output: Console | undefined;

/** Writes metrics in a line of their own, at any log level. Never throws; a line that cannot be written is lost. */
export function writeMetrics(counts: readonly Count[]): void {
  // Lambda prefixes the lines of the global console. This console writes the bare line, and ignores errors.
  output ??= new Console(process.stdout);
  output.log(JSON.stringify(embedded(counts)));
}

/**
 * The members of a JSON line that make it CloudWatch's embedded metric format, with at most one value per metric.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function embedded(counts: readonly Count[]): Readonly<Record<string, unknown>> {
  const Namespace = metricNamespace();
  const CloudWatchMetrics = counts.map(({ metric }) => {
    const dimension = metrics[metric];
    return {
      Namespace,
      Dimensions: [dimension === undefined ? [] : [dimension]],
      Metrics: [{ Name: metric, Unit: unitOf(metric) }],
    };
  });
  const members = counts.map(({ metric, value = 1, ...dimension }) => ({ ...dimension, [metric]: value }));
  return Object.assign({ _aws: { Timestamp: Date.now(), CloudWatchMetrics } }, ...members);
}

/** The unit in a metric's name; a name without one is a count. CloudWatch has no unit for days. */
function unitOf(metric: MetricName): string {
  const unit = /(?:Seconds|Milliseconds|Days)$/.exec(metric)?.[0] ?? "Count";
  return unit === "Days" ? "None" : unit;
}
