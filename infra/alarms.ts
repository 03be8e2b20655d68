import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type IFilterPattern } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { endpoints } from "../functions/endpoints.ts";
import { logId } from "../shared/aws/log.ts";
import { type MetricName, metricNamespace, type metrics } from "../shared/aws/metrics.ts";
import type { QueueName } from "../shared/queues.ts";
import { type TableName, tableVariable } from "../shared/tables.ts";
import { access, type FunctionId } from "./access.ts";
import { ServiceAlarm } from "./constructs/service-alarm.ts";
import type { ServiceApi } from "./constructs/service-api.ts";
import type { ServiceFunction } from "./constructs/service-function.ts";
import type { ServiceQueue } from "./constructs/service-queue.ts";
import type { ServiceTable } from "./constructs/service-table.ts";

/** What alarms and dashboard look at. */
export interface Watched {
  readonly api: ServiceApi;
  readonly tables: Readonly<Record<TableName, ServiceTable>>;
  readonly queues: Readonly<Record<QueueName, ServiceQueue>>;
  /** Functions that deliver densities, or give it up. */
  readonly workers: readonly ServiceFunction[];
  /** Absent when the operator rotates the key. */
  readonly rotation?: ServiceFunction;
}

/** What is counted by a dimension has no sum over all of its values in CloudWatch. */
type Undivided = {
  [Name in MetricName]: (typeof metrics)[Name] extends undefined ? Name : never;
}[MetricName];

/** Something the functions count. */
export function counted(metricName: Undivided): Metric {
  return new Metric({ namespace: metricNamespace, metricName, statistic: "sum" });
}

/** What DynamoDB turned away, by table: of reads or of writes, for each table that a function may read or write. */
export function throttled(
  tables: Watched["tables"],
  kind: "Read" | "Write",
): readonly (readonly [table: TableName, metric: Metric])[] {
  const pattern =
    kind === "Read" ? /^(?:BatchGetItem|GetItem|Query)$/ : /^(?:DeleteItem|PutItem|UpdateItem)$/;
  const granted = Object.values(access).flatMap((line) => Object.entries(line.tables ?? {}));
  const used = granted.filter(([, actions]) => actions.some((action) => pattern.test(action)));
  const names = [...new Set(used.map(([name]) => name as TableName))].sort();
  return names.map((name) => [name, tables[name].metric(`${kind}ThrottleEvents`, { statistic: "sum" })]);
}

/** On one metric each: what an expression makes of metrics that have no data is not to be relied on. */
interface AlarmLine {
  readonly metric: Metric;
  readonly threshold: number;
  readonly loss: string;
  readonly minutes?: number;
}

/** Every alarm of the service as a whole, by its construct's name; a function's own belong to its release. */
export function addAlarms(scope: Construct, watched: Watched, topic: ITopic | undefined): void {
  const lines = {
    ...requestAlarms(watched),
    ...tableAlarms(watched),
    ...loginAlarms(watched),
    ...deliveryAlarms(watched),
  };
  for (const [id, line] of Object.entries(lines)) new ServiceAlarm(scope, id, { ...line, topic });
}

function requestAlarms({ api }: Watched): Record<string, AlarmLine> {
  return {
    RequestsFailing: {
      metric: api.metricServerError({ statistic: "sum" }),
      threshold: 10,
      loss: "Callers get failures in place of answers. The access log says of which route, the functions' logs why.",
    },
    RequestsSlow: {
      metric: api.metricLatency({ statistic: "p95" }),
      threshold: 3_000,
      minutes: 15,
      loss: "Callers wait: one answer in twenty takes three seconds or more, and at five seconds none is given.",
    },
    FunctionsThrottled: {
      // Of all functions of the account, as they share its executions.
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "sum" }),
      threshold: 1,
      loss: "Callers get failures, as the account runs as many functions at a time as it may, or one as many as are reserved for it.",
    },
    RequestsUncounted: {
      metric: counted("QuotaNotCounted"),
      threshold: 10,
      loss: "Callers are let through uncounted: one that asks too much takes the time of all others.",
    },
  };
}

function tableAlarms({ tables }: Watched): Record<string, AlarmLine> {
  const lines = (["Read", "Write"] as const).flatMap((kind) =>
    throttled(tables, kind).map(([name, metric]) => {
      const loss = `Callers wait longer or are refused: DynamoDB turns ${kind.toLowerCase()}s of ${name} away.`;
      return [`${tableVariable(name)}${kind}sThrottled`, { metric, threshold: 1, loss }] as const;
    }),
  );
  return Object.fromEntries(lines);
}

