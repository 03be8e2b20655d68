import { causeOf } from "../../shared/aws/log.ts";
import { runtimeInterface, setting } from "../../shared/environment.ts";
import { Unavailable } from "../../shared/errors.ts";
import { type PostResult, post } from "../../shared/sinks/post.ts";
import { answerTo } from "./answer.ts";
import { type Answer, bodyOf } from "./body.ts";
import { type End, failureInfo, type Job, waitAfter } from "./job.ts";
import { questionIn } from "./rules.ts";

/** A job that can be attempted: its sink is not erased yet. */
export type Attemptable = Job & { readonly sink: string };

/** What came of an attempt. */
export type Outcome = {
  /** For the log: no address, no data. */
  readonly logged: { readonly outcome: string; readonly status?: number; readonly cause?: string };
} & (
  | { readonly end: End }
  | {
      readonly end?: undefined;
      /** What is known of the job now. */
      readonly left: Pick<Job, "mayBeDelivered" | "failing">;
      readonly againInSeconds: number;
    }
);

/**
 * Computes a job's answer and sends it to its sink, once (behaviour section 7, delivery). A job that is failing
 * sends `OPERATION_NOT_COMPLETED` in its stead.
 *
 * @param job as it was before the attempt was counted among its `attempts`, which it is now.
 */
export async function attempt(job: Attemptable, signal: AbortSignal): Promise<Outcome> {
  try {
    // Read before the sink is asked to wait for it.
    const answer = job.failing ? failureOf(job) : await answerOf(job, signal);
    const result = await send(job, (bufferPool) => bodyOf(answer, bufferPool), signal);
    const mayBeDelivered = job.mayBeDelivered || (result.sentWhole && !job.failing && !("status" in result));
    return afterPost(job, result, mayBeDelivered);
  } catch (error) {
    return afterFault(job, error);
  }
}

/** Gives a job up: its sink is told, unless it may hold the answer already. */
export async function giveUp(job: Attemptable, signal: AbortSignal): Promise<Outcome> {
  // A job that is failing was never sent whole: what its sink may hold is that it failed.
  if (job.mayBeDelivered && !job.failing) return { end: "abandoned", logged: { outcome: "not told" } };
  const { logged } = await attempt({ ...job, failing: true }, signal);
  return { end: "abandoned", logged };
}

async function answerOf(
  { operationId, request, requestedAt }: Attemptable,
  signal: AbortSignal,
): Promise<Answer> {
  const now = new Date(requestedAt);
  const question = questionIn(request, now);
  if ("code" in question) throw new Error(`a job that is refused: ${question.code}`);
  return { operationId, ...(await answerTo(question, now, signal)) };
}

function failureOf({ operationId, request }: Attemptable): Answer {
  return {
    operationId,
    status: "OPERATION_NOT_COMPLETED",
    statusInfo: failureInfo,
    precision: request.precision,
    tiles: [],
    hours: [],
    openHour: () => undefined,
  };
}

function send(
  { operationId, sink, accessToken, correlator }: Attemptable,
  body: (bufferPool: Buffer[]) => AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<PostResult> {
  const bufferPool: Buffer[] = [];
  return post({
    sink,
    headers: {
      "content-type": "application/json",
      ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
      "x-correlator": correlator,
      "webhook-id": operationId,
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
    },
    body: body(bufferPool),
    bufferPool,
    allowed: setting("SINK_ALLOWED_NETWORKS"),
    runtimeApi: runtimeInterface(),
    signal,
  });
}

function afterPost(job: Attemptable, result: PostResult, mayBeDelivered: boolean): Outcome {
  const { outcome, ...told } = result;
  const logged = {
    outcome,
    ...("status" in told ? { status: told.status } : {}),
    ...("cause" in told ? { cause: told.cause } : {}),
  };
  if (outcome !== "failed") return { logged, end: job.failing ? "abandoned" : outcome };
  const asked = "retryAfterSeconds" in result ? result.retryAfterSeconds : undefined;
  const wait = waitAfter(job.attempts, setting("SINK_RETRY_SECONDS"), asked, Math.random());
  return wait === undefined
    ? whenExhausted({ ...job, mayBeDelivered }, logged)
    : { logged, left: { mayBeDelivered, failing: job.failing }, againInSeconds: wait };
}

/**
 * A fault of ours. A store that does not answer is tried again on the same schedule; whatever else fails, fails again.
 */
function afterFault(job: Attemptable, error: unknown): Outcome {
  const isPassing = error instanceof Unavailable || (error instanceof Error && error.name === "AbortError");
  const logged = { outcome: "not computed", cause: isPassing ? error.message : causeOf(error) };
  const { mayBeDelivered, failing } = job;
  const wait = isPassing
    ? waitAfter(job.attempts, setting("SINK_RETRY_SECONDS"), undefined, Math.random())
    : undefined;
  return wait === undefined
    ? whenExhausted(job, logged)
    : { logged, left: { mayBeDelivered, failing }, againInSeconds: wait };
}

/** There will be no further answer: the sink is told so once more, unless it may hold one or was told already. */
function whenExhausted({ mayBeDelivered, failing }: Attemptable, logged: Outcome["logged"]): Outcome {
  if (mayBeDelivered || failing) return { logged, end: "abandoned" };
  return { logged, left: { mayBeDelivered, failing: true }, againInSeconds: 0 };
}
