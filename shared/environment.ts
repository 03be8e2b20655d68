import { pathToFileURL } from "node:url";
import { Misconfigured } from "./errors.ts";
import { DEADLINE_FACTOR } from "./variables/deadline-factor.ts";
import type { Variable } from "./variables/format.ts";

/** The log stream name of local functions. On Lambda the name is assigned, and is never this one. */
export const localLogStream = "local";

/** Plain http is accepted only for an issuer on this machine, and only if the service runs on this machine, too. */
export function isHttpsOrLocal(address: string): boolean {
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

type Value<V extends Variable> = NonNullable<ReturnType<ReturnType<V["format"]>["read"]>>;

/**
 * Reads one environment variable.
 *
 * Reads at each call, never at import, so that a test or a local run can set the variable first.
 * @throws {Misconfigured} if the variable is missing or malformed: names it and its format, never its value.
 */
export function setting<V extends Variable>(
  { name, format }: V,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Value<V> {
  const { read, must, problem } = format();
  const text = environment[name] ?? "";
  const value = read(text);
  if (value === undefined) {
    const details = problem?.(text);
    throw new Misconfigured(`${name} must ${must}${details === undefined ? "" : `: ${details}`}`);
  }
  return value as Value<V>;
}

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
  return milliseconds * setting(DEADLINE_FACTOR);
}

/**
 * log2 of scrypt's N for the password hashes of tests, few of which are about hashes, which are slow by design. Tests
 * set `PASSWORD_HASH_LN`. It is ignored unless the tables are on this machine, so that no variable makes the hashes of
 * a stage, nor those of an import into one, weaker.
 */
export function testPasswordHashLn(): number | undefined {
  const { PASSWORD_HASH_LN, AWS_ENDPOINT_URL_DYNAMODB = "" } = process.env;
  if (PASSWORD_HASH_LN === undefined || !URL.canParse(AWS_ENDPOINT_URL_DYNAMODB)) return undefined;
  return isLoopback(new URL(AWS_ENDPOINT_URL_DYNAMODB).hostname) ? Number(PASSWORD_HASH_LN) : undefined;
}

/** The folder with the pages of the console in a local run, which sets `PAGES_FOLDER`; undefined where it is deployed. */
export function pagesFolder(): URL | undefined {
  const { PAGES_FOLDER } = process.env;
  return PAGES_FOLDER ? pathToFileURL(`${PAGES_FOLDER}/`) : undefined;
}

/** Whether the function runs in a container of `sam local`. */
export function isSamLocal(): boolean {
  return process.env.AWS_SAM_LOCAL === "true";
}
