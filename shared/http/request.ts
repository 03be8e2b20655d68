import * as z from "zod/mini";
import type { Count } from "../aws/metrics.ts";
import { type Caller, callerIn } from "../caller.ts";
import type {
  BodyOf,
  Endpoint,
  ParametersOf,
  QueryOf,
  ReplyHeadersOf,
  ResponseOf,
  StatusOf,
  StreamedEndpoint,
  StreamHeadersOf,
} from "../endpoint.ts";
import { ApiError, type ErrorDetails } from "../errors.ts";
import { clockToleranceSeconds } from "../tokens/token.ts";
import { parseJsonObject } from "./body.ts";
import type { IncomingRequest } from "./event.ts";
import { invalid } from "./invalid.ts";

/** A request as a handler gets it: parsed, with the verified caller. */
export interface Request<E extends Endpoint> {
  readonly parameters: ParametersOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** Present exactly when the endpoint has a scope. */
  readonly caller: E["scope"] extends null ? undefined : Caller;
  readonly sourceIp: string;
  /** Where the caller reaches the API, without a trailing slash; undefined when the event names no domain. */
  readonly address: string | undefined;
  /** Which of the endpoint's paths was called. */
  readonly path: string;
  /** The `x-correlator` of the response. */
  readonly correlator: string;
  /** A header of the request, whatever its case. */
  readonly header: (name: string) => string | undefined;
  /** A header that is a list, whatever the case of its name: all that was sent of it. */
  readonly listHeader: (name: string) => string | undefined;
  /**
   * Resolves when the request was counted against the caller's limits; rejects when it exceeds one. A handler that
   * changes anything, or costs more than a few small reads, awaits it first.
   */
  readonly quotaChecked: Promise<unknown>;
  /**
   * Counts further units against the caller's daily quota: for a handler whose work depends on the request, before it
   * works, and after `quotaChecked`. Rejects when fewer are left.
   * @returns a function that refunds them, for a request that is refused later.
   */
  readonly charge: (units: number) => Promise<() => Promise<void>>;
  /**
   * Registers a rollback for a request that ends in 500, 503 or 504. It runs before the response, with a time-out of
   * its own. The handler may still be running: the rollback must be safe whatever was done so far.
   */
  readonly onFault: (rollback: Rollback) => void;
  /** Adds to a metric, at most once per metric and request. */
  readonly measure: (count: Count) => void;
  /** The time of the request, the same for all rules. */
  readonly now: Date;
  /** Aborts at the request's deadline; pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** Makes the reply to return. Accepts only statuses that the endpoint declares, with their bodies. */
  readonly reply: <Status extends StatusOf<E>>(
    status: Status,
    body: ResponseOf<E, Status>,
    ...headers: ReplyHeadersOf<E, Status>
  ) => Reply;
  /**
   * Makes the reply to return from the chunks of a body, for an endpoint that is streamed: JSON unless the headers say
   * otherwise. They are not checked against the schema. A fault before the first chunk is answered as an error; a later
   * one cuts the response. `onEnd` runs once when the response has been read to its end or was cut, unless an error is
   * answered in its place.
   */
  readonly stream: E extends StreamedEndpoint
    ? <Status extends StatusOf<E>>(
        status: Status,
        chunks: AsyncIterable<Uint8Array>,
        ...rest: [...headers: StreamHeadersOf<E, Status>, onEnd?: () => Promise<void>]
      ) => Reply
    : undefined;
  /** Makes the error to throw. Accepts only codes that the endpoint declares. */
  readonly refuse: (code: E["errors"][number], details?: ErrorDetails) => ApiError;
}

/** Undoes what a failed request has begun. */
export type Rollback = (signal: AbortSignal) => Promise<unknown>;

/** What an endpoint does with a request. */
export type Handle<E extends Endpoint> = (request: Request<E>) => Promise<Reply>;

/** A successful reply: a body to be written through its schema, or chunks of a written body. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array> | undefined;
  /** Runs once when the chunks have been sent, or the response was cut: when its caller is being sent nothing more. */
  readonly onEnd: (() => Promise<void>) | undefined;

  constructor(
    status: number,
    body: unknown,
    { headers = {}, chunks, onEnd }: Partial<Pick<Reply, "headers" | "chunks" | "onEnd">> = {},
  ) {
    this.status = status;
    this.body = body;
    this.headers = headers;
    this.chunks = chunks;
    this.onEnd = onEnd;
  }
}

/**
 * The caller of a request. Expiry and scope are checked again, because API Gateway caches the authorizer's policies.
 * @returns undefined for an endpoint without a token.
 * @throws {ApiError} `UNAUTHENTICATED` without a caller or after expiry, `PERMISSION_DENIED` without the scope.
 */
export function callerOf(endpoint: Endpoint, incoming: IncomingRequest, now: Date): Caller | undefined {
  if (endpoint.scope === null) return undefined;
  const caller = callerIn(incoming.authorizer);
  const end = caller === undefined ? 0 : caller.expires + clockToleranceSeconds;
  if (caller === undefined || end * 1_000 <= now.getTime()) throw new ApiError("UNAUTHENTICATED");
  if (!caller.scopes.includes(endpoint.scope)) {
    throw new ApiError("PERMISSION_DENIED", {
      message: `The access token lacks the scope ${endpoint.scope}.`,
    });
  }
  return caller;
}

/** @throws {ApiError} `INVALID_ARGUMENT` for a path parameter that its schema refuses. */
export function parseParameters<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): ParametersOf<E> {
  const read = (name: string) => decoded(name, incoming.pathParameters[name]);
  return parseValues(endpoint.parameters, read) as ParametersOf<E>;
}

/** @throws {ApiError} `INVALID_ARGUMENT` for a query parameter that its schema refuses. */
export function parseQuery<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): QueryOf<E> {
  return parseValues(endpoint.query, (name) => incoming.queryParameters[name]) as QueryOf<E>;
}

function parseValues(
  schemas: Readonly<Record<string, z.ZodMiniType>> | undefined,
  read: (name: string) => string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (schemas === undefined) return undefined;
  const values = Object.fromEntries(Object.keys(schemas).map((name) => [name, read(name)]));
  const parsed = z.object(schemas).safeParse(values);
  if (!parsed.success) throw invalid(parsed.error.issues, values);
  return parsed.data;
}

/** Decodes a path parameter once. */
function decoded(name: string, encoded: string | undefined): string | undefined {
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new ApiError("INVALID_ARGUMENT", { message: `${name} must be percent-encoded UTF-8.` });
  }
}

/** @throws {ApiError} for a body that is no JSON object, or that the endpoint's schema refuses. */
export function parseBody<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): BodyOf<E> {
  if (endpoint.body === undefined) return undefined as BodyOf<E>;
  const value = parseJsonObject(incoming.body, incoming.isBase64Encoded);
  const parsed = endpoint.body.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error.issues, value);
  return parsed.data as BodyOf<E>;
}
