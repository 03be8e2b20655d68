import type { APIGatewayProxyResult } from "aws-lambda";
import { DependencyTimes, timeCalls } from "../aws/dependency-times.ts";
import { causeOf, log } from "../aws/log.ts";
import type { Count } from "../aws/metrics.ts";
import type { Caller } from "../caller.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Allowance, ApiError, type Code, Unavailable } from "../errors.ts";
import { hashed } from "../hash.ts";
import { countRequest, countWork, type RateLimitResult, uncountWork } from "../quota/quota.ts";
import { correlatorForm } from "../schemas.ts";
import { type Correlation, correlationOf, correlatorHeader } from "./correlator.ts";
import { type Deadline, type Invocation, startDeadline } from "./deadline.ts";
import { type IncomingRequest, incomingRequest } from "./event.ts";
import {
  callerOf,
  type Handle,
  parseBody,
  parseParameters,
  parseQuery,
  Reply,
  type Request,
  type Rollback,
} from "./request.ts";
import {
  type Echo,
  errorResponse,
  type HttpResponse,
  proxyHead,
  rateLimitHeaders,
  replyResponse,
} from "./response.ts";

/** The state of a request under way. */
interface Exchange {
  readonly endpoint: Endpoint;
  readonly incoming: IncomingRequest;
  readonly correlation: Correlation;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly counts: Count[];
  readonly awsRequestId: string | undefined;
  readonly dependencies: DependencyTimes;
  readonly rollbacks: Rollback[];
  caller?: Caller | undefined;
  /** What the caller has left; undefined while the request is not counted. */
  allowance?: Allowance | undefined;
}

let cold = true;

/** Makes the Lambda handler of an endpoint whose response is not streamed. */
export function serve<const E extends Endpoint & { readonly streamed?: never }>(
  endpoint: E,
  handle: Handle<E>,
): (event: unknown, invocation: Invocation) => Promise<APIGatewayProxyResult> {
  return async (event, invocation) => {
    const { response, echo, report } = await respond(endpoint, handle, event, invocation);
    if (typeof response.body !== "string") throw new TypeError("a body in chunks that is not streamed");
    report();
    return { ...proxyHead(response, echo), body: response.body };
  };
}

/** A response that was not sent yet. */
interface Responded {
  readonly response: HttpResponse;
  readonly echo: Echo;
  /** Writes the line of the request, with its metrics, when the response was sent. */
  readonly report: (sent?: SentBody) => void;
}

/** What was sent of a streamed body, and the code of the fault that cut it. */
interface SentBody {
  readonly bytes: number;
  readonly code?: Code | undefined;
}

/**
 * Answers a request within its deadline. The order of checks is behaviour section 3; route, token and scope come
 * before it, in API Gateway and the authorizer, and are checked again here because a policy may be cached.
 */
export async function respond<const E extends Endpoint>(
  endpoint: E,
  handle: Handle<E>,
  event: unknown,
  invocation: Invocation,
): Promise<Responded> {
  const started = performance.now();
  const deadline = startDeadline(invocation);
  const incoming = incomingRequest(event);
  const exchange: Exchange = {
    endpoint,
    incoming,
    correlation: correlationOf(incoming.header(correlatorHeader)),
    now: new Date(),
    signal: deadline.signal,
    counts: [],
    awsRequestId: invocation.awsRequestId,
    dependencies: new DependencyTimes(),
    rollbacks: [],
  };
  let response: HttpResponse;
  try {
    response = await timeCalls(exchange.dependencies, () =>
      Promise.race([answer(endpoint, handle, exchange), deadline.passed]),
    );
  } catch (error) {
    response = withAllowance(errorResponse(error, loggedOf(exchange)), exchange.allowance);
  } finally {
    deadline.stop();
  }
  if (response.status >= 500) await rollBack(exchange, deadline);
  const firstByte = performance.now();
  return {
    response,
    echo: {
      correlator: exchange.correlation.value,
      requestId: incoming.requestId,
      origin: incoming.header("origin"),
    },
    report: (sent) => report(exchange, response, { started, firstByte, sent }),
  };
}

/**
 * Counts the quota and runs the handler concurrently. A request over its quota is 429, whatever the handler returned.
 */
async function answer<E extends Endpoint>(
  endpoint: E,
  handle: Handle<E>,
  exchange: Exchange,
): Promise<HttpResponse> {
  exchange.caller = callerOf(endpoint, exchange.incoming, exchange.now);
  const quotaChecked = checkQuota(exchange);
  const [checked, replied] = await Promise.allSettled([
    quotaChecked,
    reply(endpoint, handle, exchange, quotaChecked),
  ]);
  if (checked.status === "rejected") throw checked.reason;
  if (replied.status === "rejected") throw replied.reason;
  const { headers, ...response } = replied.value;
  return { ...response, headers: { ...headers, ...rateLimitHeaders(exchange.allowance) } };
}

/** An error with what the caller has left; a 429 says itself of which limit, if that one has a window. */
function withAllowance(response: HttpResponse, allowance: Allowance | undefined): HttpResponse {
  if (response.status === 429) return response;
  return { ...response, headers: { ...response.headers, ...rateLimitHeaders(allowance) } };
}

