import { type TableName, tables } from "../functions/areas.ts";
import { setting } from "../shared/environment.ts";
import { nearestName } from "../shared/nearest-name.ts";
import anyAccount from "./any-account.json" with { type: "json" };
import { type FunctionId, functionRecords } from "./functions.ts";
import { parseOrigins } from "./origins.ts";
import { servedFunctions } from "./served.ts";
import { SettingError } from "./setting-error.ts";
import { burstOf, type Stage, stages, type Throttling } from "./stage.ts";
import type { TableNames } from "./table-names.ts";
import { refuseMoreThanAnAccountHas } from "./throttling.ts";
import { type ConfigurationName, configuration } from "./variables.ts";

/** A host name of the operator's under which callers reach the API. */
export interface Domain {
  readonly name: string;
  /** A certificate in the stack's region. */
  readonly certificateArn: string;
  /** The Route 53 zone for the name's records; without one the operator creates them. */
  readonly hostedZoneId?: string;
}

/** Units a second that an on-demand table can serve at once, without scaling first. */
export interface WarmThroughput {
  readonly reads: number;
  readonly writes: number;
}

/**
 * The warm throughput of a new table. DynamoDB accepts no lower value, and no table can be set lower than it is.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
 */
export const newTableThroughput: WarmThroughput = { reads: 12_000, writes: 4_000 };

/** The settings of a deployment; nothing else of a deployment varies. */
export interface Settings {
  readonly stage: Stage;
  /** The account that the stacks are for; absent for that of the shell. */
  readonly account?: string;
  /** The region that the stacks are for; absent for that of the shell. */
  readonly region?: string;
  /** The signing key of the operator; without it the stack makes and rotates one. */
  readonly signingKeySecretArn?: string;
  readonly domain?: Domain;
  /** Whether callers reach the API under AWS's host name as well; always true without a domain. */
  readonly awsHostIsOpen: boolean;
  readonly waf: boolean;
  /** The origins whose web pages may use the API; without any, no page of another origin may. */
  readonly corsOrigins: readonly string[];
  /** Limits of each method that has none of its own. */
  readonly throttling: Throttling;
  /** Limits of the token endpoint, if they are not those of a method. */
  readonly tokenThrottling?: Throttling;
  /** Whether requests are sampled into X-Ray. */
  readonly traced: boolean;
  /** The SNS topic that alarms notify; absent when alarms notify nobody. */
  readonly alarmTopicArn?: string;
  /** The SNS topic of those alarms that may wait until the next working day; absent when it is the same. */
  readonly laterAlarmTopicArn?: string;
  /** Days after which the latest observed day of densities is too old; without it, none is. */
  readonly maxObservedDayAge?: number;
  /** Days after which a signing key is too old, if it is not what alarms take by default. */
  readonly maxSigningKeyAge?: number;
  /** Whether the objectives and the throttling of each table have alarms too. */
  readonly allAlarms: boolean;
  /**
   * Deployed names of tables that differ from the default, such as those of restored tables.
   * While a second name is given, functions may use that table too, as the version before does.
   */
  readonly tableNames: Readonly<Partial<TableNames>>;
  /** Warm throughput of tables that must be higher than a new table's. */
  readonly warmThroughput: Readonly<Partial<Record<TableName, WarmThroughput>>>;
  /** Maximum of concurrent delivery workers. */
  readonly maxWorkers: number;
  /** Reserved concurrency by function, which is also its maximum. */
  readonly reservedConcurrency: Readonly<Partial<Record<FunctionId, number>>>;
  /** Configuration of the functions that differs from its default. */
  readonly configuration: Readonly<Partial<Record<ConfigurationName, string>>>;
  /** The issuers whose tokens a release may refuse from now on. */
  readonly retiredIssuers: readonly string[];
  /** Whether a release gets all requests at once and ignores alarms: for a release that fixes what raises them. */
  readonly releasesAtOnce: boolean;
  /** What another value of makes every function start in new execution environments. */
  readonly restart?: string;
  /** Whether the template is for `sam local` on the servers of `npm start`; CloudFormation refuses it. */
  readonly samLocal: boolean;
  /** Whether the account's API Gateway may already write logs, so that the stack does not change that setting. */
  readonly gatewayMayLog: boolean;
  /** The settings that were given, except the stage, each as text. */
  readonly given: Readonly<Record<string, string>>;
}

