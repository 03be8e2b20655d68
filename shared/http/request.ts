import type { Count } from "../aws/metrics.ts";
import { type Caller, callerIn } from "../caller.ts";
import type { BodyOf, Endpoint, ParametersOf, ResponseOf, StatusOf } from "../endpoint.ts";
import { ApiError, type ErrorDetails } from "../errors.ts";
import { clockToleranceSeconds } from "../token.ts";
import { parseJsonObject } from "./body.ts";
import type { IncomingRequest } from "./event.ts";
import { invalid } from "./invalid.ts";

/** A request as a handler sees it: everything parsed, the caller known. */
export interface Request<E extends Endpoint> {
  readonly parameters: ParametersOf<E>;
  readonly body: BodyOf<E>;
  /** Present exactly when the endpoint has a scope. */
  readonly caller: E["scope"] extends null ? undefined : Caller;
  readonly sourceIp: string;
  /** Where the caller reaches the API, without a trailing slash; undefined when the event names no domain. */
  readonly address: string | undefined;
  /** The `x-correlator` of the response. */
  readonly correlator: string;
  /** A header of the request, whatever its case. */
  readonly header: (name: string) => string | undefined;
  /**
   * Settles when the request was counted against the caller's limits; rejects when it is over them. A handler that
   * changes anything, or whose work costs more than a few small reads, waits for it first.
   */
  readonly admission: Promise<unknown>;
  /**
   * Names what is undone when the request ends in a fault of ours (500, 503, 504). It runs before the answer is given,
   * with a time of its own, and the handler may still be at work: it must be safe whatever was done so far.
   */
  readonly onFault: (rollback: Rollback) => void;
  /** Adds to a metric, at most once to each. */
  readonly measure: (count: Count) => void;
  /** Read once; every rule of the request goes by it. */
  readonly now: Date;
  /** Aborts at the request's deadline; to be handed to every call that waits. */
  readonly signal: AbortSignal;
  /** Makes the answer to return. Takes only statuses that the endpoint declares, with a body of their shape. */
  readonly reply: <Status extends StatusOf<E>>(status: Status, body: ResponseOf<E, Status>) => Reply;
  /**
   * Makes the answer to return, of a body that is written as JSON already, in chunks. It is not checked again.
   * @param tooLarge thrown when the answer is more than Lambda can return to this caller.
   */
  readonly stream: (status: StatusOf<E>, chunks: AsyncIterable<Uint8Array>, tooLarge: ApiError) => Reply;
  /** Makes the error to throw. Takes only codes that the endpoint declares. */
  readonly refuse: (code: E["errors"][number], details?: ErrorDetails) => ApiError;
}

/** Undoes what a request has begun. */
export type Rollback = (signal: AbortSignal) => Promise<unknown>;

/** What an endpoint does with a request. */
export type Handle<E extends Endpoint> = (request: Request<E>) => Promise<Reply>;

/** A successful answer, before its schema; or one whose body is written already. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly written: WrittenBody | undefined;

  constructor(status: number, body: unknown, written?: WrittenBody) {
    this.status = status;
    this.body = body;
    this.written = written;
  }
}

interface WrittenBody {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly tooLarge: ApiError;
}

/**
 * Who sends a request, checked again because API Gateway keeps the authorizer's policies.
 * @returns undefined for an endpoint that takes no token.
 * @throws {ApiError} when the endpoint needs a token and none that is valid and sufficient came along.
 */
export function callerOf(endpoint: Endpoint, incoming: IncomingRequest, now: Date): Caller | undefined {
  if (endpoint.scope === null) return undefined;
  const caller = callerIn(incoming.authorizer);
  const end = caller === undefined ? 0 : caller.expires + clockToleranceSeconds;
  if (caller === undefined || end * 1_000 <= now.getTime()) throw new ApiError("UNAUTHENTICATED");
  if (!caller.scopes.includes(endpoint.scope)) throw new ApiError("PERMISSION_DENIED");
  return caller;
}

/** @throws {ApiError} `INVALID_ARGUMENT` for a path parameter that its schema refuses. */
export function parseParameters<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): ParametersOf<E> {
  if (endpoint.parameters === undefined) return undefined as ParametersOf<E>;
  const parsed = Object.entries(endpoint.parameters).map(([name, schema]) => {
    const value = schema.safeParse(decoded(incoming.pathParameters[name]));
    if (!value.success) throw new ApiError("INVALID_ARGUMENT", { message: `${name} is invalid.` });
    return [name, value.data];
  });
  return Object.fromEntries(parsed) as ParametersOf<E>;
}

/** Decodes a path parameter once; what cannot be decoded is left for the schema to refuse. */
function decoded(encoded: string | undefined): string | undefined {
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** @throws {ApiError} for a body that is no JSON object, or that the endpoint's schema refuses. */
export function parseBody<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): BodyOf<E> {
  if (endpoint.body === undefined) return undefined as BodyOf<E>;
  const parsed = endpoint.body.safeParse(parseJsonObject(incoming.body, incoming.isBase64Encoded));
  if (!parsed.success) throw invalid(parsed.error.issues);
  return parsed.data as BodyOf<E>;
}
