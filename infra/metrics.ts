import { Stack } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import type { TableName } from "../functions/areas.ts";
import type { MetricName, metrics } from "../shared/aws/metrics.ts";
import { functionRecords } from "./functions.ts";

/** The CloudWatch namespace of a stage's metrics: its stack's name, so that stages are told apart. */
export function metricNamespaceOf(scope: Construct): string {
  return Stack.of(scope).stackName;
}

/** Metrics without a dimension: CloudWatch has no sum over the values of a dimension. */
export type Undivided = {
  [Name in MetricName]: (typeof metrics)[Name] extends undefined ? Name : never;
}[MetricName];

/** A statistic of a metric of the service: the sum unless another is given. */
export function serviceMetric(scope: Construct, metricName: Undivided, statistic = "sum"): Metric {
  return new Metric({ namespace: metricNamespaceOf(scope), metricName, statistic });
}

/** Throttled reads or writes, for each table that a function may read or write. */
export function throttled(
  tables: Readonly<Record<TableName, ITable>>,
  kind: "Read" | "Write",
): readonly (readonly [table: TableName, metric: Metric])[] {
  const pattern =
    kind === "Read" ? /^(?:BatchGetItem|GetItem|Query)$/ : /^(?:DeleteItem|PutItem|UpdateItem)$/;
  const granted = Object.values(functionRecords).flatMap((line) => Object.entries(line.tables ?? {}));
  const used = granted.filter(([, actions]) => actions.some((action) => pattern.test(action)));
  const names = [...new Set(used.map(([name]) => name as TableName))].sort();
  return names.map((name) => [name, tables[name].metric(`${kind}ThrottleEvents`, { statistic: "sum" })]);
}
