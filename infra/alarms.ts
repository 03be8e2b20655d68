import type { Stack } from "aws-cdk-lib";
import { MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { endpoints, type TableName } from "../functions/areas.ts";
import { type MetricName, metrics } from "../shared/aws/metrics.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import type { AlarmTopics } from "./alarm-topic.ts";
import { liveAlias } from "./constructs/releases.ts";
import { ServiceAlarm } from "./constructs/service-alarm.ts";
import type { ServiceApi } from "./constructs/service-api.ts";
import type { ServiceFunction } from "./constructs/service-function.ts";
import type { ServiceQueue } from "./constructs/service-queue.ts";
import { type FunctionId, functionRecords } from "./functions.ts";
import {
  gatewayThrottled,
  metricNamespaceOf,
  serviceMetric,
  throttled,
  throttledIndexes,
} from "./metrics.ts";
import type { Settings } from "./settings.ts";

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
  readonly atMost?: boolean;
  readonly withoutData?: boolean;
  /** Whether it may wait until the next working day. */
  readonly mayWait?: boolean;
}

/** Periods for throttling: a growing table throttles until DynamoDB has divided it, and callers' SDKs repeat. */
const twoOfThree = { reached: 2, of: 3 };

/** Periods for what a burst of requests, or a late start, may look like. */
const allOfThree = { reached: 3, of: 3 };

/** The settings on which alarms depend. */
type AlarmSettings = Pick<
  Settings,
  | "allAlarms"
  | "domain"
  | "laterAlarmTopicArn"
  | "maxObservedDayAge"
  | "maxSigningKeyAge"
  | "signingKeySecretArn"
>;

/**
 * Adds the alarms of the whole service whose metrics are found by names known before the deployment, so that they can
 * be in a stack of their own.
 */
export function addServiceAlarms(
  scope: Construct,
  watched: WatchedByName,
  settings: AlarmSettings,
  topics: AlarmTopics,
): void {
  const lines = {
    ...requestAlarms(watched),
    ...(settings.laterAlarmTopicArn === undefined ? {} : refusalAlarms(watched)),
    ...(settings.allAlarms ? tableAlarms(watched) : {}),
    ...loginAlarms(watched, settings),
    ...deliveryAlarms(watched),
    ...ageAlarms(watched, settings),
  };
  addLines(scope, lines, topics);
}

/** Adds the alarms on queues and functions, whose names are made with them; those of releases are apart. */
export function addResourceAlarms(scope: Construct, watched: Watched, topics: AlarmTopics): void {
  addLines(scope, { ...rotationAlarms(watched), ...queueAlarms(watched) }, topics);
}

function addLines(
  scope: Construct,
  lines: Readonly<Record<string, AlarmLine>>,
  { now, later }: AlarmTopics,
): void {
  for (const [id, line] of Object.entries(lines)) {
    new ServiceAlarm(scope, id, { ...line, topic: line.mayWait === true ? later : now });
  }
}

/** A share is computed of at least this many requests in five minutes. */
const minRequests = 20;

/** Of a stage with few requests, a share is computed of at least this many in an hour. */
const minRequestsOfAnHour = 5;

