import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { answering, bodyWith, closeSinks, httpSink, postTo, rawAnswer, rawSink } from "./sink-server.ts";

afterEach(closeSinks);

test.each([
  ["delivered", 201],
  ["refused", 410],
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
  ["Sun, 01 Mar 2026 12:00:45 GMT", { retryAfterSeconds: 45 }],
  ["-1", {}],
])("post reads the Retry-After of 429 by its clock: %s as %j", async (header, wait) => {
  const { port } = await httpSink(answering(429, { "retry-after": header }));
  const now = () => new Date("2026-03-01T12:00:00Z");
  expect(await postTo(port, { now })).toEqual({ outcome: "failed", status: 429, ...wait, sentWhole: true });
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
  const ended = await postTo(port, { body: slow(), limits: { answer: 300_000 } });
  expect(ended).toEqual({ outcome: "refused", status: 410, sentWhole: false });
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
