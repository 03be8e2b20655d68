import type { Stack } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { FilterPattern, type IFilterPattern } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { endpoints, type TableName } from "../functions/areas.ts";
import { logId } from "../shared/aws/log.ts";
import { type MetricName, metrics } from "../shared/aws/metrics.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { liveAlias } from "./constructs/releases.ts";
import { ServiceAlarm } from "./constructs/service-alarm.ts";
import type { ServiceApi } from "./constructs/service-api.ts";
import type { ServiceFunction } from "./constructs/service-function.ts";
import type { ServiceQueue } from "./constructs/service-queue.ts";
import { type FunctionId, functionRecords } from "./functions.ts";
import { metricNamespaceOf, serviceMetric, throttled, throttledIndexes } from "./metrics.ts";

/** What CloudWatch finds by names that are known before the deployment. */
export interface WatchedByName {
  /** The stack of the service, whose name its metrics have. */
  readonly service: Stack;
  readonly api: ServiceApi;
  /** What the stage has: no other function uses a table. */
  readonly functions: readonly FunctionId[];
  readonly tables: Readonly<Record<TableName, ITable>>;
}

/** Everything that alarms and dashboard watch. */
export interface Watched extends WatchedByName {
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
  readonly periods?: { readonly reached: number; readonly of: number };
}

/** Periods for throttling: a growing table throttles until DynamoDB has divided it, and callers' SDKs repeat. */
const twoOfThree = { reached: 2, of: 3 };

/**
 * Adds the alarms of the whole service whose metrics are found by names known before the deployment, so that they can
 * be in a stack of their own.
 */
export function addServiceAlarms(
  scope: Construct,
  watched: WatchedByName & {
    readonly rotatesKey: boolean;
    /** Whether the throttling of each table and index has alarms. */
    readonly everyTable: boolean;
  },
  topic: ITopic | undefined,
): void {
  const lines = {
    ...requestAlarms(watched),
    ...(watched.everyTable ? tableAlarms(watched) : {}),
    ...loginAlarms(watched),
    ...waitingAlarms(watched),
  };
  addLines(scope, lines, topic);
}

/** Adds the alarms on queues and functions, whose names are made with them; those of releases are apart. */
export function addResourceAlarms(scope: Construct, watched: Watched, topic: ITopic | undefined): void {
  addLines(scope, { ...rotationAlarms(watched), ...deliveryAlarms(watched) }, topic);
}

function addLines(
  scope: Construct,
  lines: Readonly<Record<string, AlarmLine>>,
  topic: ITopic | undefined,
): void {
  for (const [id, line] of Object.entries(lines)) new ServiceAlarm(scope, id, { ...line, topic });
}

/** A share is computed of at least this many requests in five minutes. */
const minRequests = 20;

function requestAlarms({ service, api }: WatchedByName): Record<string, AlarmLine> {
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
      // Counts all functions of the account, which share its concurrency. A function that reads a queue may be
      // throttled occasionally without loss; 100 in five minutes means that executions are missing.
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "sum" }),
      threshold: 100,
      periods: twoOfThree,
      impact:
        "Callers get 5xx: the account's concurrency, or the reserved concurrency of one function, is used up.",
    },
    RequestsUncounted: {
      metric: serviceMetric(service, "QuotaNotCounted"),
      threshold: 10,
      impact: "Callers are served without being counted: one of them may use the capacity of all.",
    },
  };
}

function tableAlarms({ functions, tables }: WatchedByName): Record<string, AlarmLine> {
  const lines = (["Read", "Write"] as const).flatMap((kind) =>
    throttled(tables, kind, functions).map(([name, metric]) => {
      const impact = `Callers wait longer or are refused: DynamoDB throttles ${kind.toLowerCase()}s of ${name}.`;
      return [
        `${tableVariable({ name })}${kind}sThrottled`,
        { metric, threshold: 1, periods: twoOfThree, impact },
      ] as const;
    }),
  );
  const ofIndexes = throttledIndexes(tables).map(([{ table, index, kind }, metric]) => {
    const impact =
      `Callers wait longer or are refused: DynamoDB throttles ${kind.toLowerCase()}s of the index ${index} of ` +
      `${table}${kind === "Write" ? ", and with them writes of the table" : ""}.`;
    const id = `${tableVariable({ name: table })}${index.replaceAll("-", "")}${kind}sThrottled`;
    return [id, { metric, threshold: 1, periods: twoOfThree, impact }] as const;
  });
  return Object.fromEntries([...lines, ...ofIndexes]);
}

