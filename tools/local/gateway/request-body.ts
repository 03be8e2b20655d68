import type { IncomingMessage } from "node:http";

/**
 * The maximum size of a payload.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export const maxBodyBytes = 10 * 1024 * 1024;

/**
 * Bytes beyond the limit that are read and discarded: a client that is cut off while sending may never read the
 * response.
 */
const discardedBytes = 64 * 1024 * 1024;

/** Reads the body of a request; undefined if it is too large. The server's request time-out limits the wait. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) throw new Error("The request body was not read as bytes");
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (size > maxBodyBytes + discardedBytes) break;
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(chunks);
}