function loginAlarms({ rotation }: Watched): Record<string, AlarmLine> {
  return {
    LoginsFailing: {
      metric: counted("LoginFailures"),
      threshold: 300,
      loss: "People may lose their accounts to somebody who guesses passwords, or cannot log in themselves.",
    },
    IssuerKeysUnreachable: {
      metric: counted("IssuerKeysUnreachable"),
      threshold: 3,
      loss: "Callers with tokens of an issuer whose keys cannot be fetched are refused, or soon are. The authorizer's log says which issuer it is.",
    },
    ...(rotation === undefined
      ? {}
      : {
          SigningKeyNotRenewed: {
            metric: rotation.metricErrors({ statistic: "sum" }),
            threshold: 1,
            loss: "People who log in get tokens of a key that should have been replaced, or none before there is a first key.",
          },
        }),
  };
}

function deliveryAlarms({ queues, workers }: Watched): Record<string, AlarmLine> {
  const abandoned = workers.map((worker) => {
    const JobsAbandoned = FilterPattern.stringValue("$.id", "=", logId("JOB_ABANDONED"));
    const line = {
      metric: lineCount(worker, "JobsAbandoned", { JobsAbandoned }),
      threshold: 1,
      loss: "Callers do not get densities they were promised: they could not be computed, or the sink was not to be reached. The lines before it in the worker's log say why.",
    };
    return [`${worker.node.id}JobsAbandoned`, line] as const;
  });
  return {
    JobsStuck: {
      metric: queues["density-jobs-stuck"].metricApproximateNumberOfMessagesVisible({ statistic: "max" }),
      threshold: 1,
      loss: "Callers were promised densities and neither get them nor are told so. Look at them with `ncs jobs list`.",
    },
    ...Object.fromEntries(abandoned),
    JobsWaiting: {
      metric: queues["density-jobs"].metricApproximateAgeOfOldestMessage({ statistic: "max" }),
      threshold: 15 * 60,
      loss: "Callers wait for densities whose delivery has hardly begun: the workers do not keep up.",
    },
  };
}

/** What people lose when a function fails that is no endpoint. */
const lossOf: Readonly<Partial<Record<FunctionId, string>>> = {
  "authorizer/authorize": "Callers are refused, good tokens or not",
  "population-density/deliver": "Callers wait for densities they were promised",
  "population-density/abandon": "Callers wait to be told that densities do not come",
};

/** The alarms on a function's own faults, which take a release of it back: each goes off at the first one. */
export function addFaultAlarms(
  scope: Construct,
  id: FunctionId,
  watched: ServiceFunction,
  topic: ITopic | undefined,
): ServiceAlarm[] {
  const summary = endpoints.find((endpoint) => endpoint.id === id)?.summary;
  const loss = lossOf[id] ?? `Callers of "${summary}" get failures in place of answers`;
  const alarm = (name: string, metric: Metric, cause: string) =>
    new ServiceAlarm(scope, `${watched.node.id}${name}`, {
      metric,
      threshold: 1,
      minutes: 1,
      loss: `${loss}: ${cause}.`,
      topic,
    });
  if (id === "authorizer/authorize") return [alarm("Failing", authorizerFailures(watched), `${id} fails`)];
  const Crash = FilterPattern.stringValue("$.id", "=", logId("CRASH"));
  return [
    alarm("Ending", watched.metricErrors({ statistic: "sum" }), `executions of ${id} break off`),
    // Answered with a failure, so that Lambda takes it for a success.
    alarm("Crashing", lineCount(watched, "Crashes", { Crash }), `${id} crashes`),
  ];
}

/** For Lambda it is an error too that a bad token was refused; only the log tells that from a failure. */
function authorizerFailures(watched: ServiceFunction): Metric {
  return lineCount(watched, "Failures", {
    Broken: FilterPattern.literal('"Invoke Error" -Unauthorized'),
    Ended: FilterPattern.anyTerm("Uncaught Exception", "Task timed out", "Runtime exited"),
  });
}

/** Counts the lines of a function's log that match one of some patterns. */
function lineCount(
  { node, logGroup }: ServiceFunction,
  name: string,
  patterns: Readonly<Record<string, IFilterPattern>>,
): Metric {
  const metricName = `${node.id}${name}`;
  for (const [id, filterPattern] of Object.entries(patterns)) {
    logGroup.addMetricFilter(id, { filterPattern, metricNamespace, metricName, metricValue: "1" });
  }
  return new Metric({ namespace: metricNamespace, metricName, statistic: "sum" });
}
