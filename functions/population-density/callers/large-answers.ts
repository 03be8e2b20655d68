import { causeOf, log } from "../../../shared/aws/log.ts";
import type { Caller } from "../../../shared/caller.ts";
import type { Endpoint } from "../../../shared/endpoint.ts";
import { ApiError, Unavailable } from "../../../shared/errors.ts";
import { afterResponseSignal } from "../../../shared/http/deadline.ts";
import { beginStream, endStreams, newStream } from "./stream-store.ts";

/** The members of a density request that are used here. */
interface Asked {
  readonly caller: Caller;
  readonly correlator: string;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly onFault: (rollback: (signal: AbortSignal) => Promise<unknown>) => void;
}

/**
 * Begins to send a large answer of an endpoint to a caller.
 * @param refund refunds the request's charge if too many large answers are being sent to its caller.
 * @returns a function that stops counting the answer, to be called when the response was sent or cut.
 * @throws {ApiError} `TOO_MANY_REQUESTS`.
 */
export async function beginLargeAnswer(
  { operationId: operation }: Pick<Endpoint, "operationId">,
  { caller: { client }, correlator, now, signal, onFault }: Asked,
  refund: () => Promise<void>,
): Promise<() => Promise<void>> {
  const stream = newStream(now);
  // Before it begins: a write whose answer is lost may have begun it.
  onFault((rollbackSignal) => endStreams(client, [stream], rollbackSignal));
  if (!(await beginStream(client, stream, now, signal))) {
    await refund();
    const message = "Too many large answers are being sent to you. Read them, and send this request again.";
    throw new ApiError("TOO_MANY_REQUESTS", { message, retryAfterSeconds: 1 });
  }
  return async () => {
    await endStreams(client, [stream], afterResponseSignal()).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error;
      log("NOT_ROLLED_BACK", { operation, correlator, cause: causeOf(error) });
    });
  };
}
