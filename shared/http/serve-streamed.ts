import type { Writable } from "node:stream";
import type { Context, StreamifyHandler } from "aws-lambda";
import { causeOf, log } from "../aws/log.ts";
import type { StreamedEndpoint } from "../endpoint.ts";
import { isSamLocal } from "../environment.ts";
import { CallerTooSlow, startBodyDeadline } from "./deadline.ts";
import type { Handle } from "./request.ts";
import { headOf, type Reply } from "./response.ts";
import { respond } from "./serve.ts";
import { serveWhole } from "./serve-whole.ts";

/**
 * Creates the Lambda handler of an endpoint whose responses, including errors, are streamed; by `sam local`, which does
 * not stream, they are returned whole.
 */
export function serveStreamed<const E extends StreamedEndpoint>(
  endpoint: E,
  handle: Handle<E>,
): StreamifyHandler<unknown, void> {
  // The runtime calls each kind of handler with the arguments that it takes.
  if (isSamLocal()) return serveWhole(endpoint, handle) as unknown as StreamifyHandler<unknown, void>;
  return awslambda.streamifyResponse(async (event: unknown, stream: Writable, context: Context) => {
    // Work left over from a request that timed out must not delay the next one.
    context.callbackWaitsForEmptyEventLoop = false;
    const connection = connectionOf(stream);
    const { reply, logged, report } = await respond(endpoint, handle, event, context);
    const out = awslambda.HttpResponseStream.from(stream, headOf(reply));
    stream.once(
      "close",
      startBodyDeadline(context, () => connection.abort(new CallerTooSlow())),
    );
    const { bytes, fault } = await send(reply, out, connection.signal);
    if (fault === undefined) return report({ bytes });
    const isCallers = fault instanceof CallerTooSlow;
    const cause = isCallers ? fault.cause : fault;
    log(isCallers ? "RESPONSE_CUT" : "CRASH", { ...logged, ...(cause ? { cause: causeOf(cause) } : {}) });
    report({ bytes, code: isCallers ? "TIMEOUT" : "INTERNAL" });
    // Makes Lambda report a fault instead of completing the body. It logs name and message.
    throw isCallers ? fault : new ResponseCut();
  });
}

/**
 * Controls the connection of a stream: aborts if the connection breaks, and destroys the stream if aborted, even after
 * the handler has returned. The runtime sends all responses on one connection; otherwise the next one would wait for
 * the reader of this one.
 */
function connectionOf(stream: Writable): AbortController {
  const connection = new AbortController();
  connection.signal.addEventListener("abort", () => stream.destroy());
  const broken = (cause?: unknown) => connection.abort(new CallerTooSlow({ cause }));
  // The runtime's own listener causes unhandled rejections, which end the process.
  stream.removeAllListeners("error");
  stream.on("error", broken);
  stream.on("close", () => {
    if (!stream.writableFinished) broken();
  });
  return connection;
}

/** How many bytes of a body were sent, and the fault that ended it, if any. */
interface StreamResult {
  readonly bytes: number;
  readonly fault?: unknown;
}

/** Sends a body as fast as it is read, and waits until all of it has been read. */
async function send({ body, onEnd }: Reply, stream: Writable, signal: AbortSignal): Promise<StreamResult> {
  const chunks = typeof body === "string" ? [Buffer.from(body)] : body;
  let bytes = 0;
  try {
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        await completed(signal, (done) => stream.write(chunk, done));
      }
      // The last bytes are buffered until they are read. The stream closes when Lambda has confirmed all of them.
      await completed(signal, (done) => {
        stream.once("close", done);
        stream.end();
      });
    } finally {
      await onEnd?.();
    }
    return { bytes };
  } catch (fault) {
    return { bytes, fault };
  }
}

/**
 * Waits for a callback of the stream.
 * @throws {CallerTooSlow} if the callback receives an error, or the signal aborts first.
 */
function completed(signal: AbortSignal, call: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    // A signal that has already aborted fires no event.
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    call((error) => {
      signal.removeEventListener("abort", abort);
      if (error) reject(new CallerTooSlow({ cause: error }));
      else resolve();
    });
  });
}

/** Ends an invocation with an incomplete response, without revealing the fault's message. */
class ResponseCut extends Error {
  override readonly name = "ResponseCut";
}
