import { pipeline } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { weightedValues } from "./weights.ts";

/** A body of chunks, and the headers that say how they are encoded. */
interface EncodedBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Compressing a smaller body saves nothing: it fits into a few packets anyway. */
const minCompressedBytes = 4_096;

/**
 * A body as it is sent: compressed if the caller accepts that, and its first chunk is not a small one. Waits for the
 * first chunk, so that what prevents it is still answered as an error.
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

/** Who stops reading waits until the chunks have ended, with what they do at their end. */
async function* compressed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const gzip = createGzip(compression);
  // An error of the chunks is thrown to whoever reads the compressed ones.
  const ended = new Promise<void>((resolve) => pipeline(chunks, gzip, () => resolve()));
  try {
    yield* gzip;
  } finally {
    await ended;
  }
}

/** Each chunk is compressed and sent before the next: none waits until a buffer is full. */
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
