import { endpoints } from "../../functions/areas.ts";
import { tasksAtOnce } from "../../infra/density-import-definition.ts";
import type { Settings } from "../../infra/settings.ts";
import { stages } from "../../infra/stage.ts";
import { stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";

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

/** The codes of quotas in Service Quotas: https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html */
export const quotaCodes = {
  executions: "L-B99A9384",
  codeGigabytes: "L-2ACBD22F",
  requestRate: "L-8A5B8E43",
  tableReadUnits: "L-CF0CBE56",
  tableWriteUnits: "L-AB614373",
} as const;

/** One quota, or what a table bears, beside what the stage can use of it. */
export interface Check {
  readonly quota: string;
  readonly needed: number;
  readonly allowed: number;
  /** What to do when `needed` is more than `allowed`. */
  readonly remedy: string;
}

/** Seconds of a request, as in the cost table of docs/limits-and-cost.md: most take less. */
const [requestSeconds, densitySeconds] = [0.02, 0.06];

/** Read units of a small density that no function has read in the last minute, as in the same table. */
const densityReadUnits = 11;

/** A year of releases on every working day: each keeps a version of every function, 4.2 MB in all. */
const [releases, releaseBytes] = [250, 4_200_000];

/** Lambda keeps these for functions without reserved executions. */
const unreservedExecutions = 100;

/** What the stage can use of an account at the rates that its API lets through, beside the account's quotas. */
export function checksOf(settings: Settings, account: AccountQuotas): readonly Check[] {
  const { rate, burst } = totalThrottling(settings);
  const rates = ratesOf(settings);
  const raise = (service: string, name: keyof typeof quotaCodes, value: number) =>
    "aws service-quotas request-service-quota-increase" +
    ` --service-code ${service} --quota-code ${quotaCodes[name]} --desired-value ${value}`;
  const executions = executionsOf(settings);
  const reads = rates.densities * densityReadUnits;
  const gigabytes = (bytes: number) => Math.ceil(bytes / 2 ** 30);
  const code = gigabytes(account.usedCodeBytes + releases * releaseBytes);
  const lower = "or deploy with a lower throttlingRate";
  return [
    {
      quota: "concurrent executions of functions",
      needed: executions,
      allowed: account.executions,
      remedy: raise("lambda", "executions", executions),
    },
    {
      quota: "GB of code of functions, with a year of releases",
      needed: code,
      allowed: gigabytes(account.codeBytes),
      remedy: `${raise("lambda", "codeGigabytes", code)}, or delete versions of functions`,
    },
    {
      quota: "requests a second to APIs",
      needed: rate,
      allowed: account.requestRate,
      remedy: `${raise("apigateway", "requestRate", rate)}, ${lower}`,
    },
    {
      quota: "requests at once to APIs",
      needed: burst,
      allowed: account.requestBurst,
      remedy: "deploy with a lower throttlingBurst: AWS sets this quota by that of requests a second",
    },
    {
      quota: "read units a second of one table (densities)",
      needed: reads,
      allowed: account.tableReadUnits,
      remedy: `${raise("dynamodb", "tableReadUnits", reads)}, ${lower}`,
    },
    {
      quota: "write units a second of one table (quotas of callers)",
      needed: rates.counted,
      allowed: account.tableWriteUnits,
      remedy: `${raise("dynamodb", "tableWriteUnits", rates.counted)}, ${lower}`,
    },
  ];
}

/** Requests a second at the rates let through: all that are counted for their callers, and those for densities. */
function ratesOf(settings: Settings): { readonly counted: number; readonly densities: number } {
  const { named } = stageThrottling(settings);
  const rateOf = (some: readonly Endpoint[]) => {
    const methods = some.flatMap((endpoint) => pathsOf(endpoint).map((path) => `${path}/${endpoint.method}`));
    return Object.entries(named)
      .filter(([method]) => methods.includes(method))
      .reduce((sum, [, { rate }]) => sum + rate, 0);
  };
  const counted = endpoints.filter(({ scope }) => scope !== null);
  const densities = counted.filter(({ id }) => id === "population-density/retrieve");
  return { counted: rateOf(counted), densities: rateOf(densities) };
}

/**
 * Executions that logins, deliveries, the sweep and an import of a country may keep busy, those of all other requests
 * at their rates or of the burst of one path, whichever is more, and those that Lambda keeps when some are reserved.
 */
function executionsOf(settings: Settings): number {
  const { stage, throttling, reservedConcurrency, densityImport, maxWorkers } = settings;
  const { counted, densities } = ratesOf(settings);
  const steady = (counted - densities) * requestSeconds + densities * densitySeconds;
  const others = Math.ceil(Math.max(steady, throttling.burst));
  const logins = reservedConcurrency["profile/authenticate"] ?? stages[stage].loginExecutions;
  const reserved = Object.values(reservedConcurrency).reduce((sum, count) => sum + count, 0);
  const needed = logins + maxWorkers + 1 + (densityImport ? tasksAtOnce : 0) + others;
  return reserved === 0 ? needed : Math.max(needed, reserved + unreservedExecutions);
}
