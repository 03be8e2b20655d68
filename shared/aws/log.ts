import { Logger } from "@aws-lambda-powertools/logger";
import { Misconfigured } from "../errors.ts";

/** Everything the service ever logs. A code never changes its meaning; alarms and searches rely on it. */
export const logEntries = {
  REQUEST: { id: "NCS-001", level: "info", message: "request answered" },
  CRASH: { id: "NCS-002", level: "error", message: "request failed by a fault of the service" },
  DEPENDENCY_FAILED: { id: "NCS-003", level: "error", message: "a dependency did not answer" },
  DEADLINE_PASSED: { id: "NCS-004", level: "error", message: "request given up at its deadline" },
  NOT_ROLLED_BACK: { id: "NCS-005", level: "warn", message: "what a failed request began was not undone" },
  QUOTA_NOT_COUNTED: { id: "NCS-010", level: "error", message: "request let through uncounted" },
  ISSUER_KEYS_UNREACHABLE: { id: "NCS-020", level: "error", message: "keys of a token issuer not fetched" },
  SIGNING_KEY_ROTATED: { id: "NCS-021", level: "info", message: "step of a signing key rotation done" },
  PASSWORD_NOT_REHASHED: { id: "NCS-022", level: "warn", message: "password hash not renewed at a login" },
  MESSAGE_MALFORMED: { id: "NCS-030", level: "error", message: "message of a queue that cannot be read" },
  MESSAGE_NOT_HIDDEN: { id: "NCS-031", level: "error", message: "message comes again later than it should" },
  ATTEMPT: { id: "NCS-032", level: "info", message: "attempt to deliver to a sink ended" },
  JOB_ENDED: { id: "NCS-033", level: "info", message: "job ended" },
  JOB_GONE: { id: "NCS-035", level: "warn", message: "message of a job that does not exist" },
  JOB_FAILED: { id: "NCS-034", level: "error", message: "job failed" },
  JOB_EXPIRED: { id: "NCS-036", level: "error", message: "job ended without its sink being told anything" },
} as const;

/**
 * The only members a log line may have. None can hold a body, a token, a phone number, an address, an IMEI or
 * an e-mail; `cause` is the class and place of an error, never a message that may hold data.
 */
interface Fields {
  readonly correlator?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly code?: string;
  readonly milliseconds?: number;
  /** Hash of the caller; see `hashed`. */
  readonly caller?: string;
  readonly coldStart?: boolean;
  readonly cause?: string;
  /** A token issuer: configuration, not data. */
  readonly issuer?: string;
  readonly step?: string;
  readonly operationId?: string;
  readonly outcome?: string;
  /** Why a job ended as it did: a word of ours or the status of its sink's answer. */
  readonly reason?: string;
  readonly attempts?: number;
}

/** The code of an entry, as alarms search for it. */
export function logId(entry: keyof typeof logEntries): string {
  return logEntries[entry].id;
}

let logger: Logger | undefined;

/** Writes one line. Fields are flat and primitive, so that writing them cannot throw. */
export function log(entry: keyof typeof logEntries, fields: Fields): void {
  logger ??= new Logger({ serviceName: "network-capabilities" });
  const { id, level, message } = logEntries[entry];
  logger[level](message, { id, ...fields });
}

/**
 * The class of an error and the places it went through, without its message, which may hold data; only that of a
 * variable that is not what it must be holds none.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, message, stack = "" } = error;
  const start = stack.indexOf(message);
  const places = start < 0 ? [] : stack.slice(start + message.length).split("\n");
  const what = error instanceof Misconfigured ? `${name}: ${message}` : name;
  return [what, ...places.filter((line) => line.startsWith("    at ")).slice(0, 8)].join("\n");
}
