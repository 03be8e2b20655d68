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
import { parseForm, parseJsonObject } from "./body.ts";
import type { IncomingRequest } from "./event.ts";
import { invalid } from "./invalid.ts";
import type { Reply } from "./response.ts";

/** A request as a handler receives it: parsed, with the verified caller. */
export interface Request<E extends Endpoint> {
  readonly parameters: ParametersOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** Present if and only if the endpoint has a scope. */
  readonly caller: E["scope"] extends null ? undefined : Caller;
  readonly sourceIp: string;
  /** The API's base address for the caller, without a trailing slash; undefined if the event has no domain. */
  readonly address: string | undefined;
  /** The called path of the endpoint. */
  readonly path: string;
  /** Whether that path is an alias, which answers as the endpoint's `release` says. */
  readonly isAlias: boolean;
  /** The `x-correlator` of the response. */
  readonly correlator: string;
  /** A header of the request; its name is case-insensitive. */
  readonly header: (name: string) => string | undefined;
  /** All values of a header that is a list; its name is case-insensitive. */
  readonly listHeader: (name: string) => string | undefined;
  /**
   * Resolves when the request has been counted against the caller's limits; rejects if it exceeds one. A handler that
   * writes, or costs more than a few small reads, awaits it first.
   */
  readonly quotaChecked: Promise<unknown>;
  /**
   * Counts the request against a client's limits, for a handler that authenticates the client itself: of an endpoint
   * without a token. Rejects if the request exceeds one. A request is counted once, for the first client.
   */
  readonly countFor: (client: string) => Promise<void>;
  /**
   * Charges further units to the caller's daily quota. A handler whose cost depends on the request calls it after
   * `quotaChecked` and before the work. Rejects if too few units are left.
   * @returns a function that refunds them, for a request that is refused after all.
   */
  readonly charge: (units: number) => Promise<() => Promise<void>>;
  /**
   * Registers a rollback for a request that ends with 500, 503 or 504. It runs before the response, with its own
   * time-out. The handler may still be running, so the rollback must be safe at any point of it.
   */
  readonly onFault: (rollback: Rollback) => void;
  /** Adds to a metric, at most once per metric and request. */
  readonly measure: (count: Count) => void;
  /** The time of the request, the same for all rules. */
  readonly now: Date;
  /** Aborts at the request's deadline; pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** Creates a reply. Accepts only statuses that the endpoint declares, with their bodies. */
  readonly reply: <Status extends StatusOf<E>>(
    status: Status,
    body: ResponseOf<E, Status>,
    ...headers: ReplyHeadersOf<E, Status>
  ) => Reply;
  /**
   * Creates a streamed reply from the chunks of a body, JSON unless the headers say otherwise. Chunks are not checked
   * against the schema. A fault before the first chunk is answered with an error; a later one cuts off the response.
   * `onEnd` runs once, when the response has been read to its end or was cut off, but not if an error is sent instead.
   */
  readonly stream: E extends StreamedEndpoint
    ? <Status extends StatusOf<E>>(
        status: Status,
        chunks: AsyncIterable<Uint8Array>,
        ...rest: [...headers: StreamHeadersOf<E, Status>, onEnd?: () => Promise<void>]
      ) => Reply
    : undefined;
  /** Creates an error to throw. Accepts only codes that the endpoint declares. */
  readonly refuse: (code: E["errors"][number], details?: ErrorDetails) => ApiError;
}

/** Undoes the effects of a failed request. */
export type Rollback = (signal: AbortSignal) => Promise<unknown>;

/** The handler of an endpoint. */
export type Handle<E extends Endpoint> = (request: Request<E>) => Promise<Reply>;

/**
 * The caller of a request. Expiry and scope are checked again, because API Gateway caches the authorizer's policies.
 * @returns undefined for an endpoint without a token.
 * @throws {ApiError} `UNAUTHENTICATED` without a caller or after the token's expiry, `PERMISSION_DENIED` without the
 * scope.
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

/** @throws {ApiError} `INVALID_ARGUMENT` if a path parameter does not match its schema. */
export function parseParameters<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): ParametersOf<E> {
  const read = (name: string) => decoded(name, incoming.pathParameters[name]);
  return parseValues(endpoint.parameters, read) as ParametersOf<E>;
}

/** @throws {ApiError} `INVALID_ARGUMENT` if a query parameter does not match its schema. */
export function parseQuery<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): QueryOf<E> {
  return parseValues(endpoint.query, (name) => incoming.queryParameters[name]) as QueryOf<E>;
}

/** Zod compiles an object's parser when it is first used, so each is made once. */
const objects = new WeakMap<Readonly<Record<string, z.ZodMiniType>>, z.ZodMiniObject>();

function objectOf(schemas: Readonly<Record<string, z.ZodMiniType>>): z.ZodMiniObject {
  const known = objects.get(schemas);
  if (known !== undefined) return known;
  const made = z.object(schemas);
  objects.set(schemas, made);
  return made;
}

function parseValues(
  schemas: Readonly<Record<string, z.ZodMiniType>> | undefined,
  read: (name: string) => string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (schemas === undefined) return undefined;
  const values = Object.fromEntries(Object.keys(schemas).map((name) => [name, read(name)]));
  const parsed = objectOf(schemas).safeParse(values);
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

/** @throws {ApiError} if the body is not a JSON object or a form, or does not match the endpoint's schema. */
export function parseBody<E extends Endpoint>(endpoint: E, incoming: IncomingRequest): BodyOf<E> {
  if (endpoint.body === undefined) return undefined as BodyOf<E>;
  const parse = endpoint.oauth2 ? parseForm : parseJsonObject;
  const value = parse(incoming.body, incoming.isBase64Encoded);
  const parsed = endpoint.body.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error.issues, value);
  return parsed.data as BodyOf<E>;
}
