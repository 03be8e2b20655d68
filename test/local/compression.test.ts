import { deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressed, decompressed } from "../../tools/local/gateway/compression.ts";
import { sharedService } from "../support/service.ts";

const body = "a text ".repeat(1_000);
const reply = { status: 200, headers: [], body };

test.each([
  ["gzip", "gzip"],
  ["deflate", "deflate"],
  ["gzip;q=0.5, deflate", "deflate"],
  ["br, gzip, deflate", "gzip"],
  ["identity, gzip;q=0.5", undefined],
  ["*", undefined],
  [undefined, undefined],
])("an answer to a caller that accepts %s has the coding %s", async (accepted, coding) => {
  const { headers, body: sent } = await compressed(reply, accepted, 4_096);
  expect(headers).toEqual(coding === undefined ? [] : [["content-encoding", coding]]);
  const decode = { gzip: gunzipSync, deflate: inflateSync }[coding ?? ""] ?? Buffer.from;
  expect(decode(Buffer.from(sent)).toString()).toBe(body);
});

test("an answer below the minimum size, or that its function has encoded, is sent as it is", async () => {
  expect(await compressed(reply, "gzip", body.length + 1)).toBe(reply);
  const encoded = { ...reply, headers: [["content-encoding", "gzip"]] as const };
  expect(await compressed(encoded, "gzip", 1)).toBe(encoded);
});

test("the service compresses its description, and varies it by accept-encoding", async () => {
  const headers = { "accept-encoding": "gzip" };
  const { headers: received } = await fetch(`${sharedService.url}/openapi.json`, { headers });
  const [coding, vary] = ["content-encoding", "vary"].map((name) => received.get(name));
  expect({ coding, vary }).toEqual({ coding: "gzip", vary: "accept-encoding, origin" });
});

test.each([
  ["gzip", gzipSync(body)],
  ["deflate", deflateSync(body)],
  ["GZip", gzipSync(body)],
  ["identity", Buffer.from(body)],
])("a function gets the decoded body of a request with Content-Encoding %s", async (coding, sent) => {
  expect((await decompressed(sent, coding)).toString()).toBe(body);
});

test.each([
  ["in br", "br", gzipSync(body), "UNSUPPORTED_MEDIA_TYPE"],
  ["that is not gzip", "gzip", Buffer.from(body), "UNSUPPORTED_MEDIA_TYPE"],
  ["in gzip that ends early", "gzip", gzipSync(body).subarray(0, 20), "UNSUPPORTED_MEDIA_TYPE"],
  ["of more than 10 MiB when decoded", "gzip", gzipSync(Buffer.alloc(10_485_761)), "REQUEST_TOO_LARGE"],
])("the gateway refuses a body %s", async (_, coding, sent, type) => {
  await expect(decompressed(sent, coding)).rejects.toMatchObject({ type });
});
