import type { IncomingMessage } from "node:http";

/**
 * The maximum of a payload.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export const maxBodyBytes = 10 * 1024 * 1024;

/**
 * This much more is read and discarded, because a client that is cut off while it sends may never read the response.
 */
const discardedBytes = 64 * 1024 * 1024;

/** Reads the body of a request, undefined when it is too large; the server's time-out for requests bounds the wait. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) throw new Error("The request is not read as bytes");
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (size > maxBodyBytes + discardedBytes) break;
  }
  return size > maxBodyBytes ? undefined : Buffer.concat(chunks);
}