/** A key is replaced after 30 days; the rest is time for Secrets Manager to repeat a failed rotation. */
const maxKeyAgeDays = 45;

function loginAlarms({
  service,
  rotatesKey,
}: WatchedByName & { readonly rotatesKey: boolean }): Record<string, AlarmLine> {
  return {
    LoginsFailing: {
      metric: serviceMetric(service, "LoginFailures"),
      threshold: 300,
      impact: "People cannot log in, or somebody guesses passwords.",
    },
    IssuerKeysUnreachable: {
      metric: serviceMetric(service, "IssuerKeysUnreachable"),
      threshold: 3,
      impact:
        "Callers with tokens of one issuer are refused, or soon will be, because its keys cannot be " +
        "fetched. The authorizer's log names the issuer.",
    },
    ...(rotatesKey
      ? {
          SigningKeyOld: {
            metric: serviceMetric(service, "SigningKeyAgeDays", "max"),
            threshold: maxKeyAgeDays,
            minutes: 60,
            impact: "People who log in get tokens of a key that should have been replaced two weeks ago.",
          },
        }
      : {}),
  };
}

function rotationAlarms({ rotation }: Watched): Record<string, AlarmLine> {
  if (rotation === undefined) return {};
  return {
    SigningKeyNotRenewed: {
      metric: rotation.metricErrors({ statistic: "sum" }),
      threshold: 1,
      impact: `${functionRecords["keys/rotate"].impact}.`,
    },
  };
}

function waitingAlarms({ service }: WatchedByName): Record<string, AlarmLine> {
  return {
    JobsWaiting: {
      metric: serviceMetric(service, "OldestUnstartedJobSeconds", "max"),
      threshold: 15 * 60,
      impact:
        "Callers have waited 15 minutes for a worker that makes the first attempt at a delivery: the workers do not keep up.",
    },
    JobsLate: {
      metric: serviceMetric(service, "OldestJobSeconds", "max"),
      threshold: 23.5 * 3_600,
      impact:
        "Callers have waited almost a day for a delivery; in half an hour it expires, and its sink gets nothing.",
    },
  };
}

