import type { IncomingMessage, RequestListener } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { PostOptions } from "../../../shared/sinks/post.ts";
import {
  bodyWith,
  bytesOf,
  certificate,
  closeSinks,
  delivered,
  httpSink,
  httpsSink,
  listen,
  postTo,
  rawAnswer,
  rawSink,
  short,
} from "./sink-server.ts";

afterEach(closeSinks);

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
  ["answers letter by letter", drip(`${ok}x: ${"y".repeat(9_999)}`), { outcome: "failed", cause: "STALLED" }],
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
])("an attempt ends the attempt and the connection when a sink %s", async (_, take, ended) => {
  const sockets: Socket[] = [];
  const { port } = await rawSink((socket) => {
    sockets.push(socket);
    take(socket);
  });
  const { state, body } = bodyWith(400);

  const found = await postTo(port, { body, limits: short });

  expect(found).toMatchObject(ended);
  expect(state.closed).toBe(true);
  for (const socket of sockets) socket.resume();
  await expect.poll(() => sockets.map((socket) => socket.destroyed)).toEqual([true]);
});

test("an attempt fails as OVERTIME when a sink reads a little now and then until the attempt's time is over", async () => {
  const { port } = await rawSink((socket) => {
    socket.pause();
    const timer = setInterval(() => socket.read(200_000), 20);
    socket.on("close", () => clearInterval(timer));
  });
  const { state, body } = bodyWith(100_000);

  const ended = await postTo(port, {
    body,
    limits: { ...short, attempt: 600, perMebibyte: 1 },
  });

  expect(ended).toEqual({ outcome: "failed", cause: "OVERTIME", sentWhole: false });
  expect(state.closed).toBe(true);
});

test("an attempt fails as ABORTED with sentWhole when the caller aborts while the sink does not answer", async () => {
  const caller = new AbortController();
  const { port } = await rawSink((socket) => {
    let got = "";
    socket.on("data", (data) => {
      got += data.toString("latin1");
      if (got.split("\r\n\r\n")[1]?.length === 3 * 65_536) caller.abort();
    });
  });
  const { state, body } = bodyWith(3);

  const ended = await postTo(port, { body, signal: caller.signal });

  expect(ended).toEqual({ outcome: "failed", cause: "ABORTED", sentWhole: true });
  expect(state.closed).toBe(true);
});

test.each<[string, Partial<PostOptions>]>([
  ["TLS handshake", { sink: "https://localhost" }],
  ["look-up", { sink: "https://sink.example.com", resolve: () => new Promise(() => {}) }],
])("an attempt fails as ABORTED when the caller aborts during the %s", async (_, options) => {
  const { port } = await rawSink((socket) => socket.resume());
  const { state, body } = bodyWith(3);
  const caller = new AbortController();
  setTimeout(() => caller.abort(), 100);

  const ended = await postTo(port, {
    ...options,
    sink: `${options.sink}:${port}/`,
    body,
    signal: caller.signal,
  });

  expect(ended).toEqual({ outcome: "failed", cause: "ABORTED", sentWhole: false });
  expect(state.closed).toBe(true);
});

test("an attempt fails as ABORTED without a connection when the caller has aborted before", async () => {
  const { port, connections } = await rawSink((socket) => socket.resume());

  const ended = await postTo(port, { signal: AbortSignal.abort() });

  expect(ended).toEqual({ outcome: "failed", cause: "ABORTED", sentWhole: false });
  expect(connections()).toBe(0);
});

test("an attempt holds at most two unsent chunks while a sink does not read", async () => {
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

describe("a sink that answers before it has the whole body", () => {
  /** What receivers of Node.js and its frameworks do with the rest of a request that they have answered. */
  const readers: Record<string, (request: IncomingMessage) => Promise<number>> = {
    "at once": async (request) => (await bytesOf(request)).length,
    slowly: async (request) => {
      let bytes = 0;
      for await (const piece of request) {
        bytes += piece.length;
        await pause(1);
      }
      return bytes;
    },
  };
  const early: Record<string, RequestListener> = {
    "ends its answer": (_, response) => response.writeHead(200).end(),
    "answers with a text": (_, response) => response.writeHead(202).end("will be read"),
    "sends only the head of its answer": (request, response) => {
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
    "an attempt delivers 10 MB over %s to a Node.js receiver that %s, then reads %s",
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

  test("an attempt fails when a sink answers 200 with Connection: close and closes with the body half read", async () => {
    const { port } = await httpSink((request, response) => {
      response.writeHead(200, { connection: "close" }).end();
      request.resume();
    });
    const ended = await postTo(port, { body: bodyWith(160).body });
    expect(ended).toMatchObject({ outcome: "failed" });
  });

  test("an attempt delivers to a sink that answers 200 early, reads all and keeps the connection open", async () => {
    const { port, server } = await listen(createTcpServer({ allowHalfOpen: true }));
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

  test.each<[string, (socket: Socket) => void]>([
    ["ends the connection", (socket) => socket.end()],
    ["cuts the connection", (socket) => socket.destroy()],
    ["resets the connection", (socket) => socket.resetAndDestroy()],
  ])(
    "an attempt fails when a sink answers 202 early and %s before it has read the body",
    async (_, leave) => {
      const { port } = await rawSink((socket) => {
        socket.once("data", () => {
          socket.pause().write("HTTP/1.1 202 Early\r\ncontent-length: 0\r\n\r\n", () => leave(socket));
        });
      });
      const { state, body } = bodyWith(800);

      expect(await postTo(port, { body })).toMatchObject({ outcome: "failed", sentWhole: false });
      expect(state.closed).toBe(true);
    },
  );

  test.each<[string, (socket: Socket) => void]>([
    ["resets the connection", (socket) => socket.resetAndDestroy()],
    ["closes the connection", (socket) => socket.destroy()],
  ])(
    "an attempt fails with sentWhole when a sink answers 202 early and %s with the last chunk unread",
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

      const ended = await postTo(port, { body: body(), bodyBytes: 300_002, beforeLastChunk });

      expect(ended).toMatchObject({ outcome: "failed", sentWhole: true });
    },
  );

  test("an attempt fails as STALLED when a sink answers 202 early and reads no more", async () => {
    const { port } = await rawSink((socket) => {
      socket.once("data", () => socket.pause().write("HTTP/1.1 202 Early\r\ncontent-length: 0\r\n\r\n"));
    });
    const ended = await postTo(port, { body: bodyWith(800).body, limits: short });
    expect(ended).toEqual({ outcome: "failed", cause: "STALLED", sentWhole: false });
  });
});
