import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { streamedReply } from "../../tools/local/gateway/streamed-reply.ts";
import { InvocationError } from "../../tools/local/lambda/invocation-error.ts";
import { InvocationStream } from "../../tools/local/lambda/invocation-stream.ts";
import { methodOf, openGate, useFunctions, useGateways } from "./sample.ts";

/** Streams what the query string, or the event itself, asks for. */
const source = `
import { once } from "node:events";
const { HttpResponseStream, streamifyResponse } = awslambda;
const headers = { "Content-Type": "text/plain", "WWW-Authenticate": "Bearer", "Content-Length": "7" };
const metadata = { statusCode: 201, headers, multiValueHeaders: { "Set-Cookie": ["a=1", "b=2"] } };
const streams = {
  words: async (stream) => { stream.write("first "); stream.write(Buffer.from("second ")); stream.end("third"); },
  until: async (stream, { address }) => { stream.write("first "); await fetch(address); stream.end("second"); },
  large: async (stream, { bytes }) => {
    for (let left = Number(bytes); left > 0; left -= 65_536)
      if (!stream.write(Buffer.alloc(65_536, "x"))) await once(stream, "drain");
    stream.end();
    console.log(JSON.stringify({ written: Number(bytes) }));
  },
  failEarly: () => { throw new TypeError("a secret of the inside"); },
  failLate: async (stream) => { stream.write("first "); throw new TypeError("a secret of the inside"); },
  forget: (stream) => { stream.write("first "); },
  destroy: (stream) => { stream.write("first "); setImmediate(() => stream.destroy()); },
  exit: (stream) => { stream.on("finish", () => process.exit()); stream.write("whole"); stream.end(); },
  onlyEnd: (stream) => { stream.end("no metadata"); },
};
export const handler = streamifyResponse(async (event, stream) => {
  const asked = event.queryStringParameters ?? event;
  if (asked.do === "plain") { stream.write("no metadata"); return void stream.end(); }
  const long = { ...headers, "x-long": "x".repeat(Number(asked.headerBytes ?? 0)) };
  await streams[asked.do](HttpResponseStream.from(stream, { ...metadata, headers: long }), asked);
});
`;

const { functions, logs } = useFunctions(source, { sample: {}, brief: { timeoutSeconds: 0.5 } });
const open = useGateways();
const methods = [methodOf("/streamed", { streamed: true }), methodOf("/collected")];

let gateway: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  const invoke = (id: string, event: unknown) => functions().invoke(id, event);
  gateway = await open({ methods }, { invoke, stream: (id, event) => functions().stream(id, event) });
});

test("a function streams words → status and headers of its metadata, no length, and the whole body", async () => {
  const { status, headers, body } = await gateway.send("/streamed?do=words");
  expect({ status, body }).toEqual({ status: 201, body: "first second third" });
  expect(headers).toMatchObject({
    "content-type": "text/plain",
    "x-amzn-remapped-www-authenticate": "Bearer",
    "set-cookie": ["a=1", "b=2"],
    "transfer-encoding": "chunked",
  });
  expect(headers).not.toHaveProperty("content-length");
});

test("a function waits in the middle of its stream → the caller has what was written before", async () => {
  const { address, letGo } = await openGate();
  const response = await gateway.begin(`/streamed?do=until&address=${address}`);
  const chunks = response[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe("first ");
  await letGo();
  expect(String((await chunks.next()).value)).toBe("second");
  expect((await chunks.next()).done).toBe(true);
});

const mebibyte = 1_048_576;

test("a function streams 7 MB → the caller gets all of it", async () => {
  const { body } = await gateway.send(`/streamed?do=large&bytes=${7 * mebibyte}`);
  expect(body.length).toBe(7 * mebibyte);
});

test("a function streams 8 MB at once → 6 MB are sent at once, and what follows at 2 MB a second", async () => {
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

test.each([
  ["fails before it writes", "/streamed?do=failEarly"],
  ["writes no metadata", "/streamed?do=plain"],
  ["ends its stream without a write", "/streamed?do=onlyEnd"],
  ["writes more than 16 KB of metadata", "/streamed?do=words&headerBytes=17000"],
  ["streams although its method does not", "/collected?do=words"],
])("a streaming function %s → 503 without a detail", async (_, target) => {
  const { status, body } = await gateway.send(target);
  expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 503, code: "UNAVAILABLE" });
  expect(body).not.toContain("inside");
});

test.each([
  ["failLate", "sample", { errorType: "TypeError" }],
  ["destroy", "sample", { errorType: "Error", message: "socket hang up" }],
  ["forget", "brief", { errorType: "Sandbox.Timedout" }],
])(
  "a stream is broken by %s → it ends with that error, and another stream of the same thread goes on",
  async (how, id, error) => {
    const { address, reached, letGo } = await openGate();
    const other = functions().stream("sample", { do: "until", address });
    await reached;
    const broken = async () => text(await functions().stream(id, { do: how }));
    await expect(broken()).rejects.toMatchObject(error);
    await letGo();
    expect(await text(await other)).toMatch(/first second$/);
  },
);

test("a caller disconnects → the function writes to its end all the same", async () => {
  const bytes = 5 * mebibyte + 65_536;
  const response = await gateway.begin(`/streamed?do=large&bytes=${bytes}`);
  response.destroy();
  await expect.poll(() => logs.join("")).toContain(`{"written":${bytes}}`);
});

/** A response that has begun, and to which nothing more is written. */
function begun(): InvocationStream {
  const stream = new InvocationStream(() => {});
  stream.receive(Buffer.concat([Buffer.from('{"statusCode":201}'), Buffer.alloc(8), Buffer.from("first ")]));
  return stream;
}

test("a function fails after its response has begun → the response is cut off, and the log says why", async () => {
  const stream = begun();
  const { begin, logs: told } = await open({ methods }, { stream: async () => stream });
  const response = await begin("/streamed");
  expect(response.statusCode).toBe(201);
  stream.end(new InvocationError("TypeError", "late"));
  await expect(text(response)).rejects.toThrow("aborted");
  await expect.poll(() => told.join("")).toMatch(/The response was cut off.*late/);
});

test("the integration's time ends → 504 before a response has begun, and afterwards the response is cut off", async () => {
  const sent = async (stream: () => Promise<InvocationStream>) => {
    const { begin } = await open({ methods }, { stream, deadlineFactor: 0.001 });
    return await begin("/streamed");
  };
  expect((await sent(() => new Promise(() => {}))).statusCode).toBe(504);
  const response = await sent(async () => begun());
  expect(response.statusCode).toBe(201);
  await expect(text(response)).rejects.toThrow("aborted");
});

// The last of the tests: it ends the thread that they share.
test("a stream has ended and its function exits then → the caller gets all of it", async () => {
  expect(await gateway.send("/streamed?do=exit")).toMatchObject({ status: 201, body: "whole" });
});
