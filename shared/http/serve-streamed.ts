import type { Writable } from "node:stream";
import type { Context, StreamifyHandler } from "aws-lambda";
import { causeOf, log } from "../aws/log.ts";
import type { StreamedEndpoint } from "../endpoint.ts";
import { bodySignal, CallerTooSlow } from "./deadline.ts";
import type { Handle } from "./request.ts";
import { proxyHead } from "./response.ts";
import { respond } from "./serve.ts";

/** Makes the Lambda handler of an endpoint whose response is streamed, errors included. */
export function serveStreamed<const E extends StreamedEndpoint>(
  endpoint: E,
  handle: Handle<E>,
): StreamifyHandler<unknown, void> {
  return awslambda.streamifyResponse(async (event: unknown, stream: Writable, context: Context) => {
    // What is left of a request that timed out must not delay the next one.
    context.callbackWaitsForEmptyEventLoop = false;
    const { response, echo, report } = await respond(endpoint, handle, event, context);
    const { body } = response;
    const chunks = typeof body === "string" ? [Buffer.from(body)] : body;
    const out = awslambda.HttpResponseStream.from(stream, proxyHead(response, echo));
    const { bytes, fault } = await send(chunks, out, bodySignal(context));
    if (fault === undefined) {
      report({ bytes });
      out.end();
      return;
    }
    const { awsRequestId } = context;
    const logged = { operation: endpoint.operationId, correlator: echo.correlator, awsRequestId };
    if (fault instanceof CallerTooSlow) log("RESPONSE_CUT", logged);
    else log("CRASH", { ...logged, cause: causeOf(fault) });
    report({ bytes, code: fault instanceof CallerTooSlow ? "TIMEOUT" : "INTERNAL" });
    // Nothing waits any more for a caller that does not read.
    if (fault instanceof CallerTooSlow) out.destroy();
    // Lambda then reports a fault instead of the end of the body. It logs name and message.
    throw fault instanceof CallerTooSlow ? fault : new ResponseCut();
  });
}

/** What was sent of a body, and what prevented the rest. */
interface Sent {
  readonly bytes: number;
  readonly fault?: unknown;
}

/** Sends a body as fast as it is read. */
async function send(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  stream: Writable,
  signal: AbortSignal,
): Promise<Sent> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      await sent(chunk, stream, signal);
    }
    return { bytes };
  } catch (fault) {
    return { bytes, fault };
  }
}

/** @throws {CallerTooSlow} when the signal has aborted, or aborts before the chunk is sent. */
function sent(chunk: Uint8Array, stream: Writable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timeOut = () => reject(new CallerTooSlow());
    // A signal that has aborted calls nobody any more.
    if (signal.aborted) return timeOut();
    signal.addEventListener("abort", timeOut);
    stream.write(chunk, (error) => {
      signal.removeEventListener("abort", timeOut);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Ends an invocation whose response is not complete, without the message of the fault. */
class ResponseCut extends Error {
  override readonly name = "ResponseCut";
}
