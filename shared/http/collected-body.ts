import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

/** A body as a function returns it to API Gateway. */
interface CollectedBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: { readonly body: string; readonly isBase64Encoded?: boolean };
}

/** Compressing a smaller body takes more time than it saves. */
const minCompressedBytes = 1_000_000;

/** Lambda's limit of 6 MB for a result, as JSON text, with room for status and headers. */
const maxResultBytes = 6_000_000;

const compress = promisify(gzip);

/**
 * Collects a body of ASCII text from chunks. A large body is compressed if the caller accepts that.
 * @returns `undefined` when the body is too large for Lambda, compressed or not.
 */
export async function collectedBody(
  chunks: AsyncIterable<Uint8Array>,
  acceptEncoding: string | undefined,
): Promise<CollectedBody | undefined> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  const bytes = Buffer.concat(collected);
  if (bytes.length >= minCompressedBytes && acceptsGzip(acceptEncoding)) {
    const compressed = await compress(bytes, { level: constants.Z_BEST_SPEED });
    if (Math.ceil(compressed.length / 3) * 4 > maxResultBytes) return undefined;
    return {
      headers: { "content-encoding": "gzip", vary: "accept-encoding" },
      content: { body: compressed.toString("base64"), isBase64Encoded: true },
    };
  }
  if (bytes.length + escapesIn(bytes) > maxResultBytes) return undefined;
  return { headers: { vary: "accept-encoding" }, content: { body: bytes.toString("latin1") } };
}

const quote = 0x22;
const backslash = 0x5c;

/** Bytes that text grows by when it becomes a string of JSON. */
function escapesIn(bytes: Uint8Array): number {
  let escapes = 0;
  for (const byte of bytes) if (byte === quote || byte === backslash) escapes++;
  return escapes;
}

/** Whether `Accept-Encoding` (RFC 9110, 12.5.3) accepts gzip. An absent header is read as no encoding. */
function acceptsGzip(header = ""): boolean {
  const weights = new Map(
    header.split(",").map((part) => {
      const [coding = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
      return [coding, Number(weight)];
    }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
