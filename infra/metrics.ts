import { Stack } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { type TableName, tables } from "../functions/areas.ts";
import type { MetricName, metrics } from "../shared/aws/metrics.ts";
import { type FunctionId, functionRecords } from "./functions.ts";

/** The CloudWatch namespace of a stage's metrics: the name of its stack, which differs between stages. */
export function metricNamespaceOf(scope: Construct): string {
  return Stack.of(scope).stackName;
}

/** Metrics without a dimension: CloudWatch has no sum over the values of a dimension. */
export type Undivided = {
  [Name in MetricName]: (typeof metrics)[Name] extends undefined ? Name : never;
}[MetricName];

/** What is counted in the access log: the requests that API Gateway has throttled, which its own metrics call 4xx. */
export const gatewayThrottled = "RequestsThrottled";

/** A statistic of a metric of the service: the sum unless another is given. */
export function serviceMetric(
  scope: Construct,
  metricName: Undivided | typeof gatewayThrottled,
  statistic = "sum",
): Metric {
  return new Metric({ namespace: metricNamespaceOf(scope), metricName, statistic });
}

/** Throttled reads or writes, for each table that one of some functions may read or write. */
export function throttled(
  tablesByName: Readonly<Record<TableName, ITable>>,
  kind: "Read" | "Write",
  functions: readonly FunctionId[],
): readonly (readonly [table: TableName, metric: Metric])[] {
  const pattern =
    kind === "Read" ? /^(?:BatchGetItem|GetItem|Query)$/ : /^(?:(?:Delete|Put|Update)Item|PartiQLInsert)$/;
  const granted = functions.flatMap((id) => Object.entries(functionRecords[id].tables ?? {}));
  const used = granted.filter(([, actions]) => actions.some((action) => pattern.test(action)));
  const names = [...new Set(used.map(([name]) => name as TableName))].sort();
  return names.map((name) => [
    name,
    tablesByName[name].metric(`${kind}ThrottleEvents`, { statistic: "sum" }),
  ]);
}

/** Throttled reads and writes of each index. A write of a table waits for those of its indexes. */
export function throttledIndexes(
  tablesByName: Readonly<Record<TableName, ITable>>,
): readonly (readonly [
  of: { readonly table: TableName; readonly index: string; readonly kind: "Read" | "Write" },
  metric: Metric,
])[] {
  return tables.flatMap(({ name, indexes = [] }) =>
    indexes.flatMap((index) =>
      (["Read", "Write"] as const).map((kind) => {
        const dimensionsMap = {
          TableName: tablesByName[name].tableName,
          GlobalSecondaryIndexName: index.name,
        };
        const metricName = `${kind}ThrottleEvents`;
        const metric = new Metric({ namespace: "AWS/DynamoDB", metricName, dimensionsMap, statistic: "sum" });
        return [{ table: name, index: index.name, kind }, metric] as const;
      }),
    ),
  );
}