/** What a synthesis or a comparison that is no deployment takes for the settings that `prod` must be given. */
export const undeployedSettings = anyAccount.prod;

/**
 * The settings of a local run: its alarms notify nobody, pages from any port of the machine may use it, and clients get
 * tokens.
 */
export const localSettings = {
  ...undeployedSettings,
  corsOrigins: "http://localhost:*,http://127.0.0.1:*",
  TOKEN_ENDPOINT: "on",
  // The run's own address replaces it: `ownIssuer` in `tools/local/demo-service.ts`.
  TOKEN_ISSUER: configuration.TOKEN_ISSUER.default,
};

function isStage(name: string): name is Stage {
  return name in stages;
}

/** Every setting of a deployment. */
export function settingNames(): ReadonlySet<string> {
  const names = new Set<string>();
  settingsBy((name) => {
    names.add(name);
    return name === "stage" ? ("dev" satisfies Stage) : undefined;
  });
  return names;
}

/** What a stage that has a setting of the release before must do, as this release has none of the name. */
const removedSettings: Readonly<Record<string, string>> = {
  densityImport:
    "a stage of 0.2.0 with it destroys that stack first: empty its bucket, and aws cloudformation delete-stack " +
    "--stack-name NetworkCapabilities-density-import (in dev NetworkCapabilities-dev-density-import); then leave the " +
    "setting out. ncs import density reads the files on one machine",
};

/**
 * @throws {SettingError} naming one that is no setting, and the nearest one; not for what CDK and its tools keep in the
 *   context.
 */
