import type { APIGatewayProxyResult } from "aws-lambda";
import { causeOf, log } from "../aws/log.ts";
import { type Count, writeMetrics } from "../aws/metrics.ts";
import { type Caller, callerIn } from "../caller.ts";
import type { BodyOf, Endpoint, ParametersOf, ResponseOf, StatusOf } from "../endpoint.ts";
import { type Allowance, type Code, errorRow, type Particulars, Refusal, Unavailable } from "../errors.ts";
import { hashed } from "../hash.ts";
import { countRequest } from "../quota.ts";
import { clockToleranceSeconds } from "../token.ts";
import { jsonObjectIn } from "./body.ts";
import { collectedBody } from "./collected-body.ts";
import { correlationOf, correlatorHeader } from "./correlator.ts";
import { type IncomingRequest, incomingRequest } from "./event.ts";
import { invalid } from "./invalid.ts";

/** A request as a handler sees it: everything parsed, the caller known. */
interface Request<E extends Endpoint> {
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
  readonly stream: (status: StatusOf<E>, chunks: AsyncIterable<Uint8Array>, tooLarge: Refusal) => Reply;
  /** Makes the error to throw. Takes only codes that the endpoint declares. */
  readonly refuse: (code: E["errors"][number], particulars?: Particulars) => Refusal;
}

/** Undoes what a request has begun. */
type Rollback = (signal: AbortSignal) => Promise<unknown>;

/** A successful answer, before its schema; or one whose body is written already. */
class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly written: Written | undefined;

  constructor(status: number, body: unknown, written?: Written) {
    this.status = status;
    this.body = body;
    this.written = written;
  }
}

interface Written {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly tooLarge: Refusal;
}

type Handle<E extends Endpoint> = (request: Request<E>) => Promise<Reply>;

/** The part of Lambda's context the pipeline needs. */
interface Invocation {
  readonly getRemainingTimeInMillis: () => number;
}

/** No request takes longer, whatever the function's own time-out. */
const deadlineMilliseconds = 5_000;

/** Kept back from the function's remaining time to write the answer. */
const reserveMilliseconds = 250;

/** How long what a failed request began may take to be undone. */
const rollbackTimeoutMilliseconds = 1_000;

let cold = true;

/**
 * Makes an endpoint's Lambda handler. The order of checks is behaviour section 3; route, token and scope come
 * before it, in API Gateway and the authorizer, and are checked again here because a policy may be cached.
 */
export function serve<const E extends Endpoint>(
  declaration: E,
  handle: Handle<E>,
): (event: unknown, invocation: Invocation) => Promise<APIGatewayProxyResult> {
  return async (event, invocation) => {
    const started = performance.now();
    const now = new Date();
    const incoming = incomingRequest(event);
    const correlation = correlationOf(incoming.header(correlatorHeader));
    const deadline = startDeadline(invocation.getRemainingTimeInMillis() - reserveMilliseconds);
    const counts: Count[] = [];
    const rollbacks: Rollback[] = [];
    const fields = { operation: declaration.operationId, correlator: correlation.value };
    let caller: Caller | undefined;
    let result: Result;
    try {
      caller = callerOf(declaration, incoming, now);
      const answering = answer(declaration, handle, {
        incoming,
        caller,
        correlation,
        counts,
        rollbacks,
        now,
        signal: deadline.signal,
      });
      result = await Promise.race([answering, deadline.passed]);
    } catch (error) {
      result = resultOf(error, fields);
    } finally {
      deadline.stop();
    }
    if (result.status >= 500) {
      const left = invocation.getRemainingTimeInMillis() - reserveMilliseconds;
      await rollBack(rollbacks, Math.min(rollbackTimeoutMilliseconds, left), fields);
    }
    log("REQUEST", {
      correlator: correlation.value,
      operation: declaration.operationId,
      status: result.status,
      milliseconds: Math.round(performance.now() - started),
      coldStart: cold,
      ...(result.code === undefined ? {} : { code: result.code }),
      ...(caller === undefined ? {} : { caller: hashed(caller.client) }),
    });
    writeMetrics([
      { metric: "Requests", operation: declaration.operationId },
      ...(result.code === undefined ? [] : [{ metric: "Errors", code: result.code } as const]),
      ...counts,
    ]);
    cold = false;
    return {
      statusCode: result.status,
      headers: {
        "content-type": "application/json",
        "cache-control": "no-store",
        [correlatorHeader]: correlation.value,
        ...result.headers,
      },
      ...result.content,
    };
  };
}

