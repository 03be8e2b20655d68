import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { bodyOf } from "../../../functions/population-density/answer/json.ts";
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
  rawSink,
} from "./sink-server.ts";

afterEach(closeSinks);

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
      basisOf: () => undefined,
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

describe("a body that fails", () => {
  class Broken extends Error {}

  test.each([0, 1, 40])(
    "post throws the error of a body that fails after %d chunks, and never sends its end",
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
