import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it, test, vi } from "vitest";
import { InvocationStream } from "../../tools/local/lambda/invocation-stream.ts";
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

describe("a streamed response", () => {
  it("has the status and the headers of its metadata, no length, and all that was written", async () => {
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

  it("is passed on while the function still writes", async () => {
    const server = createServer();
    const asked = once(server, "request");
    const { url, close } = await listen(server, 0);
    try {
      const response = await begin(`streamed?do=until&address=${url}`);
      const chunks = response[Symbol.asyncIterator]();
      expect(String((await chunks.next()).value)).toBe("first ");
      const [, waiting] = await asked;
      waiting.end();
      expect(String((await chunks.next()).value)).toBe("second");
      expect((await chunks.next()).done).toBe(true);
    } finally {
      await close();
    }
  });

  it("may have more than 6 MB, of which the rest comes with 2 MB a second", async () => {
    const mebibytes = 7;
    const started = performance.now();
    const { body } = await all(`streamed?do=large&bytes=${mebibytes * 1_048_576}`);
    expect(body.length).toBe(mebibytes * 1_048_576);
    expect(performance.now() - started).toBeGreaterThan(450);
  });

  it("is answered in its place when the function fails before it writes", async () => {
    const { status, body } = await all("streamed?do=fail");
    expect({ status, body }).toEqual({ status: 502, body: '{"code":"INTERNAL"}' });
    expect(service().logs.join("")).toContain("INTEGRATION_FAILURE");
  });

  it.each(["failLate", "close", "forget"])("is cut when the function fails later: %s", async (how) => {
    const response = await begin(`streamed?do=${how}`);
    expect(response.statusCode).toBe(201);
    await expect(text(response)).rejects.toThrow("aborted");
    expect(service().logs.join("")).toContain("The response was cut");
  });

  it.each([
    ["it has no metadata", "streamed?do=plain"],
    ["it was ended without a write", "streamed?do=onlyEnd"],
    ["its metadata are longer than 16 KB", "streamed?do=words&headerBytes=17000"],
    ["the function returns a result", "streamed/of-a-result"],
    ["the integration does not stream", "collected?do=words"],
  ])("fails when %s", async (_, target) => {
    expect(await all(target)).toMatchObject({ status: 502, body: '{"code":"INTERNAL"}' });
  });

  it("ends with the time-out of the integration: 504 before it has begun, cut afterwards", async () => {
    expect(await all("streamed/brief?do=hang")).toMatchObject({ status: 504 });
    let response: IncomingMessage;
    do {
      // A busy machine may take the half second before a function begins that is not warm and idle, or even then.
      await all("streamed?do=words");
      response = await begin("streamed/brief?do=forget");
    } while (response.statusCode === 504);
    await expect(text(response)).rejects.toThrow("aborted");
  });

  it("fails when the function ends its process, and what was logged before is not lost", async () => {
    expect(await all("streamed?do=exit")).toMatchObject({ status: 502 });
    expect(service().logs.join("")).toContain("its last words");
  });

  it("does not interrupt the function when the caller goes", async () => {
    const bytes = 5 * 1_048_576 + 65_536;
    const response = await begin(`streamed?do=large&bytes=${bytes}`);
    response.destroy();
    await expect.poll(() => service().logs.join("")).toContain(`{"written":${bytes}}`);
  });
});

test("a function waits while nobody reads its stream, and no longer once nobody ever will", async () => {
  const take = vi.fn();
  const stream = new InvocationStream(take);
  stream.receive(Buffer.from("first"));
  expect(take).not.toHaveBeenCalled();
  const chunks = stream[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe("first");
  expect(take).toHaveBeenCalledTimes(1);
  stream.receive(Buffer.from("second"));
  await chunks.return();
  expect(take).toHaveBeenCalledTimes(2);
  stream.receive(Buffer.from("third"));
  expect(take).toHaveBeenCalledTimes(3);
});
