import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/**
 * Turns a handler of standard requests, such as a receiver, into a listener for `createServer` of `node:http`, and for
 * frameworks that pass on its requests, such as Express and Fastify. A request that is cut off, or is none of a URL and
 * a method that `fetch` knows, gets no response: its connection is closed.
 *
 *     createServer(nodeListener(receive)).listen(8081);
 *     app.post("/deliveries", nodeListener(receive)); // Express, before its body parsers
 *
 * Where a parser has read the body, it must have left the bytes or the text in `body`, as `express.raw` and
 * `express.text` do, with a `limit` that the largest delivery keeps; a signature cannot be verified by an object.
 * @throws {Error} once, behind a parser that has left anything else, such as `express.json`: the answer is 500.
 */
export function nodeListener(
  handle: (request: Request) => Promise<Response>,
): (message: IncomingMessage, reply: ServerResponse) => Promise<void> {
  let hasThrown = false;
  return async (message, reply) => {
    try {
      const request = requestOf(message);
      if (request !== undefined) {
        const response = await handle(request);
        reply.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
        // What is left of a refused body is not held.
        message.removeAllListeners("data").resume();
        return;
      }
    } catch {
      reply.destroy();
      return;
    }
    reply.writeHead(500).end();
    if (hasThrown) return;
    hasThrown = true;
    throw new Error("the body was read before: mount the receiver before body parsers");
  };
}

/**
 * Undefined if the body was read, and its bytes are lost.
 * @throws {TypeError} for what is no request of `fetch`.
 */
function requestOf(message: IncomingMessage): Request | undefined {
  const { method = "GET", url = "/" } = message;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    if (typeof value === "string") headers.set(name, value);
  const address = new URL(url, "http://receiver.invalid");
  if (!hasBody(message) || method === "GET" || method === "HEAD")
    return new Request(address, { method, headers });
  if (!message.readableDidRead && message.readableEncoding === null) {
    // Otherwise, up to 65,536 chunks are read ahead, also for a handler that reads none.
    const strategy = { highWaterMark: 0 };
    const body = Readable.toWeb(message, { strategy }) as ReadableStream<Uint8Array>;
    return new Request(address, { method, headers, body, duplex: "half" } as RequestInit);
  }
  const { body } = message as { readonly body?: unknown };
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return undefined;
  // Parsers leave the header when they decompress.
  headers.delete("content-encoding");
  return new Request(address, { method, headers, body } as RequestInit);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
