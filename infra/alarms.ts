import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { FilterPattern, type IFilterPattern } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { endpoints, type TableName } from "../functions/areas.ts";
import { logId } from "../shared/aws/log.ts";
import { CallerTooSlow } from "../shared/http/deadline.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { ServiceAlarm } from "./constructs/service-alarm.ts";
import type { ServiceApi } from "./constructs/service-api.ts";
import type { ServiceFunction } from "./constructs/service-function.ts";
import type { ServiceQueue } from "./constructs/service-queue.ts";
import { type FunctionId, functionRecords } from "./functions.ts";
import { metricNamespaceOf, serviceMetric, throttled } from "./metrics.ts";

/** The resources that alarms and dashboard watch. */
export interface Watched {
  readonly api: ServiceApi;
  readonly tables: Readonly<Record<TableName, ITable>>;
  readonly queues: Readonly<Record<QueueName, ServiceQueue>>;
  /** The functions that send densities or failures to sinks. */
  readonly workers: readonly ServiceFunction[];
  /** The function that queues jobs without a message and ends expired ones. */
  readonly sweep: ServiceFunction;
  /** Absent when the operator rotates the key. */
  readonly rotation?: ServiceFunction;
}

/**
 * Each alarm has one metric, or an expression over statistics of one metric: the value of an expression over metrics
 * that have data at different times is not reliable.
 */
interface AlarmLine {
  readonly metric: Metric | MathExpression;
  readonly threshold: number;
  readonly impact: string;
  readonly minutes?: number;
}

/** Adds the alarms of the whole service; those of single functions belong to their releases. */
export function addAlarms(scope: Construct, watched: Watched, topic: ITopic | undefined): void {
  const lines = {
    ...requestAlarms(scope, watched),
    ...tableAlarms(watched),
    ...loginAlarms(scope, watched),
    ...deliveryAlarms(scope, watched),
  };
  for (const [id, line] of Object.entries(lines)) new ServiceAlarm(scope, id, { ...line, topic });
}

/** A share is computed of at least this many requests in five minutes. */
const minRequests = 20;

function requestAlarms(scope: Construct, { api }: Watched): Record<string, AlarmLine> {
  return {
    RequestsFailing: {
      metric: new MathExpression({
        expression: `IF(requests >= ${minRequests}, 100 * failed, 0)`,
        usingMetrics: {
          failed: api.metricServerError({ statistic: "avg" }),
          requests: api.metricServerError({ statistic: "n" }),
        },
        label: "percent of requests with 5xx",
      }),
      threshold: 5,
      impact:
        "Callers get 5xx for one request in twenty or more. The access log names the route, the " +
        "functions' logs the cause.",
    },
    RequestsSlow: {
      metric: api.metricLatency({ statistic: "p95" }),
      threshold: 3_000,
      minutes: 15,
      impact:
        "Callers wait: one response in twenty takes three seconds or more, and requests fail with 504 " +
        "after five seconds. Large densities count until their caller has read them.",
    },
    FunctionsThrottled: {
      // Of all functions of the account, because they share its concurrency.
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "sum" }),
      threshold: 1,
      impact:
        "Callers get 5xx: the account's concurrency, or the reserved concurrency of one function, is used up.",
    },
    RequestsUncounted: {
      metric: serviceMetric(scope, "QuotaNotCounted"),
      threshold: 10,
      impact: "Callers are served without being counted: one of them may use the capacity of all.",
    },
  };
}

function tableAlarms({ tables }: Watched): Record<string, AlarmLine> {
  const lines = (["Read", "Write"] as const).flatMap((kind) =>
    throttled(tables, kind).map(([name, metric]) => {
      const impact = `Callers wait longer or are refused: DynamoDB throttles ${kind.toLowerCase()}s of ${name}.`;
      return [`${tableVariable({ name })}${kind}sThrottled`, { metric, threshold: 1, impact }] as const;
    }),
  );
  return Object.fromEntries(lines);
}

/** A key is replaced after 30 days; the rest is time for Secrets Manager to repeat a failed rotation. */
const maxKeyAgeDays = 45;

function loginAlarms(scope: Construct, { rotation }: Watched): Record<string, AlarmLine> {
  return {
    LoginsFailing: {
      metric: serviceMetric(scope, "LoginFailures"),
      threshold: 300,
      impact: "People cannot log in, or somebody guesses passwords.",
    },
    IssuerKeysUnreachable: {
      metric: serviceMetric(scope, "IssuerKeysUnreachable"),
      threshold: 3,
      impact:
        "Callers with tokens of one issuer are refused, or soon will be, because its keys cannot be " +
        "fetched. The authorizer's log names the issuer.",
    },
    ...(rotation === undefined
      ? {}
      : {
          SigningKeyNotRenewed: {
            metric: rotation.metricErrors({ statistic: "sum" }),
            threshold: 1,
            impact: `${functionRecords["keys/rotate"].impact}.`,
          },
          SigningKeyOld: {
            metric: serviceMetric(scope, "SigningKeyAgeDays", "max"),
            threshold: maxKeyAgeDays,
            minutes: 60,
            impact: "People who log in get tokens of a key that should have been replaced two weeks ago.",
          },
        }),
  };
}

