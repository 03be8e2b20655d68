/**
 * API Gateway in front of the functions: REST API, Lambda proxy integration.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-develop.html
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { apiStage, authorizer, compressedKibibytes, type Method } from "../../../infra/gateway.ts";
import { acceptingSinkPath } from "../../../shared/sandbox/sinks.ts";
import { account, apiId, region } from "../declared/aws-names.ts";
import type { LocalApi } from "../declared/declarations.ts";
import { InvocationError } from "../lambda/invocation-error.ts";
import type { InvocationStream } from "../lambda/invocation-stream.ts";
import type { LogSink } from "../lambda/log-sink.ts";
import { type ListeningServer, listen } from "../servers/listening-server.ts";
import { isOwnHost } from "../servers/own-requests.mjs";
import { Authorizer, type AuthorizerContext } from "./authorizer.ts";
import { compressed, decompressed } from "./compression.ts";
import { proxyEvent, requestedHost } from "./event.ts";
import { functionReply } from "./function-reply.ts";
import { GatewayError, type Reply, renderGatewayError } from "./gateway-responses.ts";
import { otherVerbsReply } from "./other-verbs.ts";
import { headerOf, type ReceivedRequest, receive, receiveUnread } from "./received-request.ts";
import { readBody } from "./request-body.ts";
import { type Route, type RouteMatch, RouteTable } from "./routing.ts";
import { type StreamedReply, streamedReply } from "./streamed-reply.ts";

/**
 * How long API Gateway waits for a function, unless a method says less; none does.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const integrationMilliseconds = 29_000;

/** The input of a gateway. */
export interface GatewayOptions {
  readonly api: LocalApi;
  /** Invokes a function with one event. */
  readonly invoke: (functionId: string, event: unknown) => Promise<unknown>;
  /** Invokes a function with one event, and returns its response while it is being written. */
  readonly stream: (functionId: string, event: unknown) => Promise<InvocationStream>;
  readonly logs: LogSink;
  /** Names by which it can be called, in addition to loopback ones; in lower case. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The https address that it is taken for, whatever a request names. */
  readonly publicUrl?: URL | undefined;
  /** How many times as long as API Gateway it waits for functions; once, if absent. */
  readonly deadlineFactor?: number | undefined;
}

/** An API, ready to be served. */
interface Served {
  readonly routes: RouteTable;
  readonly responses: LocalApi["responses"];
  /** By scope. */
  readonly authorizers: ReadonlyMap<string, Authorizer>;
  readonly origins: string;
}

function servedApi(api: LocalApi, invoke: GatewayOptions["invoke"]): Served {
  const scopes = new Set(api.methods.flatMap(({ scope }) => scope ?? []));
  const authorizerOf = () => new Authorizer((event) => invoke(authorizer.functionId, event));
  return {
    routes: new RouteTable(api),
    responses: api.responses,
    authorizers: new Map([...scopes].map((scope) => [scope, authorizerOf()])),
    origins: api.origins,
  };
}

function isMethod(route: Route): route is Method {
  return "functionId" in route;
}

/** Serves an API. */
export class Gateway {
  #served: Served;
  readonly #invoke: GatewayOptions["invoke"];
  readonly #stream: GatewayOptions["stream"];
  readonly #logs: LogSink;
  readonly #allowedHosts: readonly string[];
  readonly #publicUrl: URL | undefined;
  readonly #deadlineFactor: number;
  /** Requests of a connection that have no response yet. */
  readonly #unanswered = new WeakMap<Duplex, Map<ServerResponse, ReceivedRequest>>();

  constructor({
    api,
    invoke,
    stream,
    logs,
    publicUrl,
    allowedHosts = [],
    deadlineFactor = 1,
  }: GatewayOptions) {
    this.#served = servedApi(api, invoke);
    this.#invoke = invoke;
    this.#stream = stream;
    this.#logs = logs;
    this.#allowedHosts = allowedHosts;
    this.#publicUrl = publicUrl;
    this.#deadlineFactor = deadlineFactor;
  }

  /** Serves another API from the next request on; nothing that authorizers have answered is known any more. */
  serve(api: LocalApi): void {
    this.#served = servedApi(api, this.#invoke);
  }

