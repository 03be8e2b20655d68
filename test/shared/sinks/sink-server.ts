import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { expect } from "vitest";
import { parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import { type PostOptions, post } from "../../../shared/sinks/post.ts";
import certificateFile from "../../support/certificate.json" with { type: "json" };

const allowed = parseAllowedNetworks("127.0.0.0/8:1-65535") ?? [];
/** Certificate of no authority that Node.js knows. */
export const certificate = { key: certificateFile.key, cert: certificateFile.cert };
const running: TcpServer[] = [];

/** Ends all servers that a test has started. */
export async function closeSinks(): Promise<void> {
  const closing = running.splice(0).map(async (server) => {
    if ("closeAllConnections" in server) (server as Server).closeAllConnections();
    server.close();
    await once(server, "close");
  });
  await Promise.all(closing);
}

/** A server and how often somebody connected to it. */
interface Listening {
  readonly server: TcpServer;
  readonly port: number;
  readonly connections: () => number;
}

/** Starts a server on a free port, until `closeSinks`. */
export async function listen(server: TcpServer, host = "127.0.0.1"): Promise<Listening> {
  let connections = 0;
  server.on("connection", () => {
    connections++;
  });
  server.listen(0, host);
  await once(server, "listening");
  running.push(server);
  return { server, port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** Answers over HTTP. */
export const httpSink = async (listener: RequestListener) => await listen(createHttpServer(listener));
/** Answers over TLS with `certificate`. */
export const httpsSink = async (listener: RequestListener) =>
  await listen(createHttpsServer(certificate, listener));

/** A server that does what it wants with each connection. */
export async function rawSink(take: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    take(socket);
  });
  const close = server.close.bind(server);
  server.close = (...parameters) => {
    for (const socket of sockets) socket.destroy();
    return close(...parameters);
  };
  return await listen(server);
}

/** Sends these bytes once a request begins to come in, and reads on. */
export const rawAnswer = (text: string) => (socket: Socket) => {
  socket.once("data", () => socket.write(text));
  socket.resume();
};

/** Takes the whole body before it answers. */
export const answering =
  (status: number, headers: Record<string, string> = {}, text = ""): RequestListener =>
  (request, response) => {
    request.resume().on("end", () => response.writeHead(status, headers).end(text));
  };

/** A body that says how much of it was asked for and whether it was closed. */
export function bodyWith(count: number, bytes = 65_536) {
  const state = { pulled: 0, ended: false, closed: false };
  const chunks: AsyncIterator<Buffer, void> = {
    next: async () => {
      state.ended = state.pulled === count;
      if (state.ended) return { done: true, value: undefined };
      state.pulled++;
      return { done: false, value: Buffer.alloc(bytes, "x") };
    },
    return: async () => {
      state.closed = true;
      return { done: true, value: undefined };
    },
  };
  return { state, body: { [Symbol.asyncIterator]: () => chunks, bytes: count * bytes } };
}

/** The result of an attempt after which the sink has the whole body. */
export const delivered = { outcome: "delivered", status: expect.any(Number), sentWhole: true };

/** For sinks that use up the time they have. An attempt that only its own end would end outlasts the test. */
export const short = { lookup: 300, connect: 500, attempt: 300_000, stall: 500, answer: 300 };

/** A body, with its length if it is one of `bodyWith`. */
type Body = AsyncIterable<Buffer> & { readonly bytes?: number };

/** Posts three chunks to a sink on this machine, unless the options say otherwise. */
export async function postTo(
  port: number,
  { body = bodyWith(3).body, ...options }: Partial<PostOptions> & { readonly body?: Body } = {},
) {
  return await post({
    sink: `http://127.0.0.1:${port}/sink`,
    headers: {},
    body,
    bodyBytes: body.bytes ?? 0,
    allowed,
    runtimeApi: undefined,
    ...options,
  });
}

/** The whole body of a request. */
export async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
