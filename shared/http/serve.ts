import type { APIGatewayProxyResult } from "aws-lambda";
import { useDatabaseCall } from "../aws/database-client.ts";
import { DependencyTimes, timeCalls } from "../aws/dependency-times.ts";
import { causeOf, log } from "../aws/log.ts";
import type { Count } from "../aws/metrics.ts";
import { callUnlessSilent } from "../aws/silent-tables.ts";
import { warmUp } from "../aws/warm-up.ts";
import type { Caller } from "../caller.ts";
import { type Endpoint, endpointAt, isAlias } from "../endpoint.ts";
import { type Allowance, ApiError, type Code, Unavailable } from "../errors.ts";
import { hashed } from "../hash.ts";
import { Counting, noteUnanswered } from "../quota/counting.ts";
import {
  countRequest,
  countWork,
  type RateLimitResult,
  refusalWithoutCount,
  uncountWork,
} from "../quota/quota.ts";
import { quotas } from "../quota/table.ts";
import { correlatorForm } from "../schemas.ts";
import { type Correlation, correlationOf, correlatorHeader } from "./correlator.ts";
import { withCors } from "./cors.ts";
import { type Deadline, type Invocation, startDeadline } from "./deadline.ts";
import { type IncomingRequest, incomingRequest } from "./event.ts";
import {
  callerOf,
  type Handle,
  parseBody,
  parseParameters,
  parseQuery,
  type Request,
  type Rollback,
} from "./request.ts";
import {
  encodedReply,
  errorResponse,
  headOf,
  jsonReply,
  type Reply,
  rateLimitHeaders,
  streamedReply,
  withEcho,
} from "./response.ts";

/** The state of a request in progress. */
interface RequestContext {
  readonly endpoint: Endpoint;
  readonly incoming: IncomingRequest;
  readonly correlation: Correlation;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly counts: Count[];
  readonly awsRequestId: string | undefined;
  readonly dependencies: DependencyTimes;
  readonly rollbacks: Rollback[];
  readonly counting: Counting;
  caller?: Caller | undefined;
  /** Settled when the request has been counted for a client whom its handler authenticated. */
  countedFor?: Promise<void>;
  /** The caller's remaining allowance; undefined until the request is counted. */
  allowance?: Allowance | undefined;
}

let cold = true;

useDatabaseCall(callUnlessSilent);

if (!(await warmUp(quotas, { caller: "-" }))) noteUnanswered();

/** Creates the Lambda handler of an endpoint whose response is not streamed. */
export function serve<const E extends Endpoint & { readonly streamed?: never }>(
  endpoint: E,
  handle: Handle<E>,
): (event: unknown, invocation: Invocation) => Promise<APIGatewayProxyResult> {
  return async (event, invocation) => {
    const { reply, report } = await respond(endpoint, handle, event, invocation);
    if (typeof reply.body !== "string") throw new TypeError("a body in chunks that is not streamed");
    report();
    return { ...headOf(reply), body: reply.body };
  };
}

/** What is to be sent, and to be done afterwards. */
interface Responding {
  readonly reply: Reply;
  /** The fields of the request's log lines. */
  readonly logged: ReturnType<typeof loggedOf>;
  /** Logs the request with its metrics; to be called once the reply has been sent. */
  readonly report: (sentBody?: SentBody) => void;
}

/** How much of a streamed body was sent, and the code of the fault that cut it off. */
interface SentBody {
  readonly bytes: number;
  readonly code?: Code | undefined;
}

/**
 * Answers a request within its deadline. Behaviour section 3 defines the order of checks. API Gateway and the
 * authorizer have checked route, token and scope; token and scope are checked again here because policies are cached.
 */
export async function respond<const E extends Endpoint>(
  declared: E,
  handle: Handle<E>,
  event: unknown,
  invocation: Invocation,
): Promise<Responding> {
  const started = performance.now();
  const incoming = incomingRequest(event);
  const deadline = startDeadline(invocation);
  const endpoint = endpointAt(declared, incoming.resource);
  const context: RequestContext = {
    endpoint,
    incoming,
    correlation: correlationOf(incoming.header(correlatorHeader)),
    now: new Date(),
    signal: deadline.signal,
    counts: [],
    awsRequestId: invocation.awsRequestId,
    dependencies: new DependencyTimes(),
    rollbacks: [],
    counting: new Counting(deadline.signal),
  };
  let reply: Reply;
  try {
    reply = await timeCalls(context.dependencies, () =>
      Promise.race([checkAndRun(endpoint, handle, context), deadline.passed]),
    );
  } catch (error) {
    reply = withAllowance(errorResponse(error, loggedOf(context), endpoint), context.allowance);
  } finally {
    deadline.stop();
  }
  if (reply.status >= 500) await rollBack(context, deadline);
  const firstByte = performance.now();
  const echo = { correlator: context.correlation.value, requestId: incoming.requestId };
  const { headers, ...sent } = withEcho(reply, echo);
  return {
    reply: { ...sent, headers: withCors(headers, incoming.header("origin")) },
    logged: loggedOf(context),
    report: (sentBody) => report(context, reply, { started, firstByte, sentBody }),
  };
}

/**
 * Counts the quota and runs the handler concurrently. A request over its quota is 429, even if the handler has
 * returned an answer.
 */
