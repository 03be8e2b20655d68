import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  request as startRequest,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { bodyOf } from "../../../functions/population-density/tiles/json.ts";
import { parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import { type PostOptions, post } from "../../../shared/sinks/post.ts";
import { resolveName } from "../../../shared/sinks/resolve-name.ts";
import { selfSignedCertificate } from "../../support/certificate.ts";
import { type NameServer, openNameServer } from "../../support/name-server.ts";

const allowed = parseAllowedNetworks("127.0.0.0/8:1-65535") ?? [];
const certificate = selfSignedCertificate(["localhost", "sink.example.com"], ["127.0.0.1"]);
const running: TcpServer[] = [];
const nameServers: NameServer[] = [];

afterEach(async () => {
  const closing = running.splice(0).map(async (server) => {
    if ("closeAllConnections" in server) (server as Server).closeAllConnections();
    server.close();
    await once(server, "close");
  });
  await Promise.all([...closing, ...nameServers.splice(0).map((server) => server.close())]);
});

async function nameServer(names: Parameters<typeof openNameServer>[0]): Promise<NameServer> {
  const server = await openNameServer(names);
  nameServers.push(server);
  return server;
}

/** A server and how often somebody connected to it. */
interface Listening {
  readonly port: number;
  readonly connections: () => number;
}

async function listen(server: TcpServer): Promise<Listening> {
  let connections = 0;
  server.on("connection", () => {
    connections++;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  running.push(server);
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const httpSink = async (listener: RequestListener) => await listen(createHttpServer(listener));
const httpsSink = async (listener: RequestListener) => await listen(createHttpsServer(certificate, listener));

/** A server that does what it wants with each connection. */
async function rawSink(take: (socket: Socket) => void): Promise<Listening> {
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
const rawAnswer = (text: string) => (socket: Socket) => {
  socket.once("data", () => socket.write(text));
  socket.resume();
};

/** Takes the whole body before it answers. */
const answering =
  (status: number, headers: Record<string, string> = {}, text = ""): RequestListener =>
  (request, response) => {
    request.resume().on("end", () => response.writeHead(status, headers).end(text));
  };

/** A body that says how much of it was asked for and whether it was closed. */
function bodyWith(count: number, bytes = 65_536) {
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
  return { state, body: { [Symbol.asyncIterator]: () => chunks } };
}

const delivered = { outcome: "delivered", status: expect.any(Number), sentWhole: true };

/** For sinks that use up the time they have. */
const short = { lookup: 300, connect: 500, attempt: 10_000, stall: 500, answer: 300 };

async function postTo(port: number, options: Partial<PostOptions> = {}) {
  return await post({
    sink: `http://127.0.0.1:${port}/sink`,
    headers: {},
    body: bodyWith(3).body,
    allowed,
    runtimeApi: undefined,
    ...options,
  });
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("the body and the headers", () => {
  test.each([
    ["http", httpSink, "http://127.0.0.1"],
    ["https to localhost", httpsSink, "https://localhost"],
    ["https to an address", httpsSink, "https://127.0.0.1"],
    ["https to a name", httpsSink, "https://sink.example.com"],
  ])("post delivers exactly the given bytes and headers over %s", async (_, start, origin) => {
    const chunks = [randomBytes(70_000), Buffer.alloc(0), randomBytes(1), randomBytes(65_536)];
    const got: { request?: IncomingMessage; bytes?: Buffer } = {};
    const { port } = await start(async (request, response) => {
      got.request = request;
      got.bytes = await bytesOf(request);
      response.writeHead(204).end();
    });
    async function* body() {
      yield* chunks;
    }
    const headers = {
      "content-type": "application/json",
      authorization: "Bearer !~ token",
      "x-correlator": "a-1",
      "webhook-id": "b-2",
      "webhook-timestamp": "1772366400",
    };

    const ended = await postTo(port, {
      sink: `${origin}:${port}/a/sink?b=c&d=%20`,
      headers,
      body: body(),
      ca: certificate.cert,
      resolve: async () => ["127.0.0.1"],
    });

    expect(ended).toEqual(delivered);
    expect(got.bytes?.equals(Buffer.concat(chunks))).toBe(true);
    expect(got.request?.method).toBe("POST");
    expect(got.request?.url).toBe("/a/sink?b=c&d=%20");
    expect(got.request?.headers).toEqual({
      ...headers,
      host: `${new URL(origin).hostname}:${port}`,
      "transfer-encoding": "chunked",
    });
  });

  test("post closes the connection as soon as the sink has answered", async () => {
    const closed: Promise<unknown>[] = [];
    const { port } = await httpSink((request, response) => {
      closed.push(once(request.socket, "close"));
      request.resume().on("end", () => response.end("taken"));
    });

    expect(await postTo(port)).toEqual(delivered);
    expect(closed).toHaveLength(1);
    await Promise.all(closed);
  });

  test("post delivers an empty body as one", async () => {
    const got: number[] = [];
    const { port } = await httpSink(async (request, response) => {
      got.push((await bytesOf(request)).length);
      response.end();
    });

    expect(await postTo(port, { body: bodyWith(0).body })).toEqual(delivered);
    expect(got).toEqual([0]);
  });

  test("post delivers the bytes of an answer although their memory is used again", async () => {
    const cells = Uint16Array.from({ length: 1_024 }, (_, cell) => cell);
    const tiles = Array.from({ length: 100 }, () => ({ geohash: "ezjmg", cells }));
    const answer = {
      status: "SUPPORTED_AREA",
      precision: 7,
      tiles,
      hours: [0, 1],
      openHour: () => undefined,
    } as const;
    const got: Buffer[] = [];
    const { port } = await httpsSink(async (request, response) => {
      got.push(await bytesOf(request));
      response.end();
    });
    const bufferPool: Buffer[] = [];

    const ended = await postTo(port, {
      sink: `https://localhost:${port}/`,
      body: bodyOf(answer, bufferPool),
      bufferPool,
      ca: certificate.cert,
    });

    const expected: Buffer[] = [];
    for await (const chunk of bodyOf(answer)) expected.push(chunk);
    expect(ended).toEqual(delivered);
    expect(got[0]?.equals(Buffer.concat(expected))).toBe(true);
    expect(expected.length).toBeGreaterThan(100);
    expect(bufferPool.length).toBeLessThan(5);
  });

  test("post gives a sink more time for each MiB that it reads", async () => {
    const { port } = await rawSink((socket) => {
      let bytes = 0;
      socket.on("data", (data) => {
        bytes += data.length;
        if (bytes > 10 * 1_048_576) setTimeout(() => socket.end("HTTP/1.1 204 Done\r\n\r\n"), 300);
      });
    });
    const limits = { attempt: 200 };
    const tight = await postTo(port, { body: bodyWith(161).body, limits: { ...limits, perMebibyte: 1 } });
    const loose = await postTo(port, {
      body: bodyWith(161).body,
      limits: { ...limits, perMebibyte: 1_000 },
    });

    expect(tight).toMatchObject({ outcome: "failed", cause: "OVERTIME" });
    expect(loose).toEqual(delivered);
  });

  test("post does not count the time that the body takes as a stall of the sink", async () => {
    const { port } = await httpSink(answering(200));
    async function* slow() {
      yield Buffer.from("a");
      await pause(300);
      yield Buffer.from("b");
    }
    const ended = await postTo(port, { body: slow(), limits: { stall: 150 } });
    expect(ended).toEqual(delivered);
  });
});

describe("the status of the answer", () => {
  test.each([
    ["delivered", 201],
    ["refused", 400],
    ["refused", 410],
    ["failed", 408],
    ["failed", 500],
    ["failed", 503],
  ])("post returns %s after one connection when the sink answers %d", async (outcome, status) => {
    const { port, connections } = await httpSink(answering(status, {}, "nobody reads this"));
    expect(await postTo(port)).toEqual({ outcome, status, sentWhole: true });
    expect(connections()).toBe(1);
  });

  test.each([301, 302, 303, 307, 308])(
    "post returns refused for a redirect with %d and does not follow it",
    async (status) => {
      const elsewhere = await httpSink(answering(200));
      const { port } = await httpSink(answering(status, { location: `http://127.0.0.1:${elsewhere.port}/` }));

      expect(await postTo(port)).toEqual({ outcome: "refused", status, sentWhole: true });
      expect(elsewhere.connections()).toBe(0);
    },
  );

  test.each([
    [30, "30"],
    [0, "0"],
    [3_600, "99999"],
    [45, "Sun, 01 Mar 2026 12:00:45 GMT"],
    [0, "Sun, 01 Mar 2020 12:00:45 GMT"],
  ])("post returns %d seconds to wait after 429 with Retry-After: %s", async (retryAfterSeconds, header) => {
    const { port } = await httpSink(answering(429, { "retry-after": header }));
    const now = () => new Date("2026-03-01T12:00:00Z");
    const ended = await postTo(port, { now });
    expect(ended).toEqual({ outcome: "failed", status: 429, retryAfterSeconds, sentWhole: true });
  });

  test("post ignores an invalid Retry-After on 429", async () => {
    const { port } = await httpSink(answering(429, { "retry-after": "-1" }));
    expect(await postTo(port)).toEqual({ outcome: "failed", status: 429, sentWhole: true });
  });

  test.each([200, 410])("post ignores Retry-After on %d", async (status) => {
    const { port } = await httpSink(answering(status, { "retry-after": "30" }));
    expect(await postTo(port)).not.toHaveProperty("retryAfterSeconds");
  });

  test.each([
    ["reads on", 413, "refused", (socket: Socket) => socket],
    ["reads no more", 413, "refused", (socket: Socket) => socket.pause()],
    ["reads on", 302, "refused", (socket: Socket) => socket],
    ["reads on", 500, "failed", (socket: Socket) => socket],
    ["reads no more", 503, "failed", (socket: Socket) => socket.pause()],
  ])(
    "post stops sending to a sink that %s after answering %d before the end of the body",
    async (_, status, outcome, then) => {
      const answer = rawAnswer(`HTTP/1.1 ${status} Early\r\ncontent-length: 0\r\n\r\n`);
      const { port } = await rawSink((socket) => {
        answer(socket);
        socket.once("data", () => then(socket));
      });
      const { state, body } = bodyWith(800);
      let released = 0;
      const beforeLastChunk = async () => {
        released++;
      };

      expect(await postTo(port, { body, beforeLastChunk })).toEqual({ outcome, status, sentWhole: false });
      expect(released).toBe(0);
      expect(state).toMatchObject({ closed: true, ended: false });
      expect(state.pulled).toBeLessThan(400);
    },
  );

  test("post returns an early refusal while it waits for the next chunk of the body", async () => {
    const { port } = await rawSink((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 410 Early\r\ncontent-length: 0\r\n\r\n"));
    });
    async function* slow() {
      yield Buffer.from("a");
      await pause(200);
      yield Buffer.from("b");
    }
    const started = performance.now();
    const ended = await postTo(port, { body: slow(), limits: { answer: 10_000 } });
    expect(ended).toEqual({ outcome: "refused", status: 410, sentWhole: false });
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("post closes the body when a sink refuses early and resets the connection", async () => {
    const { port } = await httpSink((request, response) => {
      response.writeHead(413, { connection: "close" }).end(() => request.socket.resetAndDestroy());
    });
    for (let attempt = 0; attempt < 20; attempt++) {
      const { state, body } = bodyWith(800);
      const { outcome } = await postTo(port, { body });
      expect(["refused", "failed"]).toContain(outcome);
      expect(state).toMatchObject({ closed: true, ended: false });
    }
  });
});

describe("a status of 2xx before the end of the body", () => {
  /** Answers when the headers are there, and does with the body what it wants. */
  const acceptingEarly =
    (bodyOf: (request: IncomingMessage) => Promise<void>): RequestListener =>
    async (request, response) => {
      response.writeHead(202).flushHeaders();
      await bodyOf(request);
      response.end();
    };

  test.each([3, 800])(
    "post delivers all of %d chunks to a sink that answers 202 early and reads on",
    async (count) => {
      const got: { bytes?: number; complete?: boolean } = {};
      const { port } = await httpSink(
        acceptingEarly(async (request) => {
          await pause(50);
          got.bytes = (await bytesOf(request)).length;
          got.complete = request.complete;
        }),
      );

      expect(await postTo(port, { body: bodyWith(count).body })).toEqual(delivered);
      expect(got).toEqual({ bytes: count * 65_536, complete: true });
    },
  );

  /** What receivers of Node.js and its frameworks do with the rest of a request that they have answered. */
  const readers: Record<string, (request: IncomingMessage) => Promise<number>> = {
    "it as it comes": async (request) => (await bytesOf(request)).length,
    "it with a pause after each piece": async (request) => {
      let bytes = 0;
      for await (const piece of request) {
        bytes += piece.length;
        await pause(1);
      }
      return bytes;
    },
    "it by its events": (request) =>
      new Promise((resolve, reject) => {
        let bytes = 0;
        request.on("data", (piece: Buffer) => {
          bytes += piece.length;
        });
        request.on("end", () => resolve(bytes));
        request.on("error", reject);
      }),
  };
  const early: Record<string, RequestListener> = {
    "ends its answer": (_, response) => response.writeHead(200).end(),
    "answers with a text": (_, response) => response.writeHead(202).end("will be read"),
    "sends the head of its answer at once": (request, response) => {
      response.writeHead(200).flushHeaders();
      request.on("end", () => response.end("read"));
    },
  };
  const receivers = Object.entries(readers).flatMap(([how, read]) =>
    Object.entries(early).flatMap(([what, answer]) =>
      [httpSink, httpsSink].map(
        (start) => [start === httpSink ? "http" : "https", what, how, start, answer, read] as const,
      ),
    ),
  );
  test.each(receivers)(
    "post delivers 10 MB to a Node.js receiver over %s that %s and then reads %s",
    async (name, _, __, start, answer, read) => {
      const got: Promise<number>[] = [];
      const { port } = await start((request, response) => {
        answer(request, response);
        got.push(read(request));
      });
      const { state, body } = bodyWith(160);
      const sink = `${name}://127.0.0.1:${port}/`;

      expect(await postTo(port, { sink, body, ca: certificate.cert })).toEqual(delivered);
      expect(await Promise.all(got)).toEqual([160 * 65_536]);
      expect(state).toMatchObject({ ended: true, closed: true });
    },
  );

  test("post fails when a sink answers 200 with Connection: close and closes with the body half read", async () => {
    const { port } = await httpSink((request, response) => {
      response.writeHead(200, { connection: "close" }).end();
      request.resume();
    });
    const ended = await postTo(port, { body: bodyWith(160).body });
    expect(ended).toMatchObject({ outcome: "failed" });
  });

  test("post delivers to a sink that answers 200 early, reads all and keeps the connection open", async () => {
    const server = createTcpServer({ allowHalfOpen: true });
    const { port } = await listen(server);
    const sockets: Socket[] = [];
    server.on("connection", (socket) => {
      sockets.push(socket);
      rawAnswer("HTTP/1.1 200 Early\r\ncontent-length: 0\r\n\r\n")(socket);
    });
    const { body } = bodyWith(160);
    const ended = await postTo(port, { body, limits: { stall: 1_000 } });
    for (const socket of sockets) socket.destroy();
    expect(ended).toEqual(delivered);
  });

  test("post delivers all chunks to a sink that answers 204 early", async () => {
    let bytes = 0;
    const { port } = await rawSink((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 204 Early\r\n\r\n"));
      socket.on("data", (data) => {
        bytes += data.length;
        if (data.subarray(-5).toString() === "0\r\n\r\n") socket.end();
      });
    });

    expect(await postTo(port, { body: bodyWith(800).body })).toEqual(delivered);
    expect(bytes).toBeGreaterThan(800 * 65_536);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["ends the connection", (socket) => socket.end()],
    ["cuts the connection", (socket) => socket.destroy()],
    ["resets the connection", (socket) => socket.resetAndDestroy()],
  ])("post fails when a sink answers 202 early and %s before it has read the body", async (_, leave) => {
    const { port } = await rawSink((socket) => {
      socket.once("data", () => {
        socket.pause().write("HTTP/1.1 202 Early\r\ncontent-length: 0\r\n\r\n", () => leave(socket));
      });
    });
    const { state, body } = bodyWith(800);

    expect(await postTo(port, { body })).toMatchObject({ outcome: "failed", sentWhole: false });
    expect(state.closed).toBe(true);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["resets the connection", (socket) => socket.resetAndDestroy()],
    ["closes the connection", (socket) => socket.destroy()],
  ])(
    "post fails with sentWhole when a sink answers 202 early and %s with the last chunk unread",
    async (_, leave) => {
      const accepted = "HTTP/1.1 202 Early\r\ncontent-length: 0\r\n\r\n";
      let taken = (_: Socket) => {};
      const connection = new Promise<Socket>((resolve) => {
        taken = resolve;
      });
      const { port } = await rawSink((socket) => {
        socket.once("data", () => socket.pause().write(accepted, () => taken(socket)));
      });
      async function* body() {
        yield Buffer.from("a");
        yield Buffer.from("b");
        await connection;
        // What is left fits into what the system takes for a sink that does not read, and not into what Node.js takes.
        yield Buffer.alloc(300_000, "c");
      }
      const beforeLastChunk = async () => {
        setTimeout(async () => leave(await connection), 200);
      };

      const ended = await postTo(port, { body: body(), beforeLastChunk });

      expect(ended).toMatchObject({ outcome: "failed", sentWhole: true });
    },
  );

  test("post fails as STALLED when a sink answers 202 early and reads no more", async () => {
    const { port } = await rawSink((socket) => {
      socket.once("data", () => socket.pause().write("HTTP/1.1 202 Early\r\ncontent-length: 0\r\n\r\n"));
    });
    const ended = await postTo(port, { body: bodyWith(800).body, limits: short });
    expect(ended).toEqual({ outcome: "failed", cause: "STALLED", sentWhole: false });
  });
});

describe("the last chunk", () => {
  /** Gathers what a sink has got, and whether it saw the end. */
  function gathering() {
    const got = { bytes: 0, ended: false };
    const listener: RequestListener = (request, response) => {
      request.on("error", () => {});
      request.on("data", (data: Buffer) => {
        got.bytes += data.length;
      });
      request.on("end", () => {
        got.ended = true;
        response.writeHead(204).end();
      });
    };
    return { got, listener };
  }

  test.each([0, 1, 2, 40])(
    "post sends the last of %d chunks only after beforeLastChunk has resolved",
    async (count) => {
      const { got, listener } = gathering();
      const { port } = await httpSink(listener);
      const seen: object[] = [];
      const { state, body } = bodyWith(count);
      const beforeLastChunk = async () => {
        await expect.poll(() => got.bytes).toBe(Math.max(0, count - 1) * 65_536);
        await pause(50);
        seen.push({ ...got, pulled: state.pulled });
      };

      expect(await postTo(port, { body, beforeLastChunk })).toEqual(delivered);
      expect(seen).toEqual([{ bytes: Math.max(0, count - 1) * 65_536, ended: false, pulled: count }]);
      expect(got).toEqual({ bytes: count * 65_536, ended: true });
    },
  );

  test.each([0, 1, 40])(
    "post never sends the last of %d chunks when beforeLastChunk rejects",
    async (count) => {
      class NotRecorded extends Error {}
      const { got, listener } = gathering();
      const { port } = await httpSink(listener);
      const { state, body } = bodyWith(count);

      const posting = postTo(port, { body, beforeLastChunk: () => Promise.reject(new NotRecorded()) });

      await expect(posting).rejects.toBeInstanceOf(NotRecorded);
      await expect.poll(() => state.closed).toBe(true);
      await pause(50);
      expect(got.ended).toBe(false);
      expect(got.bytes).toBeLessThanOrEqual(Math.max(0, count - 1) * 65_536);
    },
  );

  test("post never sends the last chunk when the sink answers 503 before beforeLastChunk resolves", async () => {
    const { got, listener } = gathering();
    const { port } = await httpSink((request, response) => {
      listener(request, response);
      response.writeHead(503).end();
    });
    const ended = await postTo(port, { body: bodyWith(2).body, beforeLastChunk: () => pause(300) });
    expect(ended).toEqual({ outcome: "failed", status: 503, sentWhole: false });
    expect(got.ended).toBe(false);
  });

  test("post never sends the last chunk when the attempt ends before beforeLastChunk settles", async () => {
    const { got, listener } = gathering();
    const { port } = await httpSink(listener);
    const hooks = [
      () => new Promise<void>(() => {}),
      () => pause(400).then(() => Promise.reject(new Error("too late"))),
    ];
    for (const beforeLastChunk of hooks) {
      const ended = await postTo(port, { beforeLastChunk, limits: { attempt: 200 } });
      expect(ended).toEqual({ outcome: "failed", cause: "OVERTIME", sentWhole: false });
    }
    await pause(400);
    expect(got.ended).toBe(false);
  });

  test("post returns sentWhole when a proxy answers 502 for a sink that has the whole body", async () => {
    const { got, listener } = gathering();
    const sink = await httpSink(listener);
    const proxy = await httpSink((request, response) => {
      const forwarded = startRequest({ port: sink.port, method: "POST", headers: request.headers });
      forwarded.on("response", (stored) => {
        stored.resume();
        response.writeHead(502).end();
      });
      request.pipe(forwarded);
    });

    expect(await postTo(proxy.port)).toEqual({ outcome: "failed", status: 502, sentWhole: true });
    expect(got).toEqual({ bytes: 3 * 65_536, ended: true });
  });
});

describe("a hostile sink", () => {
  const drip = (text: string) => (socket: Socket) => {
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ""), 50);
    socket.on("close", () => clearInterval(timer)).resume();
  };
  const flood = (start: string, text: string) => (socket: Socket) => {
    socket.once("data", () => {
      socket.write(start);
      const more = () => {
        while (!socket.destroyed && socket.write(text));
      };
      socket.on("drain", more);
      more();
    });
    socket.resume();
  };
  const ok = "HTTP/1.1 200 OK\r\n";

  test.each<[string, (socket: Socket) => void, object]>([
    ["never answers", (socket) => socket.resume(), { outcome: "failed", cause: "STALLED" }],
    ["reads nothing", (socket) => socket.pause(), { outcome: "failed", cause: "STALLED" }],
    [
      "answers letter by letter",
      drip(`${ok}x: ${"y".repeat(9_999)}`),
      { outcome: "failed", cause: "STALLED" },
    ],
    [
      "sends nothing but interim answers",
      flood("", "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n".repeat(100)),
      { outcome: "failed", cause: "INTERIM_ANSWERS" },
    ],
    [
      "sends a header without end",
      flood(`${ok}x: `, "y".repeat(999)),
      { outcome: "failed", cause: "HPE_HEADER_OVERFLOW" },
    ],
    [
      "sends headers without end",
      flood(ok, "x: y\r\n".repeat(99)),
      { outcome: "failed", cause: "HPE_HEADER_OVERFLOW" },
    ],
    ["does not speak HTTP", rawAnswer("220 ready\r\n"), { outcome: "failed", cause: "HPE_INVALID_CONSTANT" }],
    [
      "sends two lengths",
      rawAnswer(`${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`),
      { outcome: "failed" },
    ],
    [
      "switches to another protocol",
      rawAnswer("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
      { outcome: "failed" },
    ],
    [
      "cuts the connection before it answers",
      (socket) => socket.once("data", () => socket.destroy()),
      { outcome: "failed" },
    ],
    [
      "resets the connection before it answers",
      (socket) => socket.once("data", () => socket.resetAndDestroy()),
      { outcome: "failed" },
    ],
    [
      "ends the connection before it answers",
      (socket) => socket.once("data", () => socket.end()),
      { outcome: "failed" },
    ],
    ["answers 200 with a body without end", flood(`${ok}\r\n`, "x".repeat(9_999)), { outcome: "delivered" }],
    [
      "answers 200 with a body that never comes",
      rawAnswer(`${ok}content-length: 9\r\n\r\n`),
      { outcome: "delivered" },
    ],
    [
      "answers 200 with half a body",
      rawAnswer(`${ok}transfer-encoding: chunked\r\n\r\n9\r\nx`),
      { outcome: "delivered" },
    ],
    [
      "answers 200 with malformed chunks",
      rawAnswer(`${ok}transfer-encoding: chunked\r\n\r\nwrong`),
      { outcome: "failed" },
    ],
  ])("post ends the attempt and the connection when a sink %s", async (_, take, ended) => {
    const sockets: Socket[] = [];
    const { port } = await rawSink((socket) => {
      sockets.push(socket);
      take(socket);
    });
    const { state, body } = bodyWith(400);
    const started = performance.now();

    const found = await postTo(port, { body, limits: short });

    expect(found).toMatchObject(ended);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(state.closed).toBe(true);
    for (const socket of sockets) socket.resume();
    await expect.poll(() => sockets.map((socket) => socket.destroyed)).toEqual([true]);
  });

  test("post fails as OVERTIME when a sink reads a little now and then until the attempt's time is over", async () => {
    const { port } = await rawSink((socket) => {
      socket.pause();
      const timer = setInterval(() => socket.read(200_000), 20);
      socket.on("close", () => clearInterval(timer));
    });
    const { state, body } = bodyWith(100_000);
    const started = performance.now();

    const ended = await postTo(port, {
      body,
      limits: { ...short, attempt: 600, perMebibyte: 1 },
    });

    expect(ended).toEqual({ outcome: "failed", cause: "OVERTIME", sentWhole: false });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(state.closed).toBe(true);
  });

  test("post fails as ABORTED when the caller aborts, whatever it waits for", async () => {
    let hasAll = () => {};
    const { port } = await rawSink((socket) => {
      let end = "";
      socket.on("data", (data) => {
        end = `${end}${data.toString("latin1")}`.slice(-5);
        if (end === "0\r\n\r\n") hasAll();
      });
    });
    const waits: Partial<PostOptions>[] = [
      {},
      { sink: `https://localhost:${port}/` },
      { sink: "https://sink.example.com/", resolve: async () => await new Promise(() => {}) },
    ];
    for (const wait of waits) {
      const { state, body } = bodyWith(3);
      const caller = new AbortController();
      // The first waits for an answer to all of the body, the others for what never comes before it.
      if (wait === waits[0]) hasAll = () => caller.abort();
      else setTimeout(() => caller.abort(), 100);
      expect(await postTo(port, { ...wait, body, signal: caller.signal })).toEqual({
        outcome: "failed",
        cause: "ABORTED",
        sentWhole: wait === waits[0],
      });
      expect(state.closed).toBe(true);
    }
    const before = await postTo(port, { signal: AbortSignal.abort() });
    expect(before).toEqual({ outcome: "failed", cause: "ABORTED", sentWhole: false });
  });

  test("post holds at most two unsent chunks while a sink does not read", async () => {
    let read = () => {};
    const { port } = await httpSink((request, response) => {
      read = () => void request.resume().on("end", () => response.end());
    });
    const { state, body } = bodyWith(2_000);
    const bufferPool: Buffer[] = [];

    const posting = postTo(port, { body, bufferPool });
    let before = -1;
    while (before !== state.pulled || state.pulled === 0) {
      before = state.pulled;
      await pause(100);
    }

    expect(state.pulled - bufferPool.length).toBeLessThanOrEqual(2);
    expect(state.pulled).toBeLessThan(500);
    read();
    expect(await posting).toEqual(delivered);
    expect(bufferPool).toHaveLength(2_000);
  });
});

describe("the address of a sink", () => {
  const sink = "https://sink.example.com";
  const ca = certificate.cert;
  const refused = { outcome: "refused", cause: "ADDRESS", sentWhole: false };

  test.each([
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["fd00:ec2::254"],
    ["::ffff:127.0.0.1"],
    ["fe80::1%eth0"],
    ["not an address"],
  ])(
    "post refuses a name with the address %s among others, and connects to none of them",
    async (address) => {
      const { port, connections } = await httpsSink(answering(200));
      for (const addresses of [[address], ["127.0.0.1", "8.8.8.8", address], [address, "127.0.0.1"]]) {
        const { state, body } = bodyWith(3);
        const ended = await postTo(port, {
          sink: `${sink}:${port}/`,
          ca,
          body,
          resolve: async () => addresses,
        });
        expect(ended).toEqual(refused);
        expect(state.pulled).toBe(0);
      }
      expect(connections()).toBe(0);
    },
  );

  test("post resolves a name once in each attempt", async () => {
    const { port, connections } = await httpsSink(answering(200));
    const answers = [["127.0.0.1"], ["192.168.0.1"], ["127.0.0.1"]];
    const names: string[] = [];
    const resolve = async (name: string) => {
      names.push(name);
      return answers.shift() ?? [];
    };
    const options = { sink: `${sink}:${port}/`, ca, resolve };

    expect(await postTo(port, options)).toEqual(delivered);
    expect(await postTo(port, options)).toEqual(refused);
    expect(await postTo(port, options)).toEqual(delivered);
    expect(await postTo(port, options)).toEqual({ outcome: "failed", cause: "NO_ADDRESS", sentWhole: false });
    expect(names).toEqual(Array.from({ length: 4 }, () => "sink.example.com"));
    expect(connections()).toBe(2);
  });

  test("post fails when the name is not found, or not in time", async () => {
    const notFound = Object.assign(new Error("getaddrinfo ENOTFOUND sink.example.com"), {
      code: "ENOTFOUND",
    });
    const missing = await postTo(1, { sink, resolve: async () => await Promise.reject(notFound) });
    expect(missing).toEqual({ outcome: "failed", cause: "ENOTFOUND", sentWhole: false });
    const forever = async () => await new Promise<never>(() => {});
    const slow = await postTo(1, { sink, resolve: forever, limits: short });
    expect(slow).toEqual({ outcome: "failed", cause: "LOOKUP_TIMEOUT", sentWhole: false });
  });

  test("post delivers to a name while name servers are silent about thirty others", async () => {
    const silent = Array.from({ length: 30 }, (_, index) => `silent-${index}.example.com`);
    const names = await nameServer({
      ...Object.fromEntries(silent.map((name) => [name, { silent: ["A", "AAAA"] }])),
      "sink.example.com": { aliases: ["a.example.net"], addresses: ["127.0.0.1"] },
    });
    const { port } = await httpsSink(answering(200));
    const resolve: PostOptions["resolve"] = (name, signal) => resolveName(name, signal, [names.address]);
    const ending = new AbortController();
    const limits = { lookup: 60_000, attempt: 60_000 };
    const ended: unknown[] = [];
    const waiting = silent.map(async (name) => {
      ended.push(await postTo(1, { sink: `https://${name}/`, resolve, limits, signal: ending.signal }));
    });
    await expect.poll(() => names.questions.length).toBeGreaterThanOrEqual(2 * silent.length);

    expect(await postTo(port, { sink: `${sink}:${port}/`, ca, resolve })).toEqual(delivered);
    expect(ended).toEqual([]);

    ending.abort();
    await Promise.all(waiting);
    expect(ended).toEqual(silent.map(() => ({ outcome: "failed", cause: "ABORTED", sentWhole: false })));
  });

  test.each([
    ["the IPv6 address", ["127.0.0.1", "fd00::1"]],
    ["one of the IPv4 addresses", ["127.0.0.1", "10.0.0.1"]],
    ["the only address", ["169.254.169.254"]],
  ])("post refuses a name when %s that its name server gives is not allowed", async (_, addresses) => {
    const names = await nameServer({ "sink.example.com": { addresses } });
    const { port, connections } = await httpsSink(answering(200));
    const resolve: PostOptions["resolve"] = (name, signal) => resolveName(name, signal, [names.address]);

    expect(await postTo(port, { sink: `${sink}:${port}/`, ca, resolve })).toEqual(refused);
    expect(connections()).toBe(0);
  });

  test("post resolves neither an address nor localhost", async () => {
    const { port } = await httpSink(answering(200));
    const resolve = () => Promise.reject(new Error("looked up"));
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await postTo(port, { sink: `http://${host}:${port}/`, resolve })).toEqual(delivered);
    }
  });

  test("post connects to the next address when one refuses the connection", async () => {
    const { port } = await httpsSink(answering(200));
    const options = { sink: `${sink}:${port}/`, ca };
    const ended = await postTo(port, { ...options, resolve: async () => ["127.0.0.2", "127.0.0.1"] });
    expect(ended).toEqual(delivered);
    const none = await postTo(port, { ...options, resolve: async () => ["127.0.0.2", "127.0.0.3"] });
    expect(none).toEqual({ outcome: "failed", cause: "ECONNREFUSED", sentWhole: false });
  });

  test("post refuses addresses that are not public when none are allowed", async () => {
    const { port, connections } = await httpsSink(answering(200));
    const options = { ca, allowed: [], resolve: async () => ["127.0.0.1"] };
    expect(await postTo(port, { ...options, sink: `${sink}:${port}/` })).toEqual(refused);
    for (const origin of [
      "http://127.0.0.1",
      "https://127.0.0.1",
      "https://localhost",
      "https://2130706433",
    ]) {
      const ended = await postTo(port, { ...options, sink: `${origin}:${port}/` });
      expect(ended).toEqual({ outcome: "refused", cause: "SINK", sentWhole: false });
    }
    expect(connections()).toBe(0);
  });

  test("post refuses the runtime API, whatever is allowed", async () => {
    const { port, connections } = await httpSink(answering(200));
    const everything = parseAllowedNetworks("0.0.0.0/0:1-65535,[::]/0:1-65535") ?? [];
    const options = { allowed: everything, runtimeApi: `127.0.0.1:${port}` };
    for (const origin of ["http://127.0.0.1", "http://127.0.0.2", "http://localhost", "http://[::1]"]) {
      expect(await postTo(port, { ...options, sink: `${origin}:${port}/` })).toEqual(refused);
    }
    const named = await postTo(port, {
      ...options,
      sink: `${sink}:${port}/`,
      resolve: async () => ["127.0.0.1"],
    });
    expect(named).toEqual(refused);
    expect(connections()).toBe(0);
    const other = await postTo(port, { ...options, runtimeApi: `127.0.0.1:${port + 1}` });
    expect(other).toEqual(delivered);
  });
});

describe("a sink over TLS", () => {
  test("post fails before the request when the certificate is of an unknown authority", async () => {
    let requests = 0;
    const { port } = await httpsSink(() => requests++);
    const sockets: Socket[] = [];
    running[0]?.on("connection", (socket: Socket) => sockets.push(socket));
    const { state, body } = bodyWith(3);

    const ended = await postTo(port, { sink: `https://localhost:${port}/`, body });

    expect(ended).toEqual({ outcome: "failed", cause: "DEPTH_ZERO_SELF_SIGNED_CERT", sentWhole: false });
    await expect.poll(() => sockets.map((socket) => socket.destroyed)).toEqual([true]);
    expect(requests).toBe(0);
    expect(state.pulled).toBe(0);
  });

  test.each(["https://other.example.com", "https://127.0.0.2"])(
    "post fails before the request when the certificate is not for %s",
    async (origin) => {
      let requests = 0;
      const server = createHttpsServer(certificate, () => requests++);
      server.listen(0, "0.0.0.0");
      await once(server, "listening");
      running.push(server);
      const { port } = server.address() as AddressInfo;
      const options = { ca: certificate.cert, resolve: async () => ["127.0.0.1"] };

      const ended = await postTo(port, { ...options, sink: `${origin}:${port}/` });

      expect(ended).toEqual({ outcome: "failed", cause: "ERR_TLS_CERT_ALTNAME_INVALID", sentWhole: false });
      expect(requests).toBe(0);
    },
  );

  test("post fails when the sink speaks TLS 1.1 at most", async () => {
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const { port } = await listen(createHttpsServer({ ...certificate, ...old }, answering(200)));
    const options = { sink: `https://localhost:${port}/`, ca: certificate.cert };
    expect(await postTo(port, options)).toMatchObject({ outcome: "failed" });
  });

  test("post fails as CONNECT_TIMEOUT when the sink does not answer the TLS handshake", async () => {
    const { port } = await rawSink((socket) => socket.resume());
    const started = performance.now();
    const ended = await postTo(port, { sink: `https://localhost:${port}/`, limits: short });
    expect(ended).toEqual({ outcome: "failed", cause: "CONNECT_TIMEOUT", sentWhole: false });
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  test("post fails when the port of an https sink does not speak TLS", async () => {
    const { port } = await httpSink(answering(200));
    const ended = await postTo(port, { sink: `https://localhost:${port}/` });
    expect(ended).toMatchObject({ outcome: "failed" });
  });
});

describe("a body that fails", () => {
  class Broken extends Error {}

  test.each([0, 1, 40])(
    "post throws the error of a body that fails after %d chunks, and never sends its end",
    async (count) => {
      const seen: { complete?: boolean } = {};
      const { port } = await httpSink((request, response) => {
        request.on("error", () => {}).resume();
        request.on("close", () => {
          seen.complete = request.complete;
          response.destroy();
        });
      });
      let connections = 0;
      running[0]?.on("connection", (socket: Socket) => {
        connections++;
        socket.on("close", () => connections--);
      });
      async function* body() {
        for (let index = 0; index < count; index++) yield Buffer.alloc(65_536, "x");
        throw new Broken();
      }

      await expect(postTo(port, { body: body() })).rejects.toBeInstanceOf(Broken);

      await expect.poll(() => connections).toBe(0);
      expect(seen.complete ?? false).toBe(false);
    },
  );

  test("post fails as ABORTED, and throws no error of the body, when the attempt was aborted", async () => {
    const { port } = await httpSink(answering(200));
    const ending = new AbortController();
    let closed = false;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          ending.abort();
          return await Promise.reject(new Broken());
        },
        return: async () => {
          closed = true;
          return { done: true, value: undefined } as const;
        },
      }),
    };

    const ended = await postTo(port, { body, signal: ending.signal });

    expect(ended).toEqual({ outcome: "failed", cause: "ABORTED", sentWhole: false });
    expect(closed).toBe(true);
  });
});

test.each(["a\r\nb: c", "a\nb", "a\u0000", "a\u007f", "é", "\u2028"])(
  "post throws before it connects when the value of a header is %j",
  async (value) => {
    const { port, connections } = await httpSink(answering(200));
    const { state, body } = bodyWith(3);
    const posting = postTo(port, { headers: { authorization: value }, body });
    await expect(posting).rejects.toThrow("header authorization is not printable ASCII");
    expect(connections()).toBe(0);
    expect(state.pulled).toBe(0);
  },
);
