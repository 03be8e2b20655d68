import { once } from "node:events";
import type { RequestListener } from "node:http";
import { deflateSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { fetchKeys } from "../../functions/authorizer/fetch-keys.ts";
import { ellipticKey, serverOfTest } from "../support/signed.ts";

const { jwk } = ellipticKey();

/** Fetches from a server that answers in this way; says how that ended. */
async function fetchFrom(answer: RequestListener) {
  const server = await serverOfTest(answer);
  const [fetched] = await Promise.allSettled([fetchKeys(server.url)]);
  return { fetched, requests: server.requests() };
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

test("the authorizer returns each key with all of its members", async () => {
  const set = { keys: [{ ...jwk, x5t: "thumb" }], more: true };

  const { fetched } = await fetchFrom(answering(200, JSON.stringify(set)));

  expect(fetched).toEqual({ status: "fulfilled", value: { keys: [{ ...jwk, x5t: "thumb" }] } });
});

const refused: Record<string, RequestListener> = {
  "an answer with status 500": answering(500, JSON.stringify({ keys: [jwk] })),
  "an answer with status 404": answering(404, JSON.stringify({ keys: [jwk] })),
  "an answer with status 204": answering(204, ""),
  "an answer that is not JSON": answering(200, "<html></html>"),
  "half a JSON document": answering(200, '{"keys":['),
  "a set without keys": answering(200, "{}"),
  "keys that are not a list": answering(200, JSON.stringify({ keys: { 0: jwk } })),
  "an answer of more than 256 KiB": answering(
    200,
    JSON.stringify({ keys: [jwk], padding: "x".repeat(256 * 1024) }),
  ),
  "an answer of more than 256 KiB without a Content-Length": (_, response) => {
    response.writeHead(200, { "transfer-encoding": "chunked" });
    for (let chunk = 0; chunk < 40; chunk++) response.write(" ".repeat(8 * 1024));
    response.end(JSON.stringify({ keys: [jwk] }));
  },
  "a connection that is cut": (request) => void request.socket.destroy(),
  "another protocol than HTTP": ({ socket }) =>
    void socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
};

test.each(Object.entries(refused))("the authorizer rejects %s and does not ask again", async (_, answer) => {
  const { fetched, requests } = await fetchFrom(answer);

  expect(fetched?.status).toBe("rejected");
  expect(requests).toBe(1);
});

test("the authorizer rejects every redirect and does not follow it", async () => {
  const elsewhere = await serverOfTest(answering(200, JSON.stringify({ keys: [jwk] })));

  const answers = await Promise.all(
    [301, 302, 303, 307, 308].map((status) =>
      fetchFrom(answering(status, "", { location: `${elsewhere.url}/keys` })),
    ),
  );

  expect(answers.map(({ fetched }) => fetched?.status)).toEqual(Array(5).fill("rejected"));
  expect(elsewhere.requests()).toBe(0);
});

test("the authorizer rejects after two seconds when no response or only a part of it comes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const bothAsked = Promise.withResolvers<void>();
  const ask = () => {
    if (++asked === 2) bothAsked.resolve();
  };
  const slow: RequestListener = (_, response) => {
    response.writeHead(200).write('{"keys":[', ask);
    const drip = setInterval(() => response.write(" "), 100);
    response.on("close", () => clearInterval(drip));
  };

  const fetching = [fetchFrom(ask), fetchFrom(slow)];
  let ended = 0;
  for (const each of fetching) void each.then(() => ended++);
  await bothAsked.promise;
  await vi.advanceTimersByTimeAsync(1_999);
  expect(ended).toBe(0);
  await vi.advanceTimersByTimeAsync(1);

  for (const { fetched } of await Promise.all(fetching)) {
    expect(fetched).toMatchObject({ status: "rejected", reason: { name: "TimeoutError" } });
  }
});

test("the authorizer rejects a body that is packed six times, closes its connection, and does not crash", async () => {
  const crashes: unknown[] = [];
  const onCrash = (error: unknown) => void crashes.push(error);
  process.on("uncaughtException", onCrash);
  onTestFinished(() => void process.off("uncaughtException", onCrash));
  let closed: Promise<unknown> | undefined;

  const { fetched } = await fetchFrom((_, response) => {
    closed = once(response, "close");
    response.writeHead(200, { "content-encoding": "gzip, gzip, gzip, gzip, gzip, gzip" }).write("{}");
  });
  await closed;
  await new Promise(setImmediate);

  expect(fetched?.status).toBe("rejected");
  expect(crashes).toEqual([]);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
])("the authorizer reads keys that are packed by %s, up to 256 KiB", async (encoding, pack) => {
  const answer =
    (padding: number): RequestListener =>
    (_, response) => {
      const set = JSON.stringify({ keys: [jwk], padding: "x".repeat(padding) });
      response.writeHead(200, { "content-encoding": encoding }).end(pack(set));
    };

  const [small, large] = await Promise.all([fetchFrom(answer(0)), fetchFrom(answer(256 * 1024))]);

  expect(small.fetched).toEqual({ status: "fulfilled", value: { keys: [jwk] } });
  expect(large.fetched?.status).toBe("rejected");
});
