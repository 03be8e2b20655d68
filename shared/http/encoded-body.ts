import { pipeline } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { weightedValues } from "./weights.ts";

/** A body in chunks, and the headers about its encoding. */
interface EncodedBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Compressing a smaller body gains nothing: it fits into a few packets anyway. */
const minCompressedBytes = 4_096;

/**
 * A body as it is sent: compressed if the caller accepts gzip and the first chunk is large enough. Waits for the first
 * chunk, so that an error before it can still be answered with an error status.
 */
export async function encodedBody(
  chunks: AsyncIterable<Uint8Array>,
  acceptEncoding: string | undefined,
): Promise<EncodedBody> {
  const rest = chunks[Symbol.asyncIterator]();
  const first = await rest.next();
  const all = startingWith(first, rest);
  const isSmall = first.done || first.value.length < minCompressedBytes;
  if (isSmall || !acceptsGzip(acceptEncoding)) return { headers: { vary: "accept-encoding" }, chunks: all };
  return { headers: { "content-encoding": "gzip", vary: "accept-encoding" }, chunks: compressed(all) };
}

/** If the reader stops early, waits until the source has ended and run its clean-up. */
async function* compressed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const gzip = createGzip(compression);
  // An error of the source is thrown to the reader of the compressed chunks.
  const ended = new Promise<void>((resolve) => pipeline(chunks, gzip, () => resolve()));
  try {
    yield* gzip;
  } finally {
    await ended;
  }
}

/** Flushes after each chunk, so that none waits for a full buffer. */
const compression = { level: constants.Z_BEST_SPEED, flush: constants.Z_SYNC_FLUSH } as const;

async function* startingWith<Chunk>(
  first: IteratorResult<Chunk>,
  rest: AsyncIterator<Chunk>,
): AsyncGenerator<Chunk, void, undefined> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Whether `Accept-Encoding` (RFC 9110, 12.5.3) accepts gzip. An absent header is read as no encoding. */
export function acceptsGzip(header = ""): boolean {
  const weights = new Map(weightedValues(header).map(({ value, weight }) => [value, weight]));
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
