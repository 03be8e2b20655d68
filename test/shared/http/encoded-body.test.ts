import { buffer } from "node:stream/consumers";
import { createGunzip, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { encodedBody } from "../../../shared/http/encoded-body.ts";

async function* chunksOf(text: string): AsyncGenerator<Buffer> {
  for (let from = 0; from < text.length; from += 65_536) yield Buffer.from(text.slice(from, from + 65_536));
}

const small = '{"said":"word"}';
const large = JSON.stringify(Array.from({ length: 90_000 }, (_, index) => ({ index })));

test("a streamed response leaves a small body as it is", async () => {
  const { headers, chunks } = await encodedBody(chunksOf(small), "gzip");
  expect(headers).toEqual({ vary: "accept-encoding" });
  expect(String(await buffer(chunks))).toBe(small);
});

test.each(["gzip", "GZIP", "br, gzip;q=0.5", "*", "identity;q=0.1, *;q=1"])(
  "a streamed response compresses a large body for Accept-Encoding %s",
  async (accepted) => {
    const { headers, chunks } = await encodedBody(chunksOf(large), accepted);
    expect(headers).toEqual({ "content-encoding": "gzip", vary: "accept-encoding" });
    const bytes = await buffer(chunks);
    expect(bytes.length).toBeLessThan(large.length / 4);
    expect(gunzipSync(bytes).toString() === large).toBe(true);
  },
);

test.each([undefined, "", "identity", "br", "gzip;q=0", "gzip;q=0, *", "*;q=0", "gzip;q=x"])(
  "a streamed response does not compress a large body for Accept-Encoding %s",
  async (accepted) => {
    const { headers, chunks } = await encodedBody(chunksOf(large), accepted);
    expect(headers).toEqual({ vary: "accept-encoding" });
    expect(String(await buffer(chunks)) === large).toBe(true);
  },
);

test("a streamed response flushes each chunk so that it can be read before the next one is written", async () => {
  let isAsked = false;
  let end = () => {};
  const slow = async function* () {
    yield Buffer.from(large.slice(0, 65_536));
    isAsked = true;
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const { chunks } = await encodedBody(slow(), "gzip");
  const gunzip = createGunzip();
  let read = "";
  gunzip.on("data", (chunk) => (read += chunk));
  for await (const chunk of chunks) {
    await new Promise((resolve) => gunzip.write(chunk, resolve));
    if (read.length === 65_536) end();
  }
  expect(read).toBe(large.slice(0, 65_536));
  expect(isAsked).toBe(true);
});

test.each(["gzip", "identity"])(
  "a streamed response ends its source before a reader that stops early goes on, with Accept-Encoding %s",
  async (accepted) => {
    let hasEnded = false;
    const source = async function* () {
      try {
        yield* chunksOf(large);
      } finally {
        await new Promise((resolve) => setTimeout(resolve, 50));
        hasEnded = true;
      }
    };
    const { chunks } = await encodedBody(source(), accepted);
    for await (const _ of chunks) break;
    expect(hasEnded).toBe(true);
  },
);
