import * as z from "zod/mini";
import { Misconfigured } from "./errors.ts";
import { nearestName } from "./nearest-name.ts";
import { type AllowedNetwork, parseAllowedNetworks } from "./sinks/networks.ts";

/** Signature algorithms of tokens: asymmetric only, so that verification needs no secret. */
const signatureAlgorithms = [
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
] as const;

const trustedIssuer = () => {
  const text = z.string().check(z.minLength(1));
  const word = z.string().check(z.regex(/^\S+$/));
  return z
    .strictObject({
      /** A client is known by `issuer name`, so a space would make two clients one. */
      issuer: word,
      jwksUri: z.string().check(z.refine(isHttpsOrLocal, "must be https")),
      /** A token must be for one of these. */
      audience: z.union([text, z.array(text).check(z.minLength(1))]),
      /** The claim with the audience; `aud` unless set. */
      audienceClaim: z.optional(text),
      algorithms: z.array(z.enum(signatureAlgorithms)).check(z.minLength(1)),
      /** The claim with the scopes, as a list or as text with spaces between them; `scope` unless set. */
      scopeClaim: z.optional(text),
      /** What every scope of this service begins with in the issuer's tokens; other scopes do not count. */
      scopePrefix: z.optional(word),
      /** The claim with the client; `client_id` unless set, or else `azp`. With `sub`, a person would be a client. */
      clientClaim: z.optional(text.check(z.refine((claim) => claim !== "sub", "must not be sub"))),
      /** The claim with the subscription of a user's token. */
      subscriptionClaim: z.optional(text),
      /** Whether every token without that claim belongs to an application, with any subject. */
      applicationsOnly: z.optional(z.boolean()),
      /** The claim, and its exact value, that only the tokens of applications have. */
      applicationWhen: z.optional(z.strictObject({ claim: text, equals: text })),
    })
    .check(
      z.refine(
        ({ applicationsOnly, applicationWhen }) =>
          applicationsOnly === undefined || applicationWhen === undefined,
        "must not have both applicationsOnly and applicationWhen",
      ),
    );
};

/** An authorization server of the operator, whose tokens are accepted in addition to our own. */
export type TrustedIssuer = z.infer<ReturnType<typeof trustedIssuer>>;

function haveOneEntryEach(issuers: readonly { readonly issuer: string }[]): boolean {
  return new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length;
}

/** What is wrong with an entry, by its path and without the value. */
function issuerProblem(issues: readonly z.core.$ZodIssue[]): string {
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  const [index, ...members] = (unknown ?? issues[0])?.path ?? [];
  const entry = index === undefined ? "the array" : `entry ${Number(index) + 1}`;
  const path = members.length === 0 ? entry : `${members.join(".")} of ${entry}`;
  if (unknown === undefined) {
    const [first] = issues;
    return `${path} ${first?.code === "custom" ? first.message : "is missing or malformed"}`;
  }
  const known = members.length === 0 ? Object.keys(trustedIssuer().shape) : ["claim", "equals"];
  const nearest = nearestName(unknown.keys[0] ?? "", known);
  return `${path} has an unknown member${nearest === undefined ? "" : `; the nearest name is ${nearest}`}`;
}

/** The log stream name of local functions. On Lambda the name is assigned, and is never this one. */
export const localLogStream = "local";

/** Plain http is accepted only for an issuer on this machine, and only if the service runs on this machine, too. */
function isHttpsOrLocal(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (protocol === "http:" && !isOnLambda() && isLoopback(hostname));
}

/** Whether this process is an execution environment of Lambda, not of a local run. */
export function isOnLambda(): boolean {
  const { AWS_LAMBDA_RUNTIME_API, AWS_LAMBDA_LOG_STREAM_NAME } = process.env;
  return AWS_LAMBDA_RUNTIME_API !== undefined && AWS_LAMBDA_LOG_STREAM_NAME !== localLogStream;
}