function deliveryAlarms({ service, queues, workers, sweep }: Watched): Record<string, AlarmLine> {
  // Only our own failures: a failing sink is for its owner to fix, and the caller sees it in the operation.
  const JobsNotComputed = FilterPattern.all(
    FilterPattern.stringValue("$.id", "=", logId("ATTEMPT")),
    FilterPattern.stringValue("$.outcome", "=", "not computed"),
  );
  const notComputed = workers.map((worker) => {
    const line = {
      metric: lineCounts(service, [worker], `${worker.node.id}JobsNotComputed`, { JobsNotComputed }),
      threshold: 1,
      impact:
        "Callers do not get accepted densities: these could not be computed. See `cause` in the log line.",
    };
    return [`${worker.node.id}JobsNotComputed`, line] as const;
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
    ...Object.fromEntries([...notComputed, ...recursive]),
    JobsExpired: {
      metric: lineCounts(service, [...workers, sweep], "JobsExpired", { JobsExpired }),
      threshold: 1,
      impact: "Callers got neither densities accepted a day ago nor a failure.",
    },
  };
}

/** The share of failed invocations from which an alarm is raised. */
interface FaultLimit {
  /** The fewest invocations in five minutes of which a share is computed. */
  readonly min: number;
  readonly percent: number;
}

/** Two failures of ten. */
const usualLimit: FaultLimit = { min: 10, percent: 15 };

/** For a function that runs once a minute. */
const scheduledLimit: FaultLimit = { min: 3, percent: 50 };

/** For a function whose callers cause failures too: how much the share exceeds that of all versions together. */
const excessLimit: FaultLimit = { min: 50, percent: 30 };

/**
 * The alarms on failures of a function's newest version, which roll back its release. After the release, when all
 * requests go to that version, they watch the function.
 */
export function addFaultAlarms(
  scope: Construct,
  id: FunctionId,
  watched: ServiceFunction,
  topic: ITopic | undefined,
): ServiceAlarm[] {
  const summary = endpoints.find((endpoint) => endpoint.id === id)?.summary;
  const { impact = `Callers of "${summary}" get 5xx`, everyMinutes } = functionRecords[id];
  const limit = everyMinutes === undefined ? usualLimit : scheduledLimit;
  const alarm = (name: string, metric: MathExpression, { percent }: FaultLimit, cause: string) =>
    new ServiceAlarm(scope, `${watched.node.id}${name}`, {
      metric,
      threshold: percent,
      impact: `${impact}: ${cause}.`,
      topic,
    });
  // A refused token, and a streamed response that is cut, end the invocation with an error.
  const ending = () =>
    alarm("Ending", excessOf(watched), excessLimit, `more executions of ${id} break off than before`);
  if (id === "authorizer/authorize") return [ending()];
  if (endpoints.some((one) => one.id === id && "streamed" in one)) {
    return [ending(), alarm("Crashing", crashesOf(watched, limit), limit, `${id} crashes`)];
  }
  return [alarm("Faults", faultsOf(watched, limit), limit, `executions of ${id} break off or crash`)];
}

/**
 * A Lambda metric of the version that the alias gets.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html
 */
function ofVersion(watched: ServiceFunction, metricName: string, statistic: string): Metric {
  const { version: ExecutedVersion } = watched.currentVersion;
  const dimensionsMap = { ...ofAlias(watched), ExecutedVersion };
  return new Metric({ namespace: "AWS/Lambda", metricName, statistic, dimensionsMap });
}

function ofAlias({ functionName }: ServiceFunction): Record<string, string> {
  return { FunctionName: functionName, Resource: `${functionName}:${liveAlias}` };
}

/** How much the share of invocations that broke off exceeds that of all versions of the alias. */
function excessOf(watched: ServiceFunction): MathExpression {
  return new MathExpression({
    expression: `IF(requests >= ${excessLimit.min}, 100 * (failed - usual), 0)`,
    usingMetrics: {
      ...invocationsOf(watched),
      usual: new Metric({
        namespace: "AWS/Lambda",
        metricName: "Errors",
        statistic: "avg",
        dimensionsMap: ofAlias(watched),
      }),
    },
    label: "percent of invocations that failed, beyond those of all versions",
  });
}

/** The share of invocations that crashed. Without a crash it has no value, which does not raise an alarm. */
function crashesOf(watched: ServiceFunction, { min }: FaultLimit): MathExpression {
  const { requests } = invocationsOf(watched);
  return new MathExpression({
    expression: `IF(requests >= ${min}, 100 * crashes / requests, 0)`,
    usingMetrics: { crashes: crashCountOf(watched), requests },
    label: "percent of invocations that crashed",
  });
}

/**
 * The share of invocations that broke off or crashed. None does both: a crash is answered with 500, or its message is
 * reported, which Lambda counts as a success. Without a crash their count has no data.
 */
function faultsOf(watched: ServiceFunction, { min }: FaultLimit): MathExpression {
  return new MathExpression({
    expression: `IF(requests >= ${min}, 100 * (failed + FILL(crashes, 0) / requests), 0)`,
    usingMetrics: { ...invocationsOf(watched), crashes: crashCountOf(watched) },
    label: "percent of invocations that failed or crashed",
  });
}

/** The invocations of the newest version, each of which counts as 0 or 1: their number, and the share that broke off. */
function invocationsOf(watched: ServiceFunction): Readonly<Record<"failed" | "requests", Metric>> {
  return { failed: ofVersion(watched, "Errors", "avg"), requests: ofVersion(watched, "Errors", "n") };
}

function crashCountOf(watched: ServiceFunction): Metric {
  const { functionName, currentVersion } = watched;
  return new Metric({
    namespace: metricNamespaceOf(watched),
    metricName: "Crashes" satisfies MetricName,
    statistic: "sum",
    dimensionsMap: { [metrics.Crashes]: `${functionName}:${currentVersion.version}` },
  });
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
