import { setImmediate as nextTurn } from "node:timers/promises";

/** A body of no more bytes is kept in memory until it is sent; a larger one is written twice. */
const keptBytes = 1_048_576;

/** A body whose length is known before it is sent. */
interface MeasuredBody {
  readonly bodyBytes: number;
  readonly body: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/**
 * Reads a body once before it is sent, to count its bytes.
 * @param write begins the body anew, with the same bytes every time.
 * @param onChunk is called with each chunk of it once.
 * @param bufferPool receives the chunks that are no longer needed.
 * @throws {Error} named `AbortError` when the signal aborts.
 */
export async function measured(
  write: () => AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
  bufferPool: Buffer[],
  signal: AbortSignal,
): Promise<MeasuredBody> {
  const kept: Buffer[] = [];
  let bodyBytes = 0;
  for await (const chunk of write()) {
    onChunk(chunk);
    bodyBytes += chunk.length;
    kept.push(chunk);
    if (bodyBytes > keptBytes) bufferPool.push(...kept.splice(0));
    // Writing a body and hashing it never wait for anything; this lets timers in.
    await nextTurn(undefined, { signal });
  }
  return { bodyBytes, body: bodyBytes > keptBytes ? write() : kept };
}
