import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod/mini";
import { endpoint } from "../../../shared/endpoint.ts";
import type { Handle } from "../../../shared/http/request.ts";
import { serveStreamed } from "../../../shared/http/serve-streamed.ts";
import { captureOutput, eventOf } from "../../support/pipeline.ts";
import { callStreamed } from "../../support/streamed.ts";

const list = endpoint({
  id: "notes/list",
  operationId: "listNotes",
  summary: "List notes",
  description: "Notes.",
  method: "POST",
  path: "/notes/list",
  aliases: [],
  scope: null,
  publicBecause: "It is a test.",
  responses: { 200: z.array(z.string()), 202: z.object({ id: z.string() }) },
  streamed: true,
  errors: ["NOT_FOUND"],
});

const calling = (handle: Handle<typeof list>, ...rest: [event?: object, how?: object]) =>
  callStreamed(serveStreamed(list, handle), rest[0] ?? eventOf(), rest[1]);

/** JSON text in chunks of 64 KiB, of which one throws if that is asked for. */
async function* notes(count: number, failingAt = count): AsyncGenerator<Buffer> {
  yield Buffer.from("[");
  for (let index = 0; index < count; index++) {
    if (index === failingAt) throw new RangeError("a phone number");
    yield Buffer.from(`"${"x".repeat(65_533)}",`);
  }
  yield Buffer.from('""]');
}

let output: ReturnType<typeof captureOutput>;
const lines = (id: string) =>
  output
    .text()
    .split("\n")
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line));

beforeEach(() => {
  output = captureOutput();
});
afterEach(() => output.stop());

test("a streamed endpoint sends every chunk with the usual headers and logs one line with the bytes", async () => {
  const { statusCode, headers, body, fault } = await calling(async ({ stream }) => stream(200, notes(100)));
  expect({ statusCode, fault }).toEqual({ statusCode: 200, fault: undefined });
  expect(headers).toMatchObject({ "content-type": "application/json", vary: "accept-encoding" });
  expect(headers["x-correlator"]).toMatch(/./);
  expect(JSON.parse(String(body))).toHaveLength(101);
  expect(lines("NCS-001")).toMatchObject([{ status: 200, bytes: body.length, operation: "listNotes" }]);
  expect(lines("NCS-001")[0].firstByteMilliseconds).toBeLessThanOrEqual(lines("NCS-001")[0].milliseconds);
});

test("a streamed endpoint sends a reply with a body of its schema, or a declared error", async () => {
  const accepted = await calling(async ({ reply }) => reply(202, { id: "a" }));
  expect([accepted.statusCode, String(accepted.body)]).toEqual([202, '{"id":"a"}']);
  const refused = await calling(({ refuse }) => Promise.reject(refuse("NOT_FOUND")));
  expect([refused.statusCode, JSON.parse(String(refused.body)).code]).toEqual([404, "NOT_FOUND"]);
  expect([accepted.fault, refused.fault]).toEqual([undefined, undefined]);
});

test("a streamed endpoint answers 504 when the first chunk misses the deadline", async () => {
  const waiting = async function* (): AsyncGenerator<Buffer> {
    yield await new Promise<Buffer>(() => {});
  };
  const { statusCode } = await calling(async ({ stream }) => stream(200, waiting()), eventOf(), {
    getRemainingTimeInMillis: () => 300,
  });
  expect(statusCode).toBe(504);
});

test.each(["identity", "gzip"])(
  "a streamed endpoint cuts the response at a fault after the first chunk, with Accept-Encoding %s",
  async (accepted) => {
    const event = eventOf({ headers: { "accept-encoding": accepted } });
    const large = async function* () {
      yield Buffer.from(`["${"x".repeat(65_533)}",`);
      yield* notes(5, 3);
    };
    const { statusCode, headers, body, fault } = await calling(
      async ({ stream }) => stream(200, large()),
      event,
    );
    expect(statusCode).toBe(200);
    expect(headers["content-encoding"]).toBe(accepted === "gzip" ? "gzip" : undefined);
    if (accepted === "gzip") expect(() => gunzipSync(body)).toThrow("unexpected end of file");
    else expect(() => JSON.parse(String(body))).toThrow(SyntaxError);
    expect(fault).toMatchObject({ name: "ResponseCut", message: "" });
    expect(lines("NCS-002")).toHaveLength(1);
    expect(lines("NCS-001")).toMatchObject([{ status: 200, code: "INTERNAL", bytes: body.length }]);
    expect(output.text()).not.toContain("a phone number");
  },
);

test("a streamed endpoint waits for a caller that reads slowly", async () => {
  let max = 0;
  const read = async (chunks: readonly Uint8Array[]) => {
    max = Math.max(max, Buffer.concat(chunks).length);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const { body, fault } = await calling(async ({ stream }) => stream(200, notes(50)), eventOf(), { read });
  expect([JSON.parse(String(body)).length, fault]).toEqual([51, undefined]);
  expect(max).toBeLessThanOrEqual(2 * 65_536);
});

test("a streamed endpoint keeps nothing of a response that has been sent, for which it had 20 s", async () => {
  const send = async () => {
    const read = async () => {};
    await calling(async ({ stream }) => stream(200, notes(1)), eventOf(), { read });
    return new WeakRef(read);
  };
  const reader = await send();
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const isKept = () => {
    collectGarbage();
    return reader.deref() !== undefined;
  };
  // Shorter than the 20 s, after which nothing is kept in any case.
  await expect.poll(isKept, { timeout: 15_000 }).toBe(false);
});
