import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type IFilterPattern } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { endpoints, type TableName } from "../functions/areas.ts";
import { logId } from "../shared/aws/log.ts";
import { type MetricName, metricNamespace, type metrics } from "../shared/aws/metrics.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { ServiceAlarm } from "./constructs/service-alarm.ts";
import type { ServiceApi } from "./constructs/service-api.ts";
import type { ServiceFunction } from "./constructs/service-function.ts";
import type { ServiceQueue } from "./constructs/service-queue.ts";
import type { ServiceTable } from "./constructs/service-table.ts";
import { type FunctionId, functionRecords } from "./functions.ts";

/** What alarms and dashboard look at. */
export interface Watched {
  readonly api: ServiceApi;
  readonly tables: Readonly<Record<TableName, ServiceTable>>;
  readonly queues: Readonly<Record<QueueName, ServiceQueue>>;
  /** Functions that deliver densities, or tell that there are none. */
  readonly workers: readonly ServiceFunction[];
  /** The function that sees to jobs without a message, and to those that are too old. */
  readonly sweep: ServiceFunction;
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

/** Something that the functions measure: of several values the greatest counts. */
export function measured(metricName: Undivided): Metric {
  return new Metric({ namespace: metricNamespace, metricName, statistic: "max" });
}

/** What DynamoDB turned away, by table: of reads or of writes, for each table that a function may read or write. */
export function throttled(
  tables: Watched["tables"],
  kind: "Read" | "Write",
): readonly (readonly [table: TableName, metric: Metric])[] {
  const pattern =
    kind === "Read" ? /^(?:BatchGetItem|GetItem|Query)$/ : /^(?:DeleteItem|PutItem|UpdateItem)$/;
  const granted = Object.values(functionRecords).flatMap((line) => Object.entries(line.tables ?? {}));
  const used = granted.filter(([, actions]) => actions.some((action) => pattern.test(action)));
  const names = [...new Set(used.map(([name]) => name as TableName))].sort();
  return names.map((name) => [name, tables[name].metric(`${kind}ThrottleEvents`, { statistic: "sum" })]);
}

/** On one metric each: what an expression makes of metrics that have no data is not to be relied on. */
interface AlarmLine {
  readonly metric: Metric;
  readonly threshold: number;
  readonly impact: string;
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
      impact:
        "Callers get failures in place of answers. The access log says of which route, the functions' logs why.",
    },
    RequestsSlow: {
      metric: api.metricLatency({ statistic: "p95" }),
      threshold: 3_000,
      minutes: 15,
      impact:
        "Callers wait: one answer in twenty takes three seconds or more, and at five seconds none is given.",
    },
    FunctionsThrottled: {
      // Of all functions of the account, as they share its executions.
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "sum" }),
      threshold: 1,
      impact:
        "Callers get failures, as the account runs as many functions at a time as it may, or one as many as are reserved for it.",
    },
    RequestsUncounted: {
      metric: counted("QuotaNotCounted"),
      threshold: 10,
      impact: "Callers are let through uncounted: one that asks too much takes the time of all others.",
    },
  };
}

function tableAlarms({ tables }: Watched): Record<string, AlarmLine> {
  const lines = (["Read", "Write"] as const).flatMap((kind) =>
    throttled(tables, kind).map(([name, metric]) => {
      const impact = `Callers wait longer or are refused: DynamoDB turns ${kind.toLowerCase()}s of ${name} away.`;
      return [`${tableVariable({ name })}${kind}sThrottled`, { metric, threshold: 1, impact }] as const;
    }),
  );
  return Object.fromEntries(lines);
}

function loginAlarms({ rotation }: Watched): Record<string, AlarmLine> {
  return {
    LoginsFailing: {
      metric: counted("LoginFailures"),
      threshold: 300,
      impact:
        "People may lose their accounts to somebody who guesses passwords, or cannot log in themselves.",
    },
    IssuerKeysUnreachable: {
      metric: counted("IssuerKeysUnreachable"),
      threshold: 3,
      impact:
        "Callers with tokens of an issuer whose keys cannot be fetched are refused, or soon are. The authorizer's log says which issuer it is.",
    },
    ...(rotation === undefined
      ? {}
      : {
          SigningKeyNotRenewed: {
            metric: rotation.metricErrors({ statistic: "sum" }),
            threshold: 1,
            impact: `${functionRecords["keys/rotate"].impact}.`,
          },
        }),
  };
}

function deliveryAlarms({ queues, workers, sweep }: Watched): Record<string, AlarmLine> {
  const failed = workers.map((worker) => {
    const JobsFailed = FilterPattern.stringValue("$.id", "=", logId("JOB_FAILED"));
    const line = {
      metric: lineCount(worker, "JobsFailed", { JobsFailed }),
      threshold: 1,
      impact:
        "Callers do not get densities they were promised: they could not be computed, or the sink was not to be reached. `reason` in the line says which.",
    };
    return [`${worker.node.id}JobsFailed`, line] as const;
  });
  const JobsExpired = FilterPattern.stringValue("$.id", "=", logId("JOB_EXPIRED"));
  return {
    JobsParked: {
      metric: queues["density-jobs-parked"].metricApproximateNumberOfMessagesVisible({ statistic: "max" }),
      threshold: 1,
      impact:
        "Callers were promised densities and neither get them nor are told so. Look at them with `ncs jobs list`.",
    },
    ...Object.fromEntries(failed),
    JobsExpired: {
      metric: lineCounts([...workers, sweep], "JobsExpired", { JobsExpired }),
      threshold: 1,
      impact: "Callers were promised densities a day ago, and neither got them nor were told so.",
    },
    JobsWaiting: {
      metric: measured("OldestUnstartedJobSeconds"),
      threshold: 15 * 60,
      impact: "Callers wait for densities whose delivery has not begun: the workers do not keep up.",
    },
    JobsLate: {
      metric: measured("OldestJobSeconds"),
      threshold: 23.5 * 3_600,
      impact:
        "Callers wait for densities for almost a day; half an hour later the delivery ends without a word to them.",
    },
  };
}

/** The alarms on a function's own faults, which take a release of it back: each goes off at the first one. */
export function addFaultAlarms(
  scope: Construct,
  id: FunctionId,
  watched: ServiceFunction,
  topic: ITopic | undefined,
): ServiceAlarm[] {
  const summary = endpoints.find((endpoint) => endpoint.id === id)?.summary;
  const impact = functionRecords[id].impact ?? `Callers of "${summary}" get failures in place of answers`;
  const alarm = (name: string, metric: Metric, cause: string) =>
    new ServiceAlarm(scope, `${watched.node.id}${name}`, {
      metric,
      threshold: 1,
      minutes: 1,
      impact: `${impact}: ${cause}.`,
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
  watched: ServiceFunction,
  name: string,
  patterns: Readonly<Record<string, IFilterPattern>>,
): Metric {
  return lineCounts([watched], `${watched.node.id}${name}`, patterns);
}

/** Counts the lines of some functions' logs that match one of some patterns. */
function lineCounts(
  watched: readonly ServiceFunction[],
  metricName: string,
  patterns: Readonly<Record<string, IFilterPattern>>,
): Metric {
  for (const { logGroup } of watched) {
    for (const [id, filterPattern] of Object.entries(patterns)) {
      logGroup.addMetricFilter(id, { filterPattern, metricNamespace, metricName, metricValue: "1" });
    }
  }
  return new Metric({ namespace: metricNamespace, metricName, statistic: "sum" });
}