  /** Opens a port of the loopback address; 0 chooses a free one. */
  open(port: number): Promise<ListeningServer> {
    const server = createServer(
      {
        keepAlive: true,
        connectionsCheckingInterval: 1_000,
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        requireHostHeader: false,
      },
      (request, response) => void this.#serve(request, response),
    );
    server.keepAliveTimeout = 60_000;
    server.timeout = 60_000;
    // A client that has closed its side of the connection still receives the response.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on("checkExpectation", (request, response) => void this.#serve(request, response));
    server.on("connect", (request, socket) => {
      this.#refuseUnserved(new GatewayError("MISSING_AUTHENTICATION_TOKEN"), receive(request), socket);
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#refuseMalformed(error, socket));
    return listen(server, port);
  }

  /** Refuses input that is not HTTP, is too slow or incomplete, or has headers that are too large. */
  #refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const malformed = new GatewayError("BAD_REQUEST_PARAMETERS");
    const last = [...(this.#unanswered.get(socket) ?? [])].at(-1);
    if (last !== undefined) {
      const [response, received] = last;
      // Responses are sent in the order of their requests; nothing follows the last one.
      response.shouldKeepAlive = false;
      if (!response.req.complete)
        void send(response.req, response, received, this.#render(malformed, received));
      return;
    }
    const from = socket instanceof Socket ? socket : {};
    this.#refuseUnserved(malformed, receiveUnread(from), socket);
  }

  #render(error: GatewayError, received: ReceivedRequest): Reply {
    return renderGatewayError(error, this.#served.responses, received);
  }

  #refuseUnserved(error: GatewayError, received: ReceivedRequest, socket: Duplex): void {
    const { status, headers, body } = this.#render(error, received);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      `x-amzn-requestid: ${received.requestId}`,
      "connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = receive(request);
    const unanswered = this.#unanswered.get(request.socket) ?? new Map<ServerResponse, ReceivedRequest>();
    this.#unanswered.set(request.socket, unanswered.set(response, received));
    response.once("close", () => unanswered.delete(response));
    try {
      await send(request, response, received, await this.#answer(request, received));
    } catch (error) {
      // The client disconnected while sending its request.
      if (request.destroyed && !request.complete) return;
      if (response.headersSent) return this.#logCut(error, received);
      this.#log("The gateway failed", received, { reason: String(error) });
      await send(request, response, received, {
        status: 500,
        headers: [],
        body: '{"message":"Internal server error"}',
      });
    }
  }

  /** Logs a streamed response that was cut off, unless the client closed the connection. */
  #logCut(error: unknown, received: ReceivedRequest): void {
    if (!(error instanceof InvocationError) && !(error instanceof GatewayError)) return;
    this.#log("The response was cut off", received, { reason: error.message });
  }

  async #answer(request: IncomingMessage, received: ReceivedRequest): Promise<Reply | StreamedReply> {
    const match = this.#served.routes.match(received.method, received.path);
    try {
      if (!isOwnHost(requestedHost(received), received.port, this.#allowedHosts)) return misdirected;
      const encodedBody = await readBody(request);
      if (received.path === acceptingSinkPath) return sinkAccepted;
      if (match === undefined) throw new GatewayError("MISSING_AUTHENTICATION_TOKEN");
      if (encodedBody === undefined) throw new GatewayError("REQUEST_TOO_LARGE");
      const body = await decompressed(encodedBody, headerOf(received, "content-encoding"));
      const { route } = match;
      if (!isMethod(route)) return otherVerbsReply(route, this.#served.origins, received);
      const authorized = await this.#authorize(received, route);
      return await this.#integrate(received, { ...match, route }, body, authorized);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const reply = this.#render(error, received);
      if (reply.status >= 500)
        this.#log(error.type, received, { resource: match?.path, reason: error.message });
      return reply;
    }
  }

  async #authorize(received: ReceivedRequest, { scope }: Method): Promise<AuthorizerContext | undefined> {
    if (scope === null) return undefined;
    const ofScope = this.#served.authorizers.get(scope);
    if (ofScope === undefined) throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR", "No such authorizer");
    const method = `${received.method}/${received.path.slice(1)}`;
    const arn = `arn:aws:execute-api:${region}:${account}:${apiId}/${apiStage}/${method}`;
    return ofScope.authorize(received, arn);
  }

  async #integrate(
    received: ReceivedRequest,
    match: RouteMatch<Method>,
    body: Buffer,
    authorized: AuthorizerContext | undefined,
  ): Promise<Reply | StreamedReply> {
    const event = proxyEvent(received, match, body, authorized, this.#publicUrl);
    const { functionId, streamed } = match.route;
    const milliseconds = integrationMilliseconds * this.#deadlineFactor;
    if (streamed) {
      const stream = cutAfter(milliseconds, this.#stream(functionId, event));
      return await within(milliseconds, stream.then(streamedReply));
    }
    const result = await within(milliseconds, this.#invoke(functionId, event));
    const accepted = headerOf(received, "accept-encoding");
    return await compressed(functionReply(result), accepted, compressedKibibytes * 1_024);
  }

  #log(
    message: string,
    received: ReceivedRequest,
    details: Readonly<Record<string, string | undefined>>,
  ): void {
    const line = {
      level: "ERROR",
      message,
      timestamp: new Date().toISOString(),
      requestId: received.requestId,
    };
    this.#logs.write(`${JSON.stringify({ ...line, ...details })}\n`);
  }
}

/** API Gateway never sees the requests of another host; this answer is the local gateway's own. */
const misdirected: Reply = {
  status: 421,
  headers: [["content-type", "application/json"]],
  body: JSON.stringify({
    status: 421,
    code: "MISDIRECTED_REQUEST",
    message:
      "The Host must be a loopback name with the port of this service; " +
      "npm start -- --allow-host NAME allows another name.",
  }),
};

/** What the sandbox's sink answers, which no stage has. */
const sinkAccepted: Reply = { status: 204, headers: [], body: "" };

/** After the time-out the function continues, as on AWS; its result is discarded. */
async function within<Result>(milliseconds: number, invocation: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new GatewayError("INTEGRATION_TIMEOUT")), milliseconds);
  });
  try {
    return await Promise.race([invocation, late]);
  } catch (error) {
    if (!(error instanceof InvocationError)) throw error;
    const type =
      error.errorType === "RequestEntityTooLargeException" ? "REQUEST_TOO_LARGE" : "INTEGRATION_FAILURE";
    throw new GatewayError(type, `${error.errorType}: ${error.message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** The stream of an invocation; the integration's time-out ends it with an error. */
async function cutAfter(
  milliseconds: number,
  invocation: Promise<InvocationStream>,
): Promise<InvocationStream> {
  const endsAt = performance.now() + milliseconds;
  const stream = await invocation;
  const cut = () => stream.end(new GatewayError("INTEGRATION_TIMEOUT"));
  const timer = setTimeout(cut, Math.max(0, endsAt - performance.now()));
  void stream.ended.then(() => clearTimeout(timer));
  return stream;
}

/** @throws any error that ends the body of a streamed reply early; the connection is then closed. */
async function send(
  request: IncomingMessage,
  response: ServerResponse,
  received: ReceivedRequest,
  { status, headers, body }: Reply | StreamedReply,
): Promise<void> {
  // A request that was cut off has already been refused.
  if (response.headersSent) return;
  response.statusCode = status;
  response.setHeader("x-amzn-requestid", received.requestId);
  response.setHeader("x-amz-apigw-id", received.extendedRequestId);
  for (const [name, value] of headers) response.appendHeader(name, value);
  if (!request.complete) response.setHeader("connection", "close");
  if (typeof body !== "string" && !Buffer.isBuffer(body)) return await stream(body, response);
  const bytes = Buffer.from(body);
  if (status !== 204 && status !== 304) response.setHeader("content-length", bytes.length);
  response.end(bytes);
}

/**
 * Sends a body while it is being written; what is written in the first turn of the event loop is sent in one piece. If
 * the body ends early, what was written is sent and the connection is closed.
 */
async function stream(body: StreamedReply["body"], response: ServerResponse): Promise<void> {
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  const { socket } = response;
  socket?.cork();
  process.nextTick(() => socket?.uncork());
  response.flushHeaders();
  try {
    for await (const chunk of body) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await Promise.race([once(response, "drain"), gone]);
    }
    response.end();
  } catch (error) {
    response.socket?.destroySoon();
    throw error;
  }
}
