import { Logger } from "@aws-lambda-powertools/logger";
import { logLevel, releaseName } from "../environment.ts";
import { Misconfigured, Unavailable } from "../errors.ts";
import { type Count, embedded, writeMetrics } from "./metrics.ts";

/** Every log entry of the service. An id never changes its meaning: alarms and searches rely on it. */
export const logEntries = {
  REQUEST: { id: "NCS-001", level: "info", message: "request answered" },
  CRASH: { id: "NCS-002", level: "error", message: "internal error in a request or message" },
  DEPENDENCY_FAILED: { id: "NCS-003", level: "error", message: "a dependency did not answer" },
  DEADLINE_PASSED: { id: "NCS-004", level: "error", message: "request cancelled at its deadline" },
  RESPONSE_CUT: {
    id: "NCS-006",
    level: "warn",
    message: "response cut: its caller reads too slowly or has gone",
  },
  NOT_ROLLED_BACK: { id: "NCS-005", level: "warn", message: "failed request not rolled back" },
  QUOTA_NOT_COUNTED: { id: "NCS-010", level: "error", message: "request not counted against the quota" },
  COUNTING_PAUSED: {
    id: "NCS-011",
    level: "error",
    message: "requests not counted for a second: the quotas' table does not answer",
  },
  ISSUER_KEYS_UNREACHABLE: { id: "NCS-020", level: "error", message: "keys of a token issuer not fetched" },
  SIGNING_KEY_ROTATED: { id: "NCS-021", level: "info", message: "step of a signing key rotation completed" },
  PASSWORD_NOT_REHASHED: { id: "NCS-022", level: "warn", message: "password hash not renewed at a login" },
  TOKEN_WITHOUT_SUBSCRIPTION: {
    id: "NCS-023",
    level: "warn",
    message: "token refused: nothing in it says that it is an application's, and it names no subscription",
  },
  TOKEN_ISSUED: { id: "NCS-024", level: "info", message: "access token issued to a client" },
  CLIENT_KEYS_UNREACHABLE: { id: "NCS-025", level: "warn", message: "keys of a client not fetched" },
  ISSUER_KEYS_UNUSABLE: { id: "NCS-026", level: "warn", message: "unusable keys of a token issuer ignored" },
  MESSAGE_MALFORMED: { id: "NCS-030", level: "error", message: "malformed queue message" },
  MESSAGE_NOT_HIDDEN: { id: "NCS-031", level: "error", message: "visibility of a queue message not changed" },
  ATTEMPT: { id: "NCS-032", level: "info", message: "delivery attempt ended" },
  JOB_ENDED: { id: "NCS-033", level: "info", message: "job ended" },
  JOB_GONE: { id: "NCS-035", level: "warn", message: "queue message refers to a job that does not exist" },
  JOB_FAILED: { id: "NCS-034", level: "error", message: "job failed" },
  JOB_EXPIRED: { id: "NCS-036", level: "error", message: "job expired without an outcome at its sink" },
} as const;

/**
 * The only fields a log line may have. None holds a body, a token, a phone number, an address, an IMEI or an e-mail.
 * `cause` is the class of an error and its stack frames, never a message that may hold data.
 */
interface Fields {
  readonly correlator?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly code?: string;
  readonly milliseconds?: number;
  /** Id of the function's invocation, as in API Gateway's access log and in X-Ray. */
  readonly awsRequestId?: string;
  /** The time during which calls to this service were in progress. */
  readonly dynamodbMilliseconds?: number;
  readonly secretsManagerMilliseconds?: number;
  readonly sqsMilliseconds?: number;
  /** From the start of a request to the first byte of a streamed response. */
  readonly firstByteMilliseconds?: number;
  /** Bytes sent of a streamed body. */
  readonly bytes?: number;
  /** Hash of the caller; see `hashed`. */
  readonly caller?: string;
  readonly coldStart?: boolean;
  readonly cause?: string;
  /** A token issuer: configuration, not data. */
  readonly issuer?: string;
  /** Names of public keys in an issuer's key set. */
  readonly keys?: string;
  readonly step?: string;
  /** How a token was granted, and the purpose for which, both of a list: a client's record has them. */
  readonly grant?: string;
  readonly purpose?: string;
  readonly operationId?: string;
  readonly outcome?: string;
  /** Why a job ended: a fixed text of the service, with the status of the sink's response if there is one. */
  readonly reason?: string;
  readonly attempts?: number;
}

/** The id of an entry; alarms filter log lines by it. */
export function logId(entry: keyof typeof logEntries): string {
  return logEntries[entry].id;
}

let logger: Logger | undefined;

/** The values of `LOG_LEVEL`, in ascending order; lines below the level are not written. */
const levels = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "CRITICAL", "SILENT"];

/**
 * Writes one line. Fields are flat and primitive, so that writing them cannot throw.
 * @param metrics metrics in the same line; they are written even if the line's level is not.
 */
export function log(entry: keyof typeof logEntries, fields: Fields, metrics: readonly Count[] = []): void {
  const counts =
    entry === "CRASH" ? [...metrics, { metric: "Crashes", release: releaseName() } as const] : metrics;
  logger ??= new Logger({ serviceName: "network-capabilities" });
  const { id, level, message } = logEntries[entry];
  // Where Lambda has a level of its own, `AWS_LAMBDA_LOG_LEVEL`, the logger knows no other.
  const lowest = Math.max(levels.indexOf(logger.getLevelName()), levels.indexOf(logLevel()));
  const isWritten = levels.indexOf(level.toUpperCase()) >= lowest;
  if (isWritten) logger[level](message, { id, ...fields, ...(counts.length > 0 ? embedded(counts) : {}) });
  else if (counts.length > 0) writeMetrics(counts);
}

/**
 * Logs a failure that does not concern the caller: as an unavailable dependency or, which raises an alarm, as an
 * internal error.
 * @param write replaces the function's own log.
 */
export function logFault(error: unknown, fields: Fields, write: typeof log = log): void {
  if (error instanceof Unavailable) write("DEPENDENCY_FAILED", { ...fields, cause: error.message });
  else write("CRASH", { ...fields, cause: causeOf(error) });
}

/**
 * The class of an error and its first 8 stack frames, without its message, which may contain data. The message of
 * `Misconfigured` never does, and is included.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, message, stack = "" } = error;
  const start = stack.indexOf(message);
  const frames = start < 0 ? [] : stack.slice(start + message.length).split("\n");
  const what = error instanceof Misconfigured ? `${name}: ${message}` : name;
  return [what, ...frames.filter((line) => line.startsWith("    at ")).slice(0, 8)].join("\n");
}
