import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { bodyOf } from "../../../functions/population-density/answer/json.ts";
import packageJson from "../../../package.json" with { type: "json" };
import {
  answering,
  bodyWith,
  bytesOf,
  certificate,
  closeSinks,
  delivered,
  httpSink,
  httpsSink,
  postTo,
  rawAnswer,
  rawSink,
} from "./sink-server.ts";

afterEach(closeSinks);

/** Time limits pass only where a test advances the time. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("the body and the headers", () => {
  test.each([
    ["http", httpSink, "http://127.0.0.1"],
    ["https to localhost", httpsSink, "https://localhost"],
    ["https to an address", httpsSink, "https://127.0.0.1"],
    ["https to a name", httpsSink, "https://sink.example.com"],
  ])("an attempt delivers exactly the given bytes and headers over %s", async (_, start, origin) => {
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
      bodyBytes: 135_537,
      ca: certificate.cert,
      resolve: async () => ["127.0.0.1"],
    });

    expect(ended).toEqual(delivered);
    expect(got.bytes?.equals(Buffer.concat(chunks))).toBe(true);
    expect(got.request?.method).toBe("POST");
    expect(got.request?.url).toBe("/a/sink?b=c&d=%20");
    expect(got.request?.headers).toEqual({
      ...headers,
      accept: "*/*",
      "user-agent": `network-capabilities-service/${packageJson.version}`,
      host: `${new URL(origin).hostname}:${port}`,
      "content-length": "135537",
    });
  });

  test("an attempt delivers the bytes of an answer although their memory is used again", async () => {
    const cells = Uint16Array.from({ length: 1_024 }, (_, cell) => cell);
    const tiles = Array.from({ length: 100 }, () => ({ geohash: "ezjmg", cells }));
    const answer = {
      status: "SUPPORTED_AREA",
      precision: 7,
      tiles,
      hours: [0, 1],
      openHour: () => undefined,
      basisOf: () => undefined,
    } as const;
    const got: Buffer[] = [];
    const { port } = await httpsSink(async (request, response) => {
      got.push(await bytesOf(request));
      response.end();
    });
    const expected: Buffer[] = [];
    for await (const chunk of bodyOf(answer)) expected.push(chunk);
    const bufferPool: Buffer[] = [];

    const ended = await postTo(port, {
      sink: `https://localhost:${port}/`,
      body: bodyOf(answer, bufferPool),
      bodyBytes: Buffer.concat(expected).length,
      bufferPool,
      ca: certificate.cert,
    });

    expect(ended).toEqual(delivered);
    expect(got[0]?.equals(Buffer.concat(expected))).toBe(true);
    expect(expected.length).toBeGreaterThan(100);
    expect(bufferPool.length).toBeLessThan(5);
  });

  test("an attempt gives a sink more time for each MiB that it reads", async () => {
    stopTime();
    const { port } = await httpSink(async (request, response) => {
      await bytesOf(request);
      vi.advanceTimersByTime(300);
      response.writeHead(204).end();
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

  test("an attempt does not count the time that the body takes as a stall of the sink", async () => {
    stopTime();
    const { port } = await httpSink(answering(200));
    async function* slow() {
      yield Buffer.from("a");
      vi.advanceTimersByTime(300);
      yield Buffer.from("b");
    }
    const ended = await postTo(port, { body: slow(), bodyBytes: 2, limits: { stall: 150 } });
    expect(ended).toEqual(delivered);
  });
});

describe("a body that fails", () => {
  class Broken extends Error {}

  test.each([0, 1, 40])(
    "an attempt throws the error of a body that fails after %d chunks, and never sends its end",
    async (count) => {
      const seen: { complete?: boolean } = {};
      const { port, server } = await httpSink((request, response) => {
        request.on("error", () => {}).resume();
        request.on("close", () => {
          seen.complete = request.complete;
          response.destroy();
        });
      });
      let connections = 0;
      server.on("connection", (socket: Socket) => {
        connections++;
        socket.on("close", () => connections--);
      });
      async function* body() {
        for (let index = 0; index < count; index++) yield Buffer.alloc(65_536, "x");
        throw new Broken();
      }

      await expect(postTo(port, { body: body(), bodyBytes: 41 * 65_536 })).rejects.toBeInstanceOf(Broken);

      await expect.poll(() => connections).toBe(0);
      expect(seen.complete ?? false).toBe(false);
    },
  );

  test("an attempt fails as ABORTED, and throws no error of the body, when the attempt was aborted", async () => {
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
  "an attempt throws before it connects when the value of a header is %j",
  async (value) => {
    const { port, connections } = await httpSink(answering(200));
    const { state, body } = bodyWith(3);
    const posting = postTo(port, { headers: { authorization: value }, body });
    await expect(posting).rejects.toThrow("header authorization is not printable ASCII");
    expect(connections()).toBe(0);
    expect(state.pulled).toBe(0);
  },
);

describe("the answer of a sink", () => {
  test.each([
    ["delivered", 201],
    ["refused", 307],
    ["refused", 410],
    ["failed", 503],
  ])(
    "an attempt returns %s after one connection when the sink answers %d, and follows nothing",
    async (outcome, status) => {
      const elsewhere = await httpSink(answering(200));
      const headers = { "retry-after": "-1", location: `http://127.0.0.1:${elsewhere.port}/` };
      const { port, connections } = await httpSink(answering(status, headers, "nobody reads this"));
      expect(await postTo(port)).toEqual({ outcome, status, sentWhole: true });
      expect([connections(), elsewhere.connections()]).toEqual([1, 0]);
    },
  );

  test("a sink that answers 429 with a Retry-After 45 s from now is called again after 45 s", async () => {
    const { port } = await httpSink(answering(429, { "retry-after": "Sun, 01 Mar 2026 12:00:45 GMT" }));
    const now = () => new Date("2026-03-01T12:00:00Z");
    expect(await postTo(port, { now })).toEqual({
      outcome: "failed",
      status: 429,
      retryAfterSeconds: 45,
      sentWhole: true,
    });
  });

  test.each([
    ["reads on", 413, "refused", (socket: Socket) => socket],
    ["reads no more", 413, "refused", (socket: Socket) => socket.pause()],
    ["reads no more", 503, "failed", (socket: Socket) => socket.pause()],
  ])(
    "an attempt stops sending to a sink that %s after answering %d before the end of the body",
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

  test("an attempt returns an early refusal while it waits for the next chunk of the body", async () => {
    const refused = Promise.withResolvers<void>();
    const { port } = await rawSink((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 410 Early\r\ncontent-length: 0\r\n\r\n"));
      socket.once("close", () => refused.resolve());
    });
    async function* slow() {
      yield* [Buffer.from("a"), Buffer.from("b")];
      await refused.promise;
      yield Buffer.from("c");
    }
    const ended = await postTo(port, { body: slow(), bodyBytes: 3, limits: { answer: 300_000 } });
    expect(ended).toEqual({ outcome: "refused", status: 410, sentWhole: false });
  });

  test("an attempt closes the body when a sink refuses early and resets the connection", async () => {
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

  test.each([2, 4])(
    "an attempt of 3 chunks throws, and never sends the last, when its length is said to be that of %d",
    async (said) => {
      const { got, listener } = gathering();
      const { port } = await httpSink(listener);
      await expect(postTo(port, { bodyBytes: said * 65_536 })).rejects.toThrow("another length");
      await pause(50);
      expect(got.ended).toBe(false);
      expect(got.bytes).toBeLessThan(3 * 65_536);
    },
  );

  test("post holds the last bytes back, not an empty chunk after them", async () => {
    const { got, listener } = gathering();
    const { port } = await httpSink(listener);
    async function* body() {
      yield* [Buffer.from("a"), Buffer.from("b"), Buffer.alloc(0)];
    }
    const beforeLastChunk = async () => {
      await expect.poll(() => got.bytes).toBe(1);
      await pause(50);
      expect(got).toEqual({ bytes: 1, ended: false });
    };
    expect(await postTo(port, { body: body(), bodyBytes: 2, beforeLastChunk })).toEqual(delivered);
  });

  test.each([0, 1, 40])(
    "an attempt never sends the last of %d chunks when beforeLastChunk rejects",
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

  test("an attempt never sends the last chunk when the sink answers 503 before beforeLastChunk resolves", async () => {
    const { got, listener } = gathering();
    const closed = Promise.withResolvers<void>();
    const { port } = await httpSink((request, response) => {
      listener(request, response);
      request.socket.once("close", () => closed.resolve());
      response.writeHead(503).end();
    });
    const ended = await postTo(port, { body: bodyWith(2).body, beforeLastChunk: () => closed.promise });
    await closed.promise;
    expect(ended).toEqual({ outcome: "failed", status: 503, sentWhole: false });
    expect(got.ended).toBe(false);
  });

  test("an attempt never sends the last chunk when the attempt ends before beforeLastChunk settles", async () => {
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
});
