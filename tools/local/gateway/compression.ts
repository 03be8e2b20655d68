/**
 * Compression of responses by API Gateway, and decompression of requests.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-receive-response-with-compressed-payload.html
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
 */
import { promisify } from "node:util";
import { deflate, gunzip, gzip, inflate } from "node:zlib";
import { GatewayError, type Reply } from "./gateway-responses.ts";
import { maxBodyBytes } from "./request-body.ts";

const codings = { gzip: promisify(gzip), deflate: promisify(deflate) } as const;
const decoders = new Map([
  ["gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
]);

/**
 * The body of a request as the function receives it. That the size limit also applies to decompressed bodies is not
 * documented.
 * @throws {GatewayError} if the coding is not supported, or the body is not encoded with it.
 */
export async function decompressed(body: Buffer, contentEncoding = "identity"): Promise<Buffer> {
  const coding = contentEncoding.trim().toLowerCase();
  if (coding === "identity") return body;
  const decode = decoders.get(coding);
  if (decode === undefined) throw new GatewayError("UNSUPPORTED_MEDIA_TYPE");
  try {
    return await decode(body, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw new GatewayError(isTooLarge ? "REQUEST_TOO_LARGE" : "UNSUPPORTED_MEDIA_TYPE", undefined, {
      cause: error,
    });
  }
}

/**
 * The reply as it is sent: compressed if the caller accepts a coding, the body has the minimum size, and the function
 * has not encoded it already.
 */
export async function compressed(
  reply: Reply,
  acceptEncoding: string | undefined,
  minBytes: number,
): Promise<Reply> {
  const coding = preferredCoding(acceptEncoding);
  const bytes = Buffer.from(reply.body);
  const isEncoded = reply.headers.some(([name]) => name === "content-encoding");
  if (coding === undefined || bytes.length < minBytes || isEncoded) return reply;
  const body = await codings[coding](bytes);
  return { ...reply, headers: [...reply.headers, ["content-encoding", coding]], body };
}

/** The coding with the largest weight (RFC 9110, 12.5.3); gzip if equal. A wildcard alone selects none. */
function preferredCoding(acceptEncoding = ""): keyof typeof codings | undefined {
  const weights = { gzip: 0, deflate: 0, identity: 0 };
  for (const part of acceptEncoding.toLowerCase().split(",")) {
    const [, coding = "", weight = "1"] = /^\s*([a-z]+)\s*(?:;\s*q=([\d.]+)\s*)?$/.exec(part) ?? [];
    if (coding in weights) weights[coding as keyof typeof weights] = Number(weight);
  }
  const { gzip: ofGzip, deflate: ofDeflate, identity } = weights;
  if (Math.max(ofGzip, ofDeflate) <= 0 || identity > Math.max(ofGzip, ofDeflate)) return undefined;
  return ofGzip >= ofDeflate ? "gzip" : "deflate";
}