function requestAlarms({ service, api }: WatchedByName): Record<string, AlarmLine> {
  const failed = shareOf(api.metricServerError(), "percent of requests with 5xx");
  return {
    RequestsFailing: {
      metric: failed(minRequests),
      threshold: 5,
      impact:
        "Callers get 5xx for one request in twenty or more. The access log names the route, the " +
        "functions' logs the cause.",
    },
    MostRequestsFailing: {
      metric: failed(minRequestsOfAnHour),
      threshold: 50,
      minutes: 60,
      impact: "The few callers of an hour get 5xx for half of their requests or more.",
    },
    RequestsRefused: {
      metric: shareOf(api.metricClientError(), "percent of requests with 4xx")(minRequests),
      threshold: 50,
      periods: allOfThree,
      impact:
        "Half of all requests are refused. If the access log has 401, 403 or 429 for many callers, the fault may be " +
        "ours; 400 and 404, and scanners, count too.",
    },
    RequestsThrottled: {
      metric: serviceMetric(service, gatewayThrottled),
      threshold: 100,
      periods: twoOfThree,
      impact:
        "Callers get 429 from API Gateway, although they are within their quota: a path, or the account, gets more " +
        "requests than it lets through.",
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

/** For a stage with few requests. Scanners count, so that nobody is woken by it. */
function refusalAlarms({ api }: WatchedByName): Record<string, AlarmLine> {
  return {
    MostRequestsRefused: {
      metric: shareOf(api.metricClientError(), "percent of requests with 4xx")(minRequestsOfAnHour),
      threshold: 90,
      minutes: 60,
      mayWait: true,
      impact:
        "The few callers of an hour are refused nearly every request; of a scanner's, that is as it should be.",
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

/**
 * A key of the stack is replaced after 30 days; the rest is time for Secrets Manager to repeat a failed rotation. An
 * operator replaces a key by hand.
 */
const maxKeyAgeDays = { ours: 45, operators: 365 };

function loginAlarms(
  { service }: WatchedByName,
  { signingKeySecretArn, maxSigningKeyAge }: AlarmSettings,
): Record<string, AlarmLine> {
  const maxAge =
    maxSigningKeyAge ?? (signingKeySecretArn === undefined ? maxKeyAgeDays.ours : maxKeyAgeDays.operators);
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
    SigningKeyOld: {
      metric: serviceMetric(service, "SigningKeyAgeDays", "max"),
      threshold: maxAge,
      minutes: 60,
      mayWait: true,
      impact: `People who log in get tokens of a key that is ${maxAge} days old and should have been replaced.`,
    },
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

/** The share of failed deliveries is computed of at least this many in an hour. */
const minDeliveries = 20;

function deliveryAlarms({ service }: WatchedByName): Record<string, AlarmLine> {
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
    SweepStopped: {
      metric: serviceMetric(service, "OldestUnstartedJobSeconds", "n"),
      threshold: 0,
      atMost: true,
      withoutData: true,
      periods: allOfThree,
      impact:
        "Callers wait for densities whose message was lost, and nothing says how long: the sweep has not run for 15 minutes.",
    },
    // Only our own failures: a failing sink is for its owner to fix, and the caller sees it in the operation.
    JobsNotComputed: {
      metric: serviceMetric(service, "JobsNotComputed"),
      threshold: 1,
      impact:
        "Callers do not get accepted densities: these could not be computed. See `cause` in the log line.",
    },
    JobsExpired: {
      metric: serviceMetric(service, "JobsExpired"),
      threshold: 1,
      impact: "Callers got neither densities accepted a day ago nor a failure.",
    },
    DeliveriesFailing: {
      metric: shareOf(
        serviceMetric(service, "FailedDeliveries"),
        "percent of deliveries that failed",
      )(minDeliveries),
      threshold: 50,
      minutes: 60,
      impact:
        "Callers do not get accepted densities: half of the deliveries of an hour have failed. Of many sinks, the fault " +
        "may be ours; of one alone, it may be that sink.",
    },
  };
}

function queueAlarms({ queues, workers }: Watched): Record<string, AlarmLine> {
  const recursive = workers.map((worker) => {
    const line = {
      metric: worker.metric("RecursiveInvocationsDropped", { statistic: "sum" }),
      threshold: 1,
      impact:
        "Callers wait for accepted densities: Lambda takes the worker's messages for a loop and drops them.",
    };
    return [`${worker.node.id}Recursive`, line] as const;
  });
  return {
    JobsParked: {
      metric: queues["density-jobs-parked"].metricApproximateNumberOfMessagesVisible({ statistic: "max" }),
      threshold: 1,
      mayWait: true,
      impact: "Callers get neither accepted densities nor a failure. See `ncs jobs list`.",
    },
    ...Object.fromEntries(recursive),
  };
}

/** ACM renews a certificate some 45 days before its end, and a shorter one later. */
const minCertificateDays = 14;

/** Alarms on what was replaced in time until now. */
function ageAlarms(
  { service }: WatchedByName,
  { domain, maxObservedDayAge }: AlarmSettings,
): Record<string, AlarmLine> {
  return {
    ...(domain === undefined
      ? {}
      : {
          CertificateEnding: {
            metric: new Metric({
              namespace: "AWS/CertificateManager",
              metricName: "DaysToExpiry",
              statistic: "min",
              dimensionsMap: { CertificateArn: domain.certificateArn },
            }),
            threshold: minCertificateDays,
            atMost: true,
            minutes: 24 * 60,
            mayWait: true,
            impact: `Callers will not reach ${domain.name}: its certificate ends in ${minCertificateDays} days or less.`,
          },
        }),
    ...(maxObservedDayAge === undefined
      ? {}
      : {
          ObservedDayOld: {
            metric: serviceMetric(service, "ObservedDayAgeDays", "max"),
            threshold: maxObservedDayAge + 1,
            withoutData: true,
            minutes: 60,
            mayWait: true,
            impact:
              `Callers get old densities: no day of the last ${maxObservedDayAge} days was imported as observed. ` +
              "`ncs list densities` says which days are stored.",
          },
        }),
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
 * For the authorizer, to which a refused token is a failure. API Gateway keeps its policies for minutes: of 200 requests
 * a second with 100 tokens, a dozen invocations in five minutes are of the new version.
 */
const authorizerLimit: FaultLimit = { min: 10, percent: 40 };

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
  const ending = (excess: FaultLimit) =>
    alarm("Ending", excessOf(watched, excess), excess, `more executions of ${id} break off than before`);
  if (id === "authorizer/authorize") return [ending(authorizerLimit)];
  if (endpoints.some((one) => one.id === id && "streamed" in one)) {
    return [ending(excessLimit), alarm("Crashing", crashesOf(watched, limit), limit, `${id} crashes`)];
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
function excessOf(watched: ServiceFunction, { min }: FaultLimit): MathExpression {
  return new MathExpression({
    expression: `IF(requests >= ${min}, 100 * (failed - usual), 0)`,
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

/** The average, in percent, of a metric whose values are 0 or 1, of at least so many of them. */
function shareOf(metric: Metric, label: string): (min: number) => MathExpression {
  return (min) =>
    new MathExpression({
      expression: `IF(events >= ${min}, 100 * share, 0)`,
      usingMetrics: { share: metric.with({ statistic: "avg" }), events: metric.with({ statistic: "n" }) },
      label,
    });
}