function isLoopback(hostname: string): boolean {
  return ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

/** The format of a variable's text. */
interface Format<Value> {
  /** Parses the text; `undefined` if it is malformed. */
  readonly read: (text: string) => Value | undefined;
  /** Describes the format: the end of the sentence "it must …". */
  readonly must: string;
  /** Says what is wrong with a malformed text, without its values. */
  readonly problem?: (text: string) => string | undefined;
}

const text: Format<string> = {
  read: (value) => (value === "" ? undefined : value),
  must: "not be empty",
};

function oneOf<const Choice extends string>(...choices: Choice[]): Format<Choice> {
  return {
    read: (value) => choices.find((choice) => choice === value),
    must: `be one of ${choices.join(", ")}`,
  };
}

function count(min: number, max: number): Format<number> {
  return {
    read: (value) => {
      const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
    must: `be a whole number from ${min} to ${max}`,
  };
}

/** A format that also accepts a missing or empty variable, as `otherwise`. */
function whenSet<Value>({ read, must }: Format<Value>, otherwise: Value): Format<Value> {
  return { read: (value) => (value === "" ? otherwise : read(value)), must };
}

/** A list or range of numbers from `min` to `max`, returned in ascending order. */
function numbers(min: number, max: number): Format<readonly number[]> {
  const read = (value: string) => {
    const named = new Set<number>();
    for (const part of value.split(",")) {
      const [, first, last = first] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(part) ?? [];
      if (first === undefined || Number(first) < min || Number(last) > max || Number(first) > Number(last)) {
        return undefined;
      }
      for (let number = Number(first); number <= Number(last); number++) named.add(number);
    }
    return [...named].sort((one, other) => one - other);
  };
  return {
    read,
    must: `be whole numbers from ${min} to ${max} and ranges of them, separated by commas, such as 3-5,7`,
  };
}

/** Waits, with jitter, must fit into the 12 hours for which SQS can hide a message and into a job's day. */
const maxWaitSeconds = 28_800;
const maxWaitsSeconds = 64_800;
const maxWaits = 20;

/** Seconds, in the order of the waits. */
const waits: Format<readonly number[]> = {
  read: (value) => {
    if (value === "") return [];
    const seconds = value.split(",").map((part) => (/^\d{1,5}$/.test(part) ? Number(part) : Number.NaN));
    const total = seconds.reduce((sum, wait) => sum + wait, 0);
    const fits = seconds.every((wait) => wait <= maxWaitSeconds) && total <= maxWaitsSeconds;
    return fits && seconds.length <= maxWaits ? seconds : undefined;
  },
  must:
    `be empty or up to ${maxWaits} whole numbers of seconds, separated by commas, ` +
    `each up to ${maxWaitSeconds} and together up to ${maxWaitsSeconds}`,
};

/** The console's content security policy allows the origin of this address, so it must have one. */
const mapStyle: Format<string> = {
  read: (value) =>
    value === "" || (/^[^\s;,'"]+$/.test(value) && isHttpsOrLocal(value)) ? value : undefined,
  must: "be empty or the https URL of a MapLibre style or of a .pmtiles archive",
};

const allowedNetworks: Format<readonly AllowedNetwork[]> = {
  read: parseAllowedNetworks,
  must:
    "be empty or networks with their ports as CIDR:port or CIDR:port-port, separated by commas, " +
    "such as 10.0.0.0/8:443,[fd12::]/16:8080-8090",
};

/**
 * The schema is made when the variable is read: making it at import would slow down the cold start of all functions.
 */
function json<Value>(
  schema: () => z.ZodMiniType<Value>,
  must: string,
  problemIn?: (issues: readonly z.core.$ZodIssue[]) => string,
): Format<Value> {
  const parse = (text: string) => {
    try {
      return schema().safeParse(JSON.parse(text));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  };
  return {
    read: (text) => parse(text)?.data,
    must,
    problem: (text) => {
      const parsed = parse(text);
      if (parsed === undefined) return "it is not JSON";
      return parsed.success ? undefined : problemIn?.(parsed.error.issues);
    },
  };
}

/** The longest lifetime that an operator may give our tokens, in seconds. */
export const longestTokenLifetimeSeconds = 86_400;

/**
 * Configuration that an operator may change, with defaults. The stack sets the defaults on the functions; in a local
 * run, variables of the shell override them.
 */
export const configuration = {
  TOKEN_ISSUER: { ...text, default: "https://network-capabilities.example" },
  TOKEN_AUDIENCE: { ...text, default: "network-capabilities" },
  TOKEN_LIFETIME_SECONDS: { ...count(1, longestTokenLifetimeSeconds), default: "3600" },
  TRUSTED_ISSUERS: {
    ...json(
      () => z.array(trustedIssuer()).check(z.refine(haveOneEntryEach, "has two entries for one issuer")),
      "be a JSON array with one object for each issuer, which has issuer (without spaces), jwksUri (https), audience " +
        `(text or a list) and algorithms (a list of ${signatureAlgorithms.join(", ")}), and may have audienceClaim, ` +
        "scopeClaim, scopePrefix, clientClaim and subscriptionClaim (text), and either applicationsOnly (true or " +
        "false) or applicationWhen ({claim, equals})",
      issuerProblem,
    ),
    default: "[]",
  },
  /** How many days records of who read what about whom are kept; with 0 nothing is recorded. */
  ACCESS_RECORD_DAYS: { ...count(0, 3_650), default: "365" },
  /** Whether clients get tokens at `/oauth2/token`; a stage without it has none of its paths and functions. */
  TOKEN_ENDPOINT: { ...oneOf("off", "on"), default: "off" },
  RATE_LIMIT_PER_MINUTE: { ...count(0, 1_000_000_000), default: "1200" },
  DAILY_QUOTA: { ...count(0, 1_000_000_000), default: "100000" },
  /** Maximum of failed logins in 15 minutes to one account from one source address. */
  LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE: { ...count(0, 1_000_000), default: "20" },
  /** Maximum of failed logins in 15 minutes to one account from any address. */
  LOGIN_LIMIT_PER_ACCOUNT: { ...count(0, 1_000_000), default: "100" },
  /** Maximum of failed logins in 15 minutes from one source address. */
  LOGIN_LIMIT_PER_SOURCE: { ...count(0, 1_000_000), default: "300" },
  /** Slots, cells × hours, of the largest synchronous answer. */
  DENSITY_SYNC_LIMIT: { ...count(1, 1_000_000_000), default: "40000" },
  /** Slots of the largest answer that is delivered to a sink. */
  DENSITY_ASYNC_LIMIT: { ...count(1, 1_000_000_000), default: "2000000" },
  /** Supported geohash lengths. */
  DENSITY_PRECISIONS: { ...numbers(1, 12), default: "3-7" },
  /** The suppression threshold K, read by the import: counts below it are not published. */
  DENSITY_K: { ...count(1, 1_000_000), default: "10" },
  /** Maximum of pending operations per caller. */
  DENSITY_PENDING_LIMIT: { ...count(0, 100), default: "20" },
  /** Seconds before each further delivery attempt. */
  SINK_RETRY_SECONDS: { ...waits, default: "2,10,60,300,900,3600,10800,21600" },
  /** Private networks that sinks may be in; for local runs only, no deployed stage sets it. */
  SINK_ALLOWED_NETWORKS: { ...allowedNetworks, default: "" },
  /**
   * Seconds for which densities, QoS profiles and the public key set may be served from a cache. At most a minute: a
   * new signing key must be in every cache before it signs (`firstUseSeconds`).
   */
  CACHE_SECONDS: { ...count(0, 60), default: "60" },
  /** The console's map: a MapLibre style or a PMTiles archive. By default it shows outlines of countries. */
  MAP_STYLE: { ...mapStyle, default: "" },
  LOG_LEVEL: { ...oneOf("DEBUG", "INFO", "WARN", "ERROR"), default: "INFO" },
} as const satisfies Record<string, Format<unknown> & { readonly default: string }>;

/** The environment variable with the name of the bucket that imports use. */
export const bucketVariable = "BUCKET_DENSITY_IMPORT";

/** The name of a configuration variable. */
export type ConfigurationName = keyof typeof configuration;

/** Variables that the stack sets, not the operator. */
const wiring = {
  /** The routes of each scope, derived from the endpoints. */
  ROUTES_BY_SCOPE: json(
    () => z.record(z.string(), z.array(z.string())),
    "be a JSON object with a list of routes for each scope",
  ),
  SIGNING_KEY_SECRET_ARN: text,
  /** Maximum of concurrent delivery workers. Lambda's event source mappings have a maximum concurrency of at least 2. */
  MAX_WORKERS: count(2, 200),
  /** Whether some numbers always fail (`shared/sandbox`): on where the stage is a sandbox, and not set elsewhere. */
  SANDBOX: whenSet(oneOf("off", "on"), "off"),
  /** The origins whose pages may use the API, as a regular expression; empty for none. */
  CORS_ORIGINS: { read: (value) => value, must: "be text" },
} as const satisfies Record<string, Format<unknown>>;

/** Variables that no stage sets. */
const localOnly = {
  /** Multiplies all deadlines, because `npm start` and tests may run on a busy machine. */
  DEADLINE_FACTOR: whenSet(count(1, 100), 1),
} as const satisfies Record<string, Format<unknown>>;

const variables = { ...configuration, ...wiring, ...localOnly };

/** The name of a function's environment variable, other than those of tables and queues. */
export type VariableName = keyof typeof configuration | keyof typeof wiring;

type AnyName = keyof typeof variables;

/**
 * Reads one environment variable.
 *
 * Reads at each call, never at import, so that a test or a local run can set the variable first.
 * @throws {Misconfigured} if the variable is missing or malformed: names it and its format, never its value.
 */
export function setting<N extends AnyName>(
  name: N,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Value<N> {
  const { read, must, problem }: Format<unknown> = variables[name];
  const text = environment[name] ?? "";
  const value = read(text);
  if (value === undefined) {
    const details = problem?.(text);
    throw new Misconfigured(`${name} must ${must}${details === undefined ? "" : `: ${details}`}`);
  }
  return value as Value<N>;
}

type Value<N extends AnyName> = NonNullable<ReturnType<(typeof variables)[N]["read"]>>;

/**
 * The deployed name of a table or the address of a queue, by its variable.
 * @throws {Misconfigured} naming the variable if it is missing.
 */
export function resourceName(variable: string): string {
  const name = process.env[variable];
  if (!name) throw new Misconfigured(`${variable} must not be empty`);
  return name;
}

/** The variable with the CloudWatch namespace of this stage's metrics. */
export const metricNamespaceVariable = "METRIC_NAMESPACE";

/** The CloudWatch namespace of this stage's metrics. Never throws, so logging cannot fail. */
export function metricNamespace(): string {
  return process.env[metricNamespaceVariable] || "NetworkCapabilities";
}

/** The function and its version, as the alarm that rolls back a release names them; Lambda sets both. */
export function releaseName(): string {
  const { AWS_LAMBDA_FUNCTION_NAME = "", AWS_LAMBDA_FUNCTION_VERSION = "" } = process.env;
  return `${AWS_LAMBDA_FUNCTION_NAME}:${AWS_LAMBDA_FUNCTION_VERSION}`;
}

/** `LOG_LEVEL` as it is set; empty if it is not. */
export function logLevel(): string {
  return process.env.LOG_LEVEL ?? "";
}

/** `host:port` of Lambda's runtime API; undefined outside Lambda. */
export function lambdaRuntimeApi(): string | undefined {
  return process.env.AWS_LAMBDA_RUNTIME_API || undefined;
}

/** A specified time limit, in milliseconds, multiplied by `DEADLINE_FACTOR`. */
export function timeLimit(milliseconds: number): number {
  return milliseconds * setting("DEADLINE_FACTOR");
}

/**
 * log2 of scrypt's N for the password hashes of tests, few of which are about hashes, which are slow by design. Tests
 * set `PASSWORD_HASH_LN`. It is ignored unless the tables are on this machine, so that no stage, nor an import into
 * one, can have weaker hashes.
 */
export function testPasswordHashLn(): number | undefined {
  const { PASSWORD_HASH_LN, AWS_ENDPOINT_URL_DYNAMODB = "" } = process.env;
  if (PASSWORD_HASH_LN === undefined || !URL.canParse(AWS_ENDPOINT_URL_DYNAMODB)) return undefined;
  return isLoopback(new URL(AWS_ENDPOINT_URL_DYNAMODB).hostname) ? Number(PASSWORD_HASH_LN) : undefined;
}

/** Whether the function runs in a container of `sam local`. */
export function isSamLocal(): boolean {
  return process.env.AWS_SAM_LOCAL === "true";
}
