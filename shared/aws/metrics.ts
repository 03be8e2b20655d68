import { Console } from "node:console";

/** The CloudWatch namespace of the service's metrics. */
export const metricNamespace = "NetworkCapabilities";

/**
 * Every metric of the service, with its dimension if it has one. A name never changes its meaning: alarms and
 * dashboards rely on it.
 */
export const metrics = {
  /** Requests that a function answered. What API Gateway refuses by itself is in API Gateway's own metrics. */
  Requests: "operation",
  /** Those of them that were answered with an error. */
  Errors: "code",
  /** Slots (cells × hours) of synchronous density answers. */
  DensitySlots: undefined,
  /** Jobs that ended. */
  Deliveries: "outcome",
  /** Attempts to deliver, whatever their result. */
  Attempts: undefined,
  /** Age of the oldest job without an outcome, measured every minute. */
  OldestJobSeconds: undefined,
  /** Age of the oldest job without an attempt, measured every minute. */
  OldestUnstartedJobSeconds: undefined,
  /** Logins with a wrong address or password, or refused after too many of them. */
  LoginFailures: undefined,
  /** Fetches of a token issuer's keys that failed. */
  IssuerKeysUnreachable: undefined,
  /** Requests that were served without being counted against the quota. */
  QuotaNotCounted: undefined,
} as const satisfies Record<string, string | undefined>;

/** The name of a metric. */
export type MetricName = keyof typeof metrics;

/** The names of all metrics. */
export const metricNames = Object.keys(metrics) as MetricName[];

/**
 * A value for a metric: 1 unless `value` is given. The value of a dimension is a fixed word of the service, never
 * anything that was sent.
 */
export type Count = {
  [Name in MetricName]: { readonly metric: Name; readonly value?: number } & Dimension<Name>;
}[MetricName];

type Dimension<Name extends MetricName> = (typeof metrics)[Name] extends infer Key extends string
  ? { readonly [Member in Key]: string }
  : unknown;

let output: Console | undefined;

/**
 * Writes at most one value for each metric in a line of the embedded metric format, at any log level. Never throws:
 * a line that cannot be written is lost.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function writeMetrics(counts: readonly Count[]): void {
  // Lambda puts more before a line of the global console; this one writes the line, and swallows errors.
  output ??= new Console(process.stdout);
  const CloudWatchMetrics = counts.map(({ metric }) => {
    const dimension = metrics[metric];
    return {
      Namespace: metricNamespace,
      Dimensions: [dimension === undefined ? [] : [dimension]],
      Metrics: [{ Name: metric, Unit: "Count" }],
    };
  });
  const members = counts.map(({ metric, value = 1, ...dimension }) => ({ ...dimension, [metric]: value }));
  output.log(
    JSON.stringify(Object.assign({ _aws: { Timestamp: Date.now(), CloudWatchMetrics } }, ...members)),
  );
}
