import { type RequestListener, request as startRequest } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { bodyWith, closeSinks, delivered, httpSink, postTo } from "./sink-server.ts";

afterEach(closeSinks);

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
