import {
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  PeriodOverride,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { metricNamespace, metrics } from "../shared/aws/metrics.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { counted, measured, throttled, type Watched } from "./alarms.ts";

/** What is counted by a dimension: a line for each value that has occurred in the last two weeks. */
function split(metricName: "Requests" | "Errors" | "Deliveries"): MathExpression {
  const search = `SEARCH('{${metricNamespace},${metrics[metricName]}} MetricName="${metricName}"', 'Sum')`;
  return new MathExpression({ expression: search, label: "" });
}

/** One page that shows how the service does: what is asked, how it is answered, what waits, what is refused. */
export function addDashboard(scope: Construct, { api, tables, queues }: Watched): void {
  const graph = (title: string, ...left: IMetric[]) => new GraphWidget({ title, left, width: 8, height: 6 });
  const ofLambda = (metricName: string, statistic: string) =>
    new Metric({ namespace: "AWS/Lambda", metricName, statistic });
  const turnedAway = (["Read", "Write"] as const).flatMap((kind) =>
    throttled(tables, kind).map(([name, metric]) => metric.with({ label: `${kind}s of ${name}` })),
  );
  const ages = (Object.keys(queues) as QueueName[]).map((name) =>
    queues[name].metricApproximateAgeOfOldestMessage({ statistic: "max", label: name }),
  );
  new Dashboard(scope, "Dashboard", {
    periodOverride: PeriodOverride.AUTO,
    widgets: [
      [
        graph("Requests by operation", split("Requests")),
        graph("Errors by code", split("Errors")),
        graph(
          "Milliseconds to an answer",
          ...["p50", "p95", "p99"].map((statistic) => api.metricLatency({ statistic, label: statistic })),
        ),
      ],
      [
        graph(
          "Answers of the API that are errors",
          api.metricClientError({ statistic: "sum", label: "4xx" }),
          api.metricServerError({ statistic: "sum", label: "5xx" }),
        ),
        graph(
          "Executions of the account's functions",
          ofLambda("ConcurrentExecutions", "max"),
          ofLambda("Throttles", "sum"),
          ofLambda("Errors", "sum"),
        ),
        graph("Turned away by DynamoDB", ...turnedAway),
      ],
      [
        graph("Densities read at once", counted("DensitySlots")),
        graph("Deliveries by outcome", split("Deliveries"), counted("Attempts")),
        graph(
          "Seconds the oldest waits",
          measured("OldestJobSeconds").with({ label: "job" }),
          measured("OldestUnstartedJobSeconds").with({ label: "job not begun" }),
          ...ages,
        ),
      ],
      [
        graph(
          "Trouble",
          counted("LoginFailures"),
          counted("IssuerKeysUnreachable"),
          counted("QuotaNotCounted"),
        ),
      ],
    ],
  });
}