async function checkAndRun<E extends Endpoint>(
  endpoint: E,
  handle: Handle<E>,
  context: RequestContext,
): Promise<Reply> {
  context.caller = callerOf(endpoint, context.incoming, context.now);
  const quotaChecked = checkQuota(context);
  const [checked, replied] = await Promise.allSettled([
    quotaChecked,
    runHandler(endpoint, handle, context, quotaChecked),
  ]);
  if (checked.status === "rejected") throw checked.reason;
  if (replied.status === "rejected") throw replied.reason;
  return withAllowance(replied.value, context.allowance);
}

/** Adds the caller's remaining allowance to a reply; a 429 already names the limit it exceeded. */
function withAllowance(reply: Reply, allowance: Allowance | undefined): Reply {
  if (reply.status === 429) return reply;
  return { ...reply, headers: { ...reply.headers, ...rateLimitHeaders(allowance) } };
}

/** Counts a request against its caller's limits. */
async function checkQuota(context: RequestContext): Promise<void> {
  if (context.caller !== undefined) await countFor(context, context.caller.client);
}

/** @throws {ApiError} if a limit of the client is exceeded. */
async function countFor(context: RequestContext, client: string): Promise<void> {
  const { now } = context;
  const refusal = refusalWithoutCount(client, now);
  if (refusal !== undefined) throw new ApiError(refusal.code, refusal);
  await count(context, (signal) => countRequest(client, now, signal));
}

/**
 * Counts the work of a request that is within its quota; if it cannot be counted, the request is served anyway.
 * @returns a function that refunds the work.
 */
async function charge(context: RequestContext, units: number): Promise<() => Promise<void>> {
  const { caller, allowance: before, now, signal } = context;
  if (caller === undefined || before === undefined || units === 0) return async () => {};
  await count(context, (inTime) => countWork(caller.client, units, before, now, inTime));
  if (context.allowance === undefined) return async () => {};
  return async () => {
    try {
      await uncountWork(caller.client, units, now, signal);
      context.allowance = before;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log("NOT_ROLLED_BACK", { ...loggedOf(context), cause: causeOf(error) });
    }
  };
}

/**
 * Counts, and records the result in the context. If the counter is unavailable, the request is served uncounted.
 * @throws {ApiError} if a limit is exceeded.
 */
async function count(
  context: RequestContext,
  run: (signal: AbortSignal) => Promise<RateLimitResult>,
): Promise<void> {
  const tried = await context.counting.try(run);
  if ("counted" in tried) {
    if (tried.counted.code !== undefined) throw new ApiError(tried.counted.code, tried.counted);
    context.allowance = tried.counted.allowance;
    return;
  }
  context.allowance = undefined;
  context.counts.push({ metric: "QuotaNotCounted" });
  const { cause, isPausing } = tried;
  if (cause === undefined) return;
  log(isPausing ? "COUNTING_PAUSED" : "QUOTA_NOT_COUNTED", {
    operation: context.endpoint.operationId,
    cause,
  });
}

async function runHandler<E extends Endpoint>(
  endpoint: E,
  handle: Handle<E>,
  context: RequestContext,
  quotaChecked: Promise<unknown>,
): Promise<Reply> {
  const { incoming, caller, correlation, counts, rollbacks, now, signal } = context;
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
    isAlias: isAlias(endpoint, incoming.resource),
    correlator: correlation.value,
    header: incoming.header,
    listHeader: incoming.listHeader,
    quotaChecked,
    countFor: (client) => (context.countedFor ??= countFor(context, client)),
    charge: (units) => charge(context, units),
    onFault: (rollback) => rollbacks.push(rollback),
    measure: (count) => counts.push(count),
    now,
    signal,
    reply: (status, body, ...[headers = {}]) => jsonReply(endpoint, status, body, headers),
    stream: (endpoint.streamed
      ? (
          status: number,
          body: AsyncIterable<Uint8Array>,
          headers: Record<string, string> = {},
          onEnd?: () => Promise<void>,
        ) => streamedReply(endpoint, status, { headers, body, onEnd })
      : undefined) as Request<E>["stream"],
    refuse: (code, details) => new ApiError(code, details),
  });
  return await encodedReply(replied, incoming.listHeader("accept-encoding"));
}

/** Runs the rollbacks of a failed request. Anything that cannot be undone here must expire by itself. */
async function rollBack(context: RequestContext, deadline: Deadline): Promise<void> {
  const signal = deadline.rollbackSignal();
  const outcomes = await Promise.allSettled(context.rollbacks.map((rollback) => rollback(signal)));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") {
      log("NOT_ROLLED_BACK", { ...loggedOf(context), cause: causeOf(outcome.reason) });
    }
  }
}

/** When the request arrived, when its response began, and how much of a streamed body was sent. */
interface ResponseTiming {
  readonly started: number;
  readonly firstByte: number;
  readonly sentBody: SentBody | undefined;
}

/**
 * Logs one line with the result of a request and its metrics, without any request data. The duration of a streamed
 * response is measured up to its first byte, because the rest depends on the caller.
 */
function report(
  context: RequestContext,
  reply: Reply,
  { started, firstByte, sentBody }: ResponseTiming,
): void {
  const { endpoint, caller, counts, dependencies } = context;
  const code = sentBody?.code ?? reply.code;
  const firstByteMilliseconds = Math.round(firstByte - started);
  const line = {
    ...loggedOf(context),
    status: reply.status,
    milliseconds: Math.round(performance.now() - started),
    ...(sentBody === undefined ? {} : { firstByteMilliseconds, bytes: sentBody.bytes }),
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

function loggedOf({ endpoint, correlation, awsRequestId }: RequestContext) {
  return {
    operation: endpoint.operationId,
    correlator: correlation.value,
    ...(awsRequestId === undefined ? {} : { awsRequestId }),
  };
}
