import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/**
 * Turns a handler of standard requests, such as a receiver, into a listener for `createServer` of `node:http`. A
 * request that is cut off gets no response: its connection is closed.
 */
export function nodeListener(
  handle: (request: Request) => Promise<Response>,
): (message: IncomingMessage, reply: ServerResponse) => Promise<void> {
  return async (message, reply) => {
    try {
      const response = await handle(requestOf(message));
      reply.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
    } catch {
      reply.destroy();
    }
  };
}

function requestOf(message: IncomingMessage): Request {
  const { method = "GET", url = "/", headers } = message;
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : [],
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, "http://receiver.invalid"), {
    method,
    headers: pairs as [string, string][],
    ...(hasBody ? { body: Readable.toWeb(message) as ReadableStream<Uint8Array>, duplex: "half" } : {}),
  });
}