/** Counts a request against its caller's limits. */
async function checkQuota(exchange: Exchange): Promise<void> {
  const { caller, now, signal } = exchange;
  if (caller !== undefined) await count(exchange, () => countRequest(caller.client, now, signal));
}

/**
 * Counts the work of a request that is within its quota; one that could not be counted is served without.
 * @returns what refunds it.
 */
async function charge(exchange: Exchange, units: number): Promise<() => Promise<void>> {
  const { caller, allowance: before, now, signal } = exchange;
  if (caller === undefined || before === undefined || units === 0) return async () => {};
  await count(exchange, () => countWork(caller.client, units, before, now, signal));
  if (exchange.allowance === undefined) return async () => {};
  return async () => {
    try {
      await uncountWork(caller.client, units, now, signal);
      exchange.allowance = before;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log("NOT_ROLLED_BACK", { ...loggedOf(exchange), cause: causeOf(error) });
    }
  };
}

/**
 * Takes a count into the exchange. When the counter does not answer, the request is served uncounted.
 * @throws {ApiError} when a limit is exceeded.
 */
async function count(exchange: Exchange, run: () => Promise<RateLimitResult>): Promise<void> {
  const counted = await run().catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error;
    log("QUOTA_NOT_COUNTED", { operation: exchange.endpoint.operationId, cause: error.message });
    exchange.counts.push({ metric: "QuotaNotCounted" });
    return undefined;
  });
  if (counted?.code !== undefined) throw new ApiError(counted.code, counted);
  exchange.allowance = counted?.allowance;
}

async function reply<E extends Endpoint>(
  endpoint: E,
  handle: Handle<E>,
  exchange: Exchange,
  quotaChecked: Promise<unknown>,
): Promise<HttpResponse> {
  const { incoming, caller, correlation, counts, rollbacks, now, signal } = exchange;
  if (correlation.invalid)
    throw new ApiError("INVALID_ARGUMENT", { message: `x-correlator ${correlatorForm}.` });
  const replied = await handle({
    parameters: parseParameters(endpoint, incoming),
    query: parseQuery(endpoint, incoming),
    body: parseBody(endpoint, incoming),
    caller: caller as Request<E>["caller"],
    sourceIp: incoming.sourceIp,
    address: incoming.address,
    path: incoming.resource === "" ? endpoint.path : incoming.resource,
    correlator: correlation.value,
    header: incoming.header,
    listHeader: incoming.listHeader,
    quotaChecked,
    charge: (units) => charge(exchange, units),
    onFault: (rollback) => rollbacks.push(rollback),
    measure: (count) => counts.push(count),
    now,
    signal,
    reply: (status, body, ...[headers = {}]) => new Reply(status, body, { headers }),
    stream: (endpoint.streamed
      ? (
          status: number,
          chunks: AsyncIterable<Uint8Array>,
          headers: Record<string, string> = {},
          onEnd?: () => Promise<void>,
        ) => new Reply(status, undefined, { chunks, headers, ...(onEnd === undefined ? {} : { onEnd }) })
      : undefined) as Request<E>["stream"],
    refuse: (code, details) => new ApiError(code, details),
  });
  return await replyResponse(endpoint, replied, incoming.listHeader("accept-encoding"));
}

/** Runs the rollbacks of a failed request. What cannot be undone here must lapse by itself. */
async function rollBack(exchange: Exchange, deadline: Deadline): Promise<void> {
  const signal = deadline.rollbackSignal();
  const outcomes = await Promise.allSettled(exchange.rollbacks.map((rollback) => rollback(signal)));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") {
      log("NOT_ROLLED_BACK", { ...loggedOf(exchange), cause: causeOf(outcome.reason) });
    }
  }
}

/** When a request came and its response began, and what was sent of a streamed body. */
interface Sending {
  readonly started: number;
  readonly firstByte: number;
  readonly sent: SentBody | undefined;
}

/**
 * Writes one line with the result of a request and its metrics, and nothing that was sent. How long a streamed response
 * took is measured up to its first byte: the rest depends on its caller.
 */
function report(exchange: Exchange, response: HttpResponse, { started, firstByte, sent }: Sending): void {
  const { endpoint, caller, counts, dependencies } = exchange;
  const code = sent?.code ?? response.code;
  const firstByteMilliseconds = Math.round(firstByte - started);
  const line = {
    ...loggedOf(exchange),
    status: response.status,
    milliseconds: Math.round(performance.now() - started),
    ...(sent === undefined ? {} : { firstByteMilliseconds, bytes: sent.bytes }),
    ...dependencies.fields(),
    coldStart: cold,
    ...(code === undefined ? {} : { code }),
    ...(caller === undefined ? {} : { caller: hashed(caller.client) }),
  };
  log("REQUEST", line, [
    { metric: "Requests", operation: endpoint.operationId },
    { metric: endpoint.durationMetric ?? "RequestMilliseconds", value: firstByteMilliseconds },
    ...(code === undefined ? [] : [{ metric: "Errors", code } as const]),
    ...counts,
  ]);
  cold = false;
}

function loggedOf({ endpoint, correlation, awsRequestId }: Exchange) {
  return {
    operation: endpoint.operationId,
    correlator: correlation.value,
    ...(awsRequestId === undefined ? {} : { awsRequestId }),
  };
}