interface Result {
  readonly status: number;
  readonly code?: Code;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content: { readonly body: string; readonly isBase64Encoded?: boolean };
}

interface Sent {
  readonly incoming: IncomingRequest;
  readonly caller: Caller | undefined;
  readonly correlation: { readonly value: string; readonly invalid: boolean };
  /** Grows while the request is answered. */
  readonly counts: Count[];
  /** Grows while the request is answered. */
  readonly rollbacks: Rollback[];
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** @throws {Refusal} when the endpoint needs a token and none that is valid and sufficient came along. */
function callerOf(declaration: Endpoint, incoming: IncomingRequest, now: Date): Caller | undefined {
  if (declaration.scope === null) return undefined;
  const caller = callerIn(incoming.authorizer);
  const end = caller === undefined ? 0 : caller.expires + clockToleranceSeconds;
  if (caller === undefined || end * 1_000 <= now.getTime()) throw new Refusal("UNAUTHENTICATED");
  if (!caller.scopes.includes(declaration.scope)) throw new Refusal("PERMISSION_DENIED");
  return caller;
}

/** The quota is counted while the handler reads; a request over its quota is refused whatever the handler found. */
async function answer<E extends Endpoint>(declaration: E, handle: Handle<E>, sent: Sent): Promise<Result> {
  const admission = count(declaration, sent);
  const [counted, replied] = await Promise.allSettled([
    admission,
    reply(declaration, handle, sent, admission),
  ]);
  if (counted.status === "rejected") throw counted.reason;
  if (replied.status === "rejected") throw replied.reason;
  const { headers, ...result } = replied.value;
  return { ...result, headers: { ...headers, ...allowanceHeaders(counted.value) } };
}

/**
 * A counter that cannot be reached lets the request through: the reads behind it may still be answered.
 * @returns what the caller has left, when the request was counted.
 */
async function count(
  declaration: Endpoint,
  { caller, counts, now, signal }: Sent,
): Promise<Allowance | undefined> {
  if (caller === undefined) return undefined;
  const counting = countRequest(caller.client, now, signal);
  const standing = await counting.catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error;
    log("QUOTA_NOT_COUNTED", { operation: declaration.operationId, cause: error.message });
    counts.push({ metric: "QuotaNotCounted" });
    return undefined;
  });
  if (standing?.code !== undefined) throw new Refusal(standing.code, standing);
  return standing?.allowance;
}

async function reply<E extends Endpoint>(
  declaration: E,
  handle: Handle<E>,
  sent: Sent,
  admission: Promise<unknown>,
): Promise<Result> {
  const { incoming, caller, correlation, counts, rollbacks, now, signal } = sent;
  if (correlation.invalid) throw new Refusal("INVALID_ARGUMENT", { message: "Not valid: x-correlator." });
  const parameters = parametersOf(declaration, incoming);
  const body = bodyOf(declaration, incoming);
  const {
    status,
    body: returned,
    written,
  } = await handle({
    parameters,
    body,
    caller: caller as Request<E>["caller"],
    sourceIp: incoming.sourceIp,
    address: incoming.address,
    correlator: correlation.value,
    header: incoming.header,
    admission,
    onFault: (rollback) => rollbacks.push(rollback),
    measure: (measured) => counts.push(measured),
    now,
    signal,
    reply: (answered, content) => new Reply(answered, content),
    stream: (answered, chunks, tooLarge) => new Reply(answered, undefined, { chunks, tooLarge }),
    refuse: (code, particulars) => new Refusal(code, particulars),
  });
  const schema = declaration.responses[status];
  if (schema === undefined) throw new Error(`status ${status} is not declared`);
  if (written === undefined) {
    return {
      status,
      headers: declaration.headers ?? {},
      content: { body: JSON.stringify(schema.parse(returned)) },
    };
  }
  const collected = await collectedBody(written.chunks, incoming.header("accept-encoding"));
  if (collected === undefined) throw written.tooLarge;
  return { status, headers: { ...declaration.headers, ...collected.headers }, content: collected.content };
}

