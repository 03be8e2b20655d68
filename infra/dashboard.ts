import {
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  PeriodOverride,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { metrics } from "../shared/aws/metrics.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import type { Watched } from "./alarms.ts";
import { gatewayThrottled, metricNamespaceOf, serviceMetric, throttled } from "./metrics.ts";

/** A metric with a dimension: one line for each value that occurred in the last two weeks. */
function split(
  scope: Construct,
  metricName: "Requests" | "Errors" | "Crashes" | "Deliveries",
): MathExpression {
  const search = `SEARCH('{${metricNamespaceOf(scope)},${metrics[metricName]}} MetricName="${metricName}"', 'Sum')`;
  return new MathExpression({ expression: search, label: "" });
}

/** One dashboard: requests, errors, latency, throttling, deliveries and queues. */
export function addDashboard(scope: Construct, { api, functions, tables, queues }: Watched): void {
  const graph = (title: string, ...left: IMetric[]) => new GraphWidget({ title, left, width: 8, height: 6 });
  const ofLambda = (metricName: string, statistic: string) =>
    new Metric({ namespace: "AWS/Lambda", metricName, statistic });
  const throttles = (["Read", "Write"] as const).flatMap((kind) =>
    throttled(tables, kind, functions).map(([name, metric]) => metric.with({ label: `${kind}s of ${name}` })),
  );
  const ages = (Object.keys(queues) as QueueName[]).map((name) =>
    queues[name].metricApproximateAgeOfOldestMessage({ statistic: "max", label: name }),
  );
  new Dashboard(scope, "Dashboard", {
    periodOverride: PeriodOverride.AUTO,
    widgets: [
      [
        graph("Requests by operation", split(scope, "Requests")),
        graph("Errors by code", split(scope, "Errors")),
        graph(
          "Latency in milliseconds",
          ...["p50", "p95", "p99"].map((statistic) => api.metricLatency({ statistic, label: statistic })),
          serviceMetric(scope, "RequestMilliseconds", "p95").with({ label: "p95 of functions" }),
          serviceMetric(scope, "DensityMilliseconds", "p95").with({ label: "p95 of densities" }),
        ),
      ],
      [
        graph(
          "API errors",
          api.metricClientError({ statistic: "sum", label: "4xx" }),
          api.metricServerError({ statistic: "sum", label: "5xx" }),
          serviceMetric(scope, gatewayThrottled).with({ label: "429 of API Gateway" }),
        ),
        graph(
          "Lambda executions in the account",
          ofLambda("ConcurrentExecutions", "max"),
          ofLambda("Throttles", "sum"),
          ofLambda("Errors", "sum"),
        ),
        graph("DynamoDB throttles", ...throttles),
      ],
      [
        graph("Slots of synchronous answers", serviceMetric(scope, "DensitySlots")),
        graph("Deliveries by outcome", split(scope, "Deliveries"), serviceMetric(scope, "Attempts")),
        graph(
          "Age of the oldest job and message in seconds",
          serviceMetric(scope, "OldestJobSeconds", "max").with({ label: "job" }),
          serviceMetric(scope, "OldestUnstartedJobSeconds", "max").with({ label: "job without an attempt" }),
          serviceMetric(scope, "FirstAttemptSeconds", "p99").with({ label: "p99 of first attempts" }),
          ...ages,
        ),
      ],
      [
        graph(
          "Failures",
          serviceMetric(scope, "LoginFailures"),
          serviceMetric(scope, "IssuerKeysUnreachable"),
          serviceMetric(scope, "QuotaNotCounted"),
          serviceMetric(scope, "FailedDeliveries"),
          serviceMetric(scope, "JobsNotComputed"),
          serviceMetric(scope, "JobsExpired"),
          split(scope, "Crashes"),
        ),
        graph(
          "Age of signing key and densities in days",
          serviceMetric(scope, "SigningKeyAgeDays", "max"),
          serviceMetric(scope, "ObservedDayAgeDays", "max"),
        ),
      ],
    ],
  });
}
