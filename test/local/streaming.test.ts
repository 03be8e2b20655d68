import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { streamedReply } from "../../tools/local/gateway/streamed-reply.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { useSample } from "./started-sample.ts";

const service = useSample();

/** A response, returned as soon as its headers have arrived. */
async function begin(target: string): Promise<IncomingMessage> {
  const [response] = await once(get(`${service().url}/${target}`, { agent: false }), "response");
  return response;
}

/** A whole response. */
async function all(target: string) {
  const response = await begin(target);
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test("a streamed response has the status and headers of its metadata, no length, and the whole body", async () => {
  const { status, headers, body } = await all("streamed?do=words");
  expect({ status, body }).toEqual({ status: 201, body: "first second third" });
  expect(headers).toMatchObject({
    "content-type": "text/plain",
    "x-amzn-remapped-www-authenticate": "Bearer",
    "set-cookie": ["a=1", "b=2"],
    "transfer-encoding": "chunked",
  });
  expect(headers).not.toHaveProperty("content-length");
});

test("a streamed response is forwarded while the function still writes", async () => {
  const server = createServer();
  const requested = once(server, "request");
  const { url, close } = await listen(server, 0);
  onTestFinished(() => close());
  const response = await begin(`streamed?do=until&address=${url}`);
  const chunks = response[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe("first ");
  const [, waiting] = await requested;
  waiting.end();
  expect(String((await chunks.next()).value)).toBe("second");
  expect((await chunks.next()).done).toBe(true);
});

const mebibyte = 1_048_576;

test("npm start sends all bytes of a streamed response of 7 MB", async () => {
  const { body } = await all(`streamed?do=large&bytes=${7 * mebibyte}`);
  expect(body.length).toBe(7 * mebibyte);
});

test("a streamed response sends 6 MB at once, and what follows at 2 MB a second", async () => {
  async function* written() {
    yield Buffer.concat([Buffer.from('{"statusCode":200}'), Buffer.alloc(8)]);
    for (let sent = 0; sent < 8; sent++) yield Buffer.alloc(mebibyte);
  }
  let now = 0;
  const wait = async (milliseconds: number) => {
    now += milliseconds;
  };
  const { body } = await streamedReply(written(), { now: () => now, wait });
  const sentAt: number[] = [];
  for await (const _ of body) sentAt.push(now);
  expect(sentAt).toEqual([0, 0, 0, 0, 0, 0, 500, 1_000]);
});

test("a caller gets 502 when a streaming function fails before it writes", async () => {
  const { status, body } = await all("streamed?do=fail");
  expect({ status, body }).toEqual({ status: 502, body: '{"code":"INTERNAL"}' });
  expect(service().logs.join("")).toContain("INTEGRATION_FAILURE");
});

test.each(["failLate", "close", "forget"])(
  "a streamed response is cut off when the function fails after it has begun: %s",
  async (how) => {
    const response = await begin(`streamed?do=${how}`);
    expect(response.statusCode).toBe(201);
    await expect(text(response)).rejects.toThrow("aborted");
    expect(service().logs.join("")).toContain("The response was cut off");
  },
);

test("a streamed response that has ended is whole even if its function exits then", async () => {
  expect(await all("streamed?do=exit")).toMatchObject({ status: 201, body: "whole" });
});

test.each([
  ["the stream has no metadata", "streamed?do=plain"],
  ["the stream was ended without a write", "streamed?do=onlyEnd"],
  ["the metadata exceed 16 KB", "streamed?do=words&headerBytes=17000"],
  ["the function returns a result", "streamed/of-a-result"],
  ["the integration does not stream", "collected?do=words"],
])("a caller of a streaming function gets 502 when %s", async (_, target) => {
  expect(await all(target)).toMatchObject({ status: 502, body: '{"code":"INTERNAL"}' });
});

test("the integration's time-out yields 504 before a streamed response has begun and cuts it off afterwards", async () => {
  expect(await all("streamed/brief?do=hang")).toMatchObject({ status: 504 });
  let response: IncomingMessage;
  do {
    // On a busy machine half a second may pass before the function begins to write, although it is warm.
    await all("streamed?do=words");
    response = await begin("streamed/brief?do=forget");
  } while (response.statusCode === 504);
  await expect(text(response)).rejects.toThrow("aborted");
});

test("a streaming function runs to its end after the caller has disconnected", async () => {
  const bytes = 5 * 1_048_576 + 65_536;
  const response = await begin(`streamed?do=large&bytes=${bytes}`);
  response.destroy();
  await expect.poll(() => service().logs.join("")).toContain(`{"written":${bytes}}`);
});
