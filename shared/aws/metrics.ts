import { Console } from "node:console";

/** Where CloudWatch files everything the service counts. */
export const metricNamespace = "NetworkCapabilities";

/**
 * Everything the service counts, each with the dimension that its counts are split by, if any. A name never changes
 * its meaning; alarms and dashboards rely on it.
 */
export const metrics = {
  /** Requests that a function answered. What API Gateway refuses by itself is in API Gateway's own metrics. */
  Requests: "operation",
  /** Those of them that were answered with an error. */
  Errors: "code",
  /** Slots, cells × hours, of the densities that were read for an answer to be given at once. */
  DensitySlots: undefined,
  /** Jobs that came to their end. */
  Deliveries: "outcome",
  /** Attempts to deliver, whatever came of them. */
  Attempts: undefined,
  /** Age of the oldest job without an outcome, measured every minute. */
  OldestJobSeconds: undefined,
  /** Age of the oldest job of which no attempt has begun, measured every minute. */
  OldestUnstartedJobSeconds: undefined,
  /** Logins with a wrong address or password, or after too many such. */
  LoginFailures: undefined,
  /** Fetches of a token issuer's keys that failed. */
  IssuerKeysUnreachable: undefined,
  /** Requests that were let through uncounted. */
  QuotaNotCounted: undefined,
} as const satisfies Record<string, string | undefined>;

/** The name of something that is counted. */
export type MetricName = keyof typeof metrics;

/** The names of everything that is counted. */
export const metricNames = Object.keys(metrics) as MetricName[];

/**
 * What is added to a metric: one unless a value is given. A dimension's value is a word of ours, never anything that
 * was sent.
 */
export type Count = {
  [Name in MetricName]: { readonly metric: Name; readonly value?: number } & Dimension<Name>;
}[MetricName];

type Dimension<Name extends MetricName> = (typeof metrics)[Name] extends infer Key extends string
  ? { readonly [Member in Key]: string }
  : unknown;

let output: Console | undefined;

/**
 * Writes counts, of each metric one, in a line of the embedded metric format, whatever the level of the log. Never
 * throws: what cannot be written is lost.
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
