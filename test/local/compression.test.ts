import { get } from "node:http";
import { deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { call } from "../support/client.ts";
import { sharedService } from "../support/service.ts";

/** A response with its body as it was received, without decoding. */
function received(path: string, acceptEncoding: string | undefined) {
  return new Promise<{ coding: string | undefined; vary: string | undefined; bytes: Buffer }>(
    (resolve, reject) => {
      const headers = acceptEncoding === undefined ? {} : { "accept-encoding": acceptEncoding };
      get(`${sharedService.url}${path}`, { headers }, async (response) => {
        const bytes = Buffer.concat(await response.toArray());
        resolve({ coding: response.headers["content-encoding"], vary: response.headers.vary, bytes });
      }).on("error", reject);
    },
  );
}

test("the service compresses answers from 4 KB and varies them by accept-encoding", async () => {
  expect(loadTemplate(sharedService.assembly).api.minCompressionBytes).toBe(4_096);
  const [plain, packed] = [
    await received("/openapi.json", undefined),
    await received("/openapi.json", "gzip"),
  ];

  expect(plain).toMatchObject({ coding: undefined, vary: "accept-encoding, origin" });
  expect(packed).toMatchObject({ coding: "gzip", vary: "accept-encoding, origin" });
  expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 3);
});

const path = "/v3/profile/authenticate";
const login = JSON.stringify({ emailaddress: `${crypto.randomUUID()}@example.com`, password: "a" });
const send = (body: Uint8Array, coding: string) =>
  call(path, { body: Buffer.from(body), headers: { "content-encoding": coding } });

test.each([
  ["gzip", gzipSync(login)],
  ["deflate", deflateSync(login)],
  ["GZip", gzipSync(login)],
  ["identity", Buffer.from(login)],
])("a function receives the decoded body of a request with Content-Encoding %s", async (coding, body) => {
  expect(await send(body, coding)).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
});

test.each([
  ["has a coding other than gzip and deflate", "br", gzipSync(login)],
  ["is not gzip", "gzip", Buffer.from(login)],
  ["is gzip that ends early", "gzip", gzipSync(login).subarray(0, 20)],
  ["has more than 10 MiB when decoded", "gzip", gzipSync(Buffer.alloc(10 * 1_024 * 1_024 + 1))],
])("the service responds 400 to a body that %s", async (_, coding, body) => {
  expect(await send(body, coding)).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
});