function parametersOf<E extends Endpoint>(declaration: E, incoming: IncomingRequest): ParametersOf<E> {
  if (declaration.parameters === undefined) return undefined as ParametersOf<E>;
  const parsed = Object.entries(declaration.parameters).map(([name, schema]) => {
    const value = schema.safeParse(decoded(incoming.pathParameters[name]));
    if (!value.success) throw new Refusal("INVALID_ARGUMENT", { message: `Not valid: ${name}.` });
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

function bodyOf<E extends Endpoint>(declaration: E, incoming: IncomingRequest): BodyOf<E> {
  if (declaration.body === undefined) return undefined as BodyOf<E>;
  const parsed = declaration.body.safeParse(jsonObjectIn(incoming.body, incoming.isBase64Encoded));
  if (!parsed.success) throw invalid(parsed.error.issues);
  return parsed.data as BodyOf<E>;
}

class DeadlinePassed extends Error {}

/** One clock for the whole request: it aborts what waits and answers in its stead. */
function startDeadline(remainingMilliseconds: number) {
  const controller = new AbortController();
  const milliseconds = Math.max(0, Math.min(deadlineMilliseconds, remainingMilliseconds));
  const timer = setTimeout(() => controller.abort(new DeadlinePassed()), milliseconds);
  const passed = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  return { signal: controller.signal, passed, stop: () => clearTimeout(timer) };
}

/** Undoes what a failed request has begun. What cannot be undone now must come to an end by itself. */
async function rollBack(rollbacks: readonly Rollback[], milliseconds: number, fields: Failed): Promise<void> {
  const signal = AbortSignal.timeout(Math.max(0, milliseconds));
  const outcomes = await Promise.allSettled(rollbacks.map((rollback) => rollback(signal)));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") log("NOT_ROLLED_BACK", { ...fields, cause: causeOf(outcome.reason) });
  }
}

/** What the log says of a request that failed. */
interface Failed {
  readonly operation: string;
  readonly correlator: string;
}

/** The one place that turns an error into a response; the inside goes to the log, never to the caller. */
function resultOf(error: unknown, fields: Failed): Result {
  if (error instanceof Refusal) return errorResult(error.code, error.particulars);
  if (error instanceof DeadlinePassed) {
    log("DEADLINE_PASSED", fields);
    return errorResult("TIMEOUT");
  }
  if (error instanceof Unavailable) {
    log("DEPENDENCY_FAILED", { ...fields, cause: error.message });
    return errorResult("UNAVAILABLE");
  }
  log("CRASH", { ...fields, cause: causeOf(error) });
  return errorResult("INTERNAL");
}

function errorResult(code: Code, particulars: Particulars = {}): Result {
  const { status, message, retryAfterSeconds, allowance } = { ...errorRow(code), ...particulars };
  return {
    status,
    code,
    headers: {
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...allowanceHeaders(allowance),
    },
    content: { body: JSON.stringify({ status, code, message }) },
  };
}

/** Behaviour section 9. */
function allowanceHeaders(allowance: Allowance | undefined): Readonly<Record<string, string>> {
  if (allowance === undefined) return {};
  return {
    "x-ratelimit-limit": String(allowance.limit),
    "x-ratelimit-remaining": String(allowance.remaining),
    "x-ratelimit-reset": String(allowance.resetSeconds),
  };
}