export function refuseUnknown(given: readonly string[]): void {
  const removed = given.find((name) => Object.hasOwn(removedSettings, name));
  if (removed !== undefined)
    throw new SettingError(`${removed} is no longer a setting: ${removedSettings[removed]}`);
  const known = [...settingNames()];
  const lettersOf = (name: string) => name.replaceAll(/[^a-z]/gi, "").toLowerCase();
  const ours = new Set(known.map(lettersOf));
  const isOthers = (name: string) => /[:/@-]/.test(name) && !ours.has(lettersOf(name));
  const unknown = given.find((name) => !known.includes(name) && !isOthers(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  const advice = nearest === undefined ? "; docs/configuration.md lists them" : `; did you mean ${nearest}?`;
  throw new SettingError(`${unknown} is not a setting${advice}`);
}

/**
 * Settings from their values by name.
 * @param assumed values of settings that are not given, instead of their defaults.
 * @throws {SettingError} naming the setting that does not exist, is malformed or conflicts with others.
 * @throws {Misconfigured} naming a variable of the functions that is malformed.
 */
export function readSettings(
  values: Readonly<Record<string, unknown>>,
  assumed: Readonly<Record<string, unknown>> = {},
): Settings {
  refuseUnknown(Object.keys(values));
  return settingsBy((name) => values[name], assumed);
}

/** The value of a setting as a file or the command line has it. */
type ContextValue = (name: string) => unknown;

function settingsBy(named: ContextValue, assumed: Readonly<Record<string, unknown>> = {}): Settings {
  const stage = stageIn(named("stage"));
  const given: Record<string, string> = {};
  const contextValue: ContextValue = (name) => {
    const value = named(name);
    if (value === undefined) return assumed[name];
    given[name] = typeof value === "object" ? JSON.stringify(value) : String(value);
    return value;
  };
  const text = (name: string, pattern: RegExp, description: string): string | undefined => {
    const value = contextValue(name);
    if (value === undefined) return undefined;
    // From the command line all are strings; a file has numbers and booleans too.
    const written = typeof value === "object" ? "" : String(value);
    if (!pattern.test(written)) throw new SettingError(`${name} must be ${description}`);
    return written;
  };
  const flag = (name: string) => text(name, /^(?:true|false)$/, "true or false") === "true";
  const count = (name: string) => {
    const written = text(name, /^[1-9]\d{0,5}$/, "a whole number from 1 to 999999");
    return written === undefined ? undefined : Number(written);
  };
  const place = placeIn(stage, {
    account: text("account", /^(?:any|\d{12})$/, "the twelve digits of an account, or any"),
    region: text("region", /^(?:any|[a-z]{2,}(?:-[a-z]+)+-\d)$/, "a region such as eu-west-1, or any"),
  });
  const arn = (name: string, service: string, resource: string, description: string) => {
    const written = text(name, new RegExp(`^arn:[^:]+:${service}:[^:]+:\\d{12}:${resource}$`), description);
    return written === undefined ? undefined : arnIn(place, name, written);
  };

  const maxWorkers = Number(
    text("maxWorkers", /^(?:[2-9]|[1-9]\d|1\d\d|200)$/, "a whole number from 2 to 200") ??
      stages[stage].maxWorkers,
  );
  refuseMoreThanAnAccountHas(stage);
  const { methodThrottling } = stages[stage];
  const tokenRate = count("tokenRate");
  const rate = count("throttlingRate");
  const throttling = rate === undefined ? methodThrottling : { rate, burst: burstOf(rate) };
  const signingKeySecretArn = arn(
    "signingKeySecretArn",
    "secretsmanager",
    "secret:.+",
    "the full ARN of a secret",
  );
  const alarmTopic = text(
    "alarmTopicArn",
    /^(?:none|arn:[^:]+:sns:[^:]+:\d{12}:[^:]+)$/,
    "the ARN of an SNS topic, or none",
  );
  if (alarmTopic !== undefined && alarmTopic !== "none") arnIn(place, "alarmTopicArn", alarmTopic);
  if (alarmTopic === undefined && stages[stage].alarmsNotify) {
    throw new SettingError(
      'alarmTopicArn must be set for prod: write "alarmTopicArn": "ARN", of the SNS topic that alarms notify, or ' +
        '"alarmTopicArn": "none" to notify nobody, below "prod" in the file of its settings',
    );
  }
  const laterAlarmTopicArn = arn("laterAlarmTopicArn", "sns", "[^:]+", "the ARN of an SNS topic");
  const maxObservedDayAge = count("maxObservedDayAge");
  const maxSigningKeyAge = count("maxSigningKeyAge");
  const domain = domainOf(
    text(
      "domainName",
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
      "a host name in lower case",
    ),
    arn("certificateArn", "acm", "certificate/.+", "the ARN of a certificate"),
    text("hostedZoneId", /^(?:none|Z[A-Z0-9]+)$/, "the id of a Route 53 hosted zone, or none"),
  );
  const restart = text("restart", /^[\w.:-]{1,64}$/, "letters, digits, `.`, `:` and `-`, such as a date");
  const chosen = configurationIn(contextValue);
  const awsHostIsOpen = text("awsHost", /^(?:open|closed)$/, "open or closed") !== "closed";
  if (!awsHostIsOpen && domain === undefined)
    throw new SettingError("awsHost can be closed with domainName only");
  return {
    stage,
    ...place,
    ...(signingKeySecretArn === undefined ? {} : { signingKeySecretArn }),
    ...(domain === undefined ? {} : { domain }),
    awsHostIsOpen,
    waf: flag("waf"),
    corsOrigins: originsIn(contextValue("corsOrigins")),
    throttling: { ...throttling, burst: count("throttlingBurst") ?? throttling.burst },
    ...(tokenRate === undefined ? {} : { tokenThrottling: { rate: tokenRate, burst: burstOf(tokenRate) } }),
    traced: flag("tracing"),
    ...(alarmTopic === undefined || alarmTopic === "none" ? {} : { alarmTopicArn: alarmTopic }),
    ...(laterAlarmTopicArn === undefined ? {} : { laterAlarmTopicArn }),
    ...(maxObservedDayAge === undefined ? {} : { maxObservedDayAge }),
    ...(maxSigningKeyAge === undefined ? {} : { maxSigningKeyAge }),
    allAlarms: text("alarms", /^(?:all|essential)$/, "all or essential") !== "essential",
    tableNames: Object.fromEntries(
      tables.flatMap(({ name }) => {
        const description = "the name of a table, or two: of the one to use, and of the one before";
        const written = text(`tables.${name}`, /^[\w.-]{3,255}(?:,[\w.-]{3,255})?$/, description);
        return written === undefined ? [] : [[name, written.split(",")]];
      }),
    ),
    warmThroughput: Object.fromEntries(
      tables.flatMap(({ name }) => {
        const wanted = warmThroughputIn(`warmThroughput.${name}`, text);
        return wanted === undefined ? [] : [[name, wanted]];
      }),
    ),
    maxWorkers,
    reservedConcurrency: reservationsIn(
      text(
        "reservedConcurrency",
        /^[^:,]+:\d{1,4}(?:,[^:,]+:\d{1,4})*$/,
        "a list such as profile/authenticate:50",
      ),
      maxWorkers,
      servedFunctions({ configuration: chosen, signingKeySecretArn }),
    ),
    configuration: chosen,
    retiredIssuers:
      text(
        "retiredIssuers",
        /^[^\s,]+(?:,[^\s,]+)*$/,
        "a list such as https://old.example,https://older.example",
      )?.split(",") ?? [],
    releasesAtOnce: text("release", /^(?:canary|at-once)$/, "canary or at-once") === "at-once",
    ...(restart === undefined ? {} : { restart }),
    samLocal: flag("samLocal"),
    gatewayMayLog: text("gatewayLogRole", /^(?:own|existing)$/, "own or existing") === "existing",
    given,
  };
}

/** Where a stage is deployed. */
type Place = Pick<Settings, "account" | "region">;

/** @throws {SettingError} when a stage that must name its account and region does not. */
function placeIn(
  stage: Stage,
  { account, region }: { readonly account: string | undefined; readonly region: string | undefined },
): Place {
  if (stages[stage].isPinned && (account === undefined || region === undefined)) {
    throw new SettingError(
      `account and region must be set for ${stage}: write "account": "123456789012", "region": "eu-west-1" below ` +
        `"${stage}" in the file of its settings, so that it is deployed nowhere else, or "any" for those of the shell`,
    );
  }
  return {
    ...(account === undefined || account === "any" ? {} : { account }),
    ...(region === undefined || region === "any" ? {} : { region }),
  };
}

/** @throws {SettingError} when an ARN is of another account or region than the stage. */
function arnIn({ account, region }: Place, name: string, arn: string): string {
  const [, , , ofRegion, ofAccount] = arn.split(":");
  if ((region ?? ofRegion) !== ofRegion || (account ?? ofAccount) !== ofAccount)
    throw new SettingError(
      `${name} must be of the account and region of the stage: ${account ?? "any"}, ${region ?? "any"}`,
    );
  return arn;
}

/** @throws {SettingError} when a stage is none of ours; without one it is `prod`. */
export function stageIn(value: unknown): Stage {
  const written = value === undefined ? "prod" : String(value);
  if (!isStage(written)) throw new SettingError("stage must be dev or prod");
  return written;
}

function warmThroughputIn(
  name: string,
  text: (name: string, pattern: RegExp, description: string) => string | undefined,
): WarmThroughput | undefined {
  const { reads, writes } = newTableThroughput;
  const description = `units a second of reads and writes, at least ${reads}:${writes}`;
  const written = text(name, /^\d{4,7}:\d{4,7}$/, description);
  if (written === undefined) return undefined;
  const [wantedReads = 0, wantedWrites = 0] = written.split(":").map(Number);
  if (wantedReads < reads || wantedWrites < writes) throw new SettingError(`${name} must be ${description}`);
  return { reads: wantedReads, writes: wantedWrites };
}

function domainOf(
  name: string | undefined,
  certificateArn: string | undefined,
  hostedZoneId: string | undefined,
): Domain | undefined {
  if (name === undefined && certificateArn === undefined && hostedZoneId === undefined) return undefined;
  if (name === undefined || certificateArn === undefined) {
    throw new SettingError("domainName and certificateArn must be set together; hostedZoneId needs both");
  }
  return {
    name,
    certificateArn,
    ...(hostedZoneId === undefined || hostedZoneId === "none" ? {} : { hostedZoneId }),
  };
}

/** @throws {SettingError} when the list is malformed, or empty. */
function originsIn(list: unknown): readonly string[] {
  if (list === undefined) return [];
  const origins = typeof list === "string" && list !== "" ? parseOrigins(list) : undefined;
  if (origins === undefined) {
    throw new SettingError(
      "corsOrigins must be a list such as https://app.example,https://other.example:8443",
    );
  }
  return origins;
}

/** A worker needs at least `maxWorkers` executions: with fewer, messages are received for which none is left. */
function reservationsIn(
  list: string | undefined,
  maxWorkers: number,
  functions: readonly FunctionId[],
): Settings["reservedConcurrency"] {
  if (list === undefined) return {};
  const reserved = list.split(",").map((item) => {
    const [name, count] = item.split(":");
    const id = functions.find((one) => one === name);
    if (id === undefined)
      throw new SettingError(`reservedConcurrency names ${name}, which is not a function of the stage`);
    const min = functionRecords[id].consumes === undefined ? 1 : maxWorkers;
    if (Number(count) < min) throw new SettingError(`reservedConcurrency of ${id} must be at least ${min}`);
    return [id, Number(count)] as const;
  });
  return Object.fromEntries(reserved);
}

/**
 * An item of DynamoDB takes 1,000 writes a second, and a caller's quota is one item: with some of them left for refused
 * requests, no more than this can be counted in a minute.
 */
const maxRatePerMinute = 50_000;

/** Opens private networks to sinks: only where the service runs on one machine. */
const localOnly: ConfigurationName = "SINK_ALLOWED_NETWORKS";

/** @throws {SettingError} naming the variable that is malformed, or must not be set on a deployed function. */
function configurationIn(contextValue: ContextValue): Settings["configuration"] {
  const names = Object.keys(configuration) as ConfigurationName[];
  const given = names.flatMap((name) => {
    const value = contextValue(name);
    if (value === undefined) return [];
    if (name === localOnly) throw new SettingError(`${name} is for local runs only`);
    const written = typeof value === "object" ? JSON.stringify(value) : String(value);
    setting(configuration[name], { [name]: written });
    return [[name, written]];
  });
  const chosen: Settings["configuration"] = Object.fromEntries(given);
  if (Number(chosen.RATE_LIMIT_PER_MINUTE ?? 0) > maxRatePerMinute) {
    throw new SettingError(
      `RATE_LIMIT_PER_MINUTE must be at most ${maxRatePerMinute}: each request writes its caller's one item of quotas, ` +
        "and an item takes 1,000 writes a second; the requests above would not be counted",
    );
  }
  if (chosen.TOKEN_ENDPOINT === "on" && !isAddress(chosen.TOKEN_ISSUER ?? "")) {
    throw new SettingError(
      "TOKEN_ISSUER must be the https address of the stage, without a slash at its end, where TOKEN_ENDPOINT is on: " +
        "clients find the metadata there. Without domainName that takes two deployments: the first one, without " +
        "TOKEN_ENDPOINT, has the address in its output ApiAddress",
    );
  }
  return chosen;
}

/** Whether an issuer is an address below which its metadata can be found (OpenID Connect Discovery 1.0, section 4). */
function isAddress(issuer: string): boolean {
  return /^https:\/\/[^\s?#]*[^\s?#/]$/.test(issuer);
}
