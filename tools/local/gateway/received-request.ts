import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** A request of Node.js. */
type Received = Pick<IncomingMessage, "method" | "url" | "rawHeaders" | "httpVersion"> & {
  readonly socket: Partial<Pick<Socket, "remoteAddress" | "localPort">>;
};

/** Stands for a request that could not be read: only its source is known. */
export function receiveUnread(socket: Received["socket"]): ReceivedRequest {
  return receive({ method: "GET", url: "/", rawHeaders: [], httpVersion: "1.1", socket });
}

/** An HTTP request as it arrived, before any of its body is read. */
export interface ReceivedRequest {
  readonly method: string;
  /** Percent-encoded, without the query string. */
  readonly path: string;
  /** The part after the question mark; empty if there is none. */
  readonly queryString: string;
  /** In order, with repetitions; names as the client spelled them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
  readonly protocol: string;
  readonly port: number;
  readonly requestId: string;
  readonly extendedRequestId: string;
  readonly traceId: string;
  readonly receivedAt: Date;
}

/** Records a request and assigns its identifiers. */
export function receive(request: Received): ReceivedRequest {
  // The absolute form that proxies use, http://host/path, names the same resource.
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "") || "/";
  const question = target.indexOf("?");
  const receivedAt = new Date();
  const seconds = Math.floor(receivedAt.getTime() / 1000).toString(16);
  return {
    method: request.method ?? "GET",
    path: question < 0 ? target : target.slice(0, question),
    queryString: question < 0 ? "" : target.slice(question + 1),
    headers: pairs(request.rawHeaders),
    sourceIp: (request.socket.remoteAddress ?? "127.0.0.1").replace(/^::ffff:/, ""),
    protocol: `HTTP/${request.httpVersion}`,
    port: request.socket.localPort ?? 0,
    requestId: randomUUID(),
    extendedRequestId: randomBytes(11).toString("base64"),
    traceId: `Root=1-${seconds}-${randomBytes(12).toString("hex")}`,
    receivedAt,
  };
}

/** The last value of a header; the case of its name does not matter. */
export function headerOf(request: ReceivedRequest, name: string): string | undefined {
  return request.headers.findLast(([candidate]) => candidate.toLowerCase() === name.toLowerCase())?.[1];
}

/**
 * The last value of a header whose name was sent in exactly this case. API Gateway keeps the case of names (HTTP/2 has
 * them in lower case), and does not document that a mapping ignores it.
 */
export function headerAsSent(request: ReceivedRequest, name: string): string | undefined {
  return request.headers.findLast(([candidate]) => candidate === name)?.[1];
}

function pairs(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => {
    return [rawHeaders[2 * index] ?? "", rawHeaders[2 * index + 1] ?? ""] as const;
  });
}
