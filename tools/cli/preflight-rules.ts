import { endpoints, type TableName } from "../../functions/areas.ts";
import { maxStreams } from "../../functions/population-density/callers/tables.ts";
import { functionRecords } from "../../infra/functions.ts";
import { newTableThroughput, type Settings, type WarmThroughput } from "../../infra/settings.ts";
import { stages } from "../../infra/stage.ts";
import { stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { configuration } from "../../infra/variables.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { setting } from "../../shared/environment.ts";

/** What an account may use in a region; everything in it shares this. */
export interface AccountQuotas {
  /** Concurrent executions of all functions. */
  readonly executions: number;
  /** Storage for the code of all versions of all functions, and how much of it is used. */
  readonly codeBytes: number;
  readonly usedCodeBytes: number;
  /** Requests a second, and at once, to all APIs. */
  readonly requestRate: number;
  readonly requestBurst: number;
  /** Units a second of one on-demand table. */
  readonly tableReadUnits: number;
  readonly tableWriteUnits: number;
  /** Whether the account's API Gateway has a role to write logs. */
  readonly gatewayMayLog: boolean;
}

/** The tables that are read or written most, of those that a request needs. */
export const busyTables = ["access-records", "densities", "quotas"] as const satisfies TableName[];

/** What these tables of a stage bear at once; undefined for one that does not exist. */
export type StageTables = Readonly<Record<(typeof busyTables)[number], WarmThroughput | undefined>>;

/** An index that this release reads, and its `IndexStatus`; undefined where the table has no such index. */
export interface IndexStatus {
  readonly table: string;
  readonly index: string;
  readonly status: string | undefined;
}

/** The indexes that functions must not query yet: a sentence each. */
export function unreadyIndexes(indexes: readonly IndexStatus[]): readonly string[] {
  return indexes
    .filter(({ status }) => status !== "ACTIVE")
    .map(
      ({ table, index, status }) =>
        `${table} ${status === undefined ? `has no index ${index}` : `has the index ${index}, which is ${status}`}`,
    );
}

/** Requests a second of all callers together. */
export interface ExpectedRequests {
  /** For densities within a tile and hour, or a summary of them; a larger one is as many as its read units are. */
  readonly densities: number;
  /** All others that need a token. */
  readonly others: number;
}

/** The same, with how many are about a subscriber, which a stage may record. */
interface CountedRequests extends ExpectedRequests {
  readonly recorded: number;
}

/** The codes of quotas in Service Quotas: https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html */
export const quotaCodes = {
  executions: "L-B99A9384",
  codeGigabytes: "L-2ACBD22F",
  requestRate: "L-8A5B8E43",
  tableReadUnits: "L-CF0CBE56",
  tableWriteUnits: "L-AB614373",
} as const;

/** One quota, or what a table bears, and what the stage can use of it. */
export interface Check {
  readonly quota: string;
  /** Whether it is the account's or a table's. */
  readonly of: "account" | "table";
  /** Whether it grows with the requests, so that one of them is the first to throttle. */
  readonly growsWithRequests: boolean;
  readonly needed: number;
  readonly allowed: number;
  /** What to do when `needed` is more than `allowed`. */
  readonly remedy: string;
}

/**
 * Lambda serves no more requests a second with an execution, however short they are, both of an account and of a
 * function's reservation. A request that needs a token invokes its function and, unless API Gateway has a policy for the
 * token, the authorizer; these take less than a tenth of a second each.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
 */
const requestsOfExecution = 10;

/** Read units of a density within a tile and hour that no function has read in the last minute, as in the same table. */
const densityReadUnits = 2;

/** A year of releases on every working day: each keeps a version of every function, 5.0 MB in all. */
const [releases, releaseBytes] = [250, 5_000_000];

/** Lambda keeps these for functions without reserved executions. */
const unreservedExecutions = 100;

/**
 * What the stage can use of an account and of its tables, and what they have.
 * @param expected requests; as many as its API lets through unless given.
 */
export function checksOf(
  settings: Settings,
  account: AccountQuotas,
  tables: StageTables,
  expected?: ExpectedRequests,
): readonly Check[] {
  const total = totalThrottling(settings);
  const requests = expected === undefined ? requestsOf(settings) : { ...expected, recorded: expected.others };
  const tokens = tokensOf(settings, requests);
  const recorded = isRecording(settings) ? requests.recorded + tokens : 0;
  const counted = requests.densities + requests.others + tokens;
  const rate = expected === undefined ? total.rate : counted;
  const raise = (service: string, name: keyof typeof quotaCodes, value: number) =>
    "aws service-quotas request-service-quota-increase" +
    ` --service-code ${service} --quota-code ${quotaCodes[name]} --desired-value ${value}`;
  const executions = executionsOf(settings, requests);
  const reads = requests.densities * densityReadUnits;
  const gigabytes = (bytes: number) => Math.ceil(bytes / 2 ** 30);
  const code = gigabytes(account.usedCodeBytes + releases * releaseBytes);
  const lower = "or deploy with a lower throttlingRate";
  // What a deployment is about to warm is warm after it.
  const warm = (name: keyof StageTables, kind: "reads" | "writes", needed: number): Check => {
    const units = atLeast(tables[name], settings.warmThroughput[name]);
    const wanted = { ...units, [kind]: needed };
    return {
      of: "table",
      growsWithRequests: true,
      quota: `warm ${kind === "reads" ? "read" : "write"} units a second of ${name}`,
      needed,
      allowed: units[kind],
      remedy: `deploy with "warmThroughput.${name}": "${wanted.reads}:${wanted.writes}", ${lower}`,
    };
  };
  const ofAccount = (
    quota: string,
    [needed, allowed]: readonly [needed: number, allowed: number],
    remedy: string,
    growsWithRequests = true,
  ): Check => ({ of: "account", growsWithRequests, quota, needed, allowed, remedy });
  return [
    ofAccount(
      "concurrent executions of functions",
      [executions, account.executions],
      raise("lambda", "executions", executions),
    ),
    ofAccount(
      "GB of code of functions, with a year of releases",
      [code, gigabytes(account.codeBytes)],
      `${raise("lambda", "codeGigabytes", code)}, or delete versions of functions`,
      false,
    ),
    ofAccount(
      "requests a second to APIs",
      [rate, account.requestRate],
      `${raise("apigateway", "requestRate", rate)}, ${lower}`,
    ),
    ofAccount(
      "requests at once to APIs",
      [total.burst, account.requestBurst],
      "deploy with a lower throttlingBurst: AWS sets this quota by that of requests a second",
      false,
    ),
    ofAccount(
      "read units a second of one table (densities)",
      [reads, account.tableReadUnits],
      `${raise("dynamodb", "tableReadUnits", reads)}, ${lower}`,
    ),
    ofAccount(
      "write units a second of one table (quotas of callers)",
      [counted, account.tableWriteUnits],
      `${raise("dynamodb", "tableWriteUnits", counted)}, ${lower}`,
    ),
    warm("densities", "reads", reads),
    warm("quotas", "writes", counted),
    warm("access-records", "writes", recorded),
  ];
}

/** Callers that read their answers slowly, each as many at a time as one caller may be sent. */
const slowCallers = 20;

/** Reservations that leave other requests their executions while such callers read. */
const reservations = {
  "population-density/retrieve": 250,
  "population-density/summarize": 150,
} as const satisfies Settings["reservedConcurrency"];

/**
 * What streamed answers may hold: each keeps an execution until its caller has read it, 25 seconds at most.
 * @param expected as in `checksOf`: the authorizer gets executions for that many requests.
 * @returns how many executions, and the setting that bounds them; undefined where the account cannot reserve as many.
 */
export function streamsOf(
  settings: Settings,
  account: Pick<AccountQuotas, "executions">,
  expected: ExpectedRequests = requestsOf(settings),
) {
  const executions = slowCallers * maxStreams;
  const authorizer = Math.ceil((expected.densities + expected.others) / requestsOfExecution);
  const reserved = {
    ...settings.reservedConcurrency,
    "authorizer/authorize": Math.max(100, authorizer),
    ...reservations,
  };
  const all = Object.values(reserved).reduce((sum, count) => sum + count, 0);
  const others = executionsOf(
    { ...settings, reservedConcurrency: {} },
    { densities: 0, others: expected.others },
    1,
  );
  const bears = account.executions >= all + unreservedExecutions + others;
  const setting = Object.entries(reserved)
    .map(([id, count]) => `${id}:${count}`)
    .join(",");
  return {
    callers: slowCallers,
    executions,
    setting: bears ? setting : undefined,
    needed: all + unreservedExecutions + others,
  };
}

function isRecording({ configuration: chosen }: Settings): boolean {
  const { ACCESS_RECORD_DAYS } = configuration;
  return setting(ACCESS_RECORD_DAYS, { ACCESS_RECORD_DAYS: ACCESS_RECORD_DAYS.default, ...chosen }) > 0;
}

function atLeast(
  present: WarmThroughput | undefined,
  wanted: WarmThroughput = newTableThroughput,
): WarmThroughput {
  const { reads, writes } = present ?? newTableThroughput;
  return { reads: Math.max(reads, wanted.reads), writes: Math.max(writes, wanted.writes) };
}

/** Tokens a second, where a stage issues them: one for each request, as far as its rate goes. */
function tokensOf(settings: Settings, { densities, others }: ExpectedRequests): number {
  return Math.min(stageThrottling(settings).named["/oauth2/token/POST"]?.rate ?? 0, densities + others);
}

/** The check with the least room of those that grow with the requests; undefined when none is used. */
export function firstToThrottle(checks: readonly Check[]): Check | undefined {
  const [first] = checks
    .filter(({ growsWithRequests, needed }) => growsWithRequests && needed > 0)
    .sort((one, other) => one.allowed / one.needed - other.allowed / other.needed);
  return first;
}

/** Requests a second that the API lets through, of those that are counted for callers. */
function requestsOf(settings: Settings): CountedRequests {
  const { named } = stageThrottling(settings);
  const rateOf = (some: readonly Endpoint[]) =>
    some
      .flatMap((endpoint) =>
        pathsOf(endpoint).flatMap((path) =>
          verbsOf(endpoint).map((verb) => named[`${path}/${verb}`]?.rate ?? 0),
        ),
      )
      .reduce((sum, rate) => sum + rate, 0);
  const counted = endpoints.filter(({ scope }) => scope !== null);
  const densities = counted.filter(({ id }) =>
    functionRecords[id].tables?.densities?.includes("BatchGetItem"),
  );
  const recorded = counted.filter(({ id }) => functionRecords[id].tables?.["access-records"] !== undefined);
  return {
    densities: rateOf(densities),
    others: rateOf(counted) - rateOf(densities),
    recorded: rateOf(recorded),
  };
}

/**
 * Executions that logins, deliveries and the sweep may keep busy, those that Lambda wants for all other requests and
 * their authorizers or the burst of one path, whichever is more, and those that Lambda keeps when some are reserved.
 * @param invocations of a request: 1 where the authorizer's are reserved.
 */
function executionsOf(
  settings: Settings,
  { densities, others: rest }: ExpectedRequests,
  invocations = 2,
): number {
  const { stage, throttling, reservedConcurrency, maxWorkers } = settings;
  const tokens = tokensOf(settings, { densities, others: rest });
  const steady = (invocations * (rest + densities) + tokens) / requestsOfExecution;
  const others = Math.ceil(Math.max(steady, Math.min(throttling.burst, rest + densities)));
  const logins = reservedConcurrency["profile/authenticate"] ?? stages[stage].loginExecutions;
  const reserved = Object.values(reservedConcurrency).reduce((sum, count) => sum + count, 0);
  const needed = logins + maxWorkers + 1 + others;
  return reserved === 0 ? needed : Math.max(needed, reserved + unreservedExecutions);
}
