import type { IncomingMessage, RequestListener } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
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
  "at once": async (request) => (await bytesOf(request)).length,
  slowly: async (request) => {
    let bytes = 0;
    for await (const piece of request) {
      bytes += piece.length;
      await pause(1);
    }
    return bytes;
  },
  "by events": (request) =>
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
  "post delivers 10 MB over %s to a Node.js receiver that %s, then reads %s",
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