function deliveryAlarms(scope: Construct, { queues, workers, sweep }: Watched): Record<string, AlarmLine> {
  const failed = workers.map((worker) => {
    const JobsFailed = FilterPattern.stringValue("$.id", "=", logId("JOB_FAILED"));
    const line = {
      metric: lineCount(worker, "JobsFailed", { JobsFailed }),
      threshold: 1,
      impact:
        "Callers do not get accepted densities: these could not be computed, or the sink was " +
        "unreachable. See `reason` in the log line.",
    };
    return [`${worker.node.id}JobsFailed`, line] as const;
  });
  const recursive = workers.map((worker) => {
    const line = {
      metric: worker.metric("RecursiveInvocationsDropped", { statistic: "sum" }),
      threshold: 1,
      impact:
        "Callers wait for accepted densities: Lambda takes the worker's messages for a loop and drops them.",
    };
    return [`${worker.node.id}Recursive`, line] as const;
  });
  const JobsExpired = FilterPattern.stringValue("$.id", "=", logId("JOB_EXPIRED"));
  return {
    JobsParked: {
      metric: queues["density-jobs-parked"].metricApproximateNumberOfMessagesVisible({ statistic: "max" }),
      threshold: 1,
      impact: "Callers get neither accepted densities nor a failure. See `ncs jobs list`.",
    },
    ...Object.fromEntries([...failed, ...recursive]),
    JobsExpired: {
      metric: lineCounts(scope, [...workers, sweep], "JobsExpired", { JobsExpired }),
      threshold: 1,
      impact: "Callers got neither densities accepted a day ago nor a failure.",
    },
    JobsWaiting: {
      metric: serviceMetric(scope, "OldestUnstartedJobSeconds", "max"),
      threshold: 15 * 60,
      impact:
        "Callers have waited 15 minutes for deliveries without a first attempt: the workers do not keep up.",
    },
    JobsLate: {
      metric: serviceMetric(scope, "OldestJobSeconds", "max"),
      threshold: 23.5 * 3_600,
      impact:
        "Callers have waited almost a day for a delivery; in half an hour it expires, and its sink gets nothing.",
    },
  };
}

/** The alarms on faults of one function, which roll back its release: each is raised by the first fault. */
export function addFaultAlarms(
  scope: Construct,
  id: FunctionId,
  watched: ServiceFunction,
  topic: ITopic | undefined,
): ServiceAlarm[] {
  const summary = endpoints.find((endpoint) => endpoint.id === id)?.summary;
  const impact = functionRecords[id].impact ?? `Callers of "${summary}" get 5xx`;
  const alarm = (name: string, metric: Metric, cause: string) =>
    new ServiceAlarm(scope, `${watched.node.id}${name}`, {
      metric,
      threshold: 1,
      minutes: 1,
      impact: `${impact}: ${cause}.`,
      topic,
    });
  if (id === "authorizer/authorize")
    return [alarm("Failing", failuresExcept(watched, "Unauthorized"), `${id} fails`)];
  const streams = endpoints.some((endpoint) => endpoint.id === id && "streamed" in endpoint);
  const ended = streams
    ? failuresExcept(watched, CallerTooSlow.name)
    : watched.metricErrors({ statistic: "sum" });
  const Crash = FilterPattern.stringValue("$.id", "=", logId("CRASH"));
  return [
    alarm("Ending", ended, `executions of ${id} break off`),
    // A crash is answered with 500, which Lambda counts as a success.
    alarm("Crashing", lineCount(watched, "Crashes", { Crash }), `${id} crashes`),
  ];
}

/**
 * Lambda counts it as an error too when the authorizer refuses a token, and when a caller does not read a streamed
 * response; only the log distinguishes them from failures.
 */
function failuresExcept(watched: ServiceFunction, expected: string): Metric {
  return lineCount(watched, "Failures", {
    Broken: FilterPattern.literal(`"Invoke Error" -${expected}`),
    Ended: FilterPattern.anyTerm("Uncaught Exception", "Task timed out", "Runtime exited"),
  });
}

/** Counts the lines of a function's log that match one of some patterns. */
function lineCount(
  watched: ServiceFunction,
  name: string,
  patterns: Readonly<Record<string, IFilterPattern>>,
): Metric {
  return lineCounts(watched, [watched], `${watched.node.id}${name}`, patterns);
}

/** Counts the lines of some functions' logs that match one of some patterns. */
function lineCounts(
  scope: Construct,
  watched: readonly ServiceFunction[],
  metricName: string,
  patterns: Readonly<Record<string, IFilterPattern>>,
): Metric {
  const namespace = metricNamespaceOf(scope);
  for (const { logGroup } of watched) {
    for (const [id, filterPattern] of Object.entries(patterns)) {
      const counted = { filterPattern, metricNamespace: namespace, metricName, metricValue: "1" };
      logGroup.addMetricFilter(id, counted);
    }
  }
  return new Metric({ namespace, metricName, statistic: "sum" });
}
