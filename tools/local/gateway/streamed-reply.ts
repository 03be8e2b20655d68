/**
 * A streamed response of a function.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
import { setTimeout as wait } from "node:timers/promises";
import { replyHead } from "./function-reply.ts";
import { GatewayError, type Reply } from "./gateway-responses.ts";

/** An HTTP response whose body is still being written. */
export interface StreamedReply extends Omit<Reply, "body"> {
  /** Throws if the function fails or the response times out. */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
}

/** By what time is measured, in milliseconds, and passes. */
interface Clock {
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

const realClock: Clock = { now: () => performance.now(), wait };

const delimiter = Buffer.alloc(8);

/** The metadata must end within the first 16 KB. */
const maxMetadataBytes = 16_384;

/**
 * Reads status and headers, which precede the body.
 * @throws {GatewayError} if the function does not write them.
 */
export async function streamedReply(
  stream: AsyncIterable<Uint8Array>,
  clock = realClock,
): Promise<StreamedReply> {
  const chunks = stream[Symbol.asyncIterator]();
  let written: Buffer = Buffer.alloc(0);
  while (written.length < maxMetadataBytes) {
    const next = await chunks.next();
    if (next.done) break;
    const { value } = next;
    written =
      written.length > 0
        ? Buffer.concat([written, value])
        : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const end = written.indexOf(delimiter);
    if (end < 0 || end > maxMetadataBytes) continue;
    const head = replyHead(metadataIn(written.subarray(0, end)));
    return { ...head, body: atBandwidth(written.subarray(end + delimiter.length), chunks, clock) };
  }
  await chunks.return?.();
  throw new GatewayError("INTEGRATION_FAILURE", "The streamed response begins without metadata");
}

function metadataIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new GatewayError("INTEGRATION_FAILURE", "The metadata is not JSON", { cause: error });
  }
}

/**
 * Lambda's bandwidth: 6 MB at once, then 2 MB a second. API Gateway's own limit, 10 MB and then 10 MB a second, is
 * never reached first.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html
 */
const unlimitedBytes = 6 * 1_024 * 1_024;
const bytesPerMillisecond = (2 * 1_024 * 1_024) / 1_000;

async function* atBandwidth(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const started = clock.now();
  let sentBytes = 0;
  try {
    for (let chunk = first; ; ) {
      sentBytes += chunk.length;
      const early = started + Math.max(0, sentBytes - unlimitedBytes) / bytesPerMillisecond - clock.now();
      if (early > 0) await clock.wait(early);
      if (chunk.length > 0) yield chunk;
      const next = await rest.next();
      if (next.done) return;
      chunk = next.value;
    }
  } finally {
    await rest.return?.();
  }
}
