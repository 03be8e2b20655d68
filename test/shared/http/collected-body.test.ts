import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { collectedBody } from "../../../shared/http/collected-body.ts";

async function* chunksOf(text: string): AsyncGenerator<Buffer> {
  for (let from = 0; from < text.length; from += 65_536) yield Buffer.from(text.slice(from, from + 65_536));
}

const small = '{"said":"word"}';
const large = JSON.stringify(Array.from({ length: 90_000 }, (_, index) => ({ index })));

/** Lambda's limit for a result: 6 MB of JSON. */
const lambdaBytes = 6 * 1_024 * 1_024;

describe("a body in chunks", () => {
  test("is returned as text", async () => {
    const collected = await collectedBody(chunksOf(small), "gzip");
    expect(collected?.content).toEqual({ body: small });
    expect(collected?.headers).toEqual({ vary: "accept-encoding" });
  });

  test.each(["gzip", "GZIP", "br, gzip;q=0.5", "*", "identity;q=0.1, *;q=1"])(
    "is compressed when it is large and the caller accepts it: %s",
    async (accepted) => {
      const collected = await collectedBody(chunksOf(large), accepted);
      expect(collected?.headers).toEqual({ "content-encoding": "gzip", vary: "accept-encoding" });
      expect(collected?.content.isBase64Encoded).toBe(true);
      const bytes = Buffer.from(collected?.content.body ?? "", "base64");
      expect(gunzipSync(bytes).toString() === large).toBe(true);
    },
  );

  test.each([undefined, "", "identity", "br", "gzip;q=0", "gzip;q=0, *", "*;q=0", "gzip;q=x"])(
    "stays as it is for who does not: %s",
    async (accepted) => {
      const collected = await collectedBody(chunksOf(large), accepted);
      expect(collected?.content.body === large).toBe(true);
      expect(collected?.headers).toEqual({ vary: "accept-encoding" });
    },
  );

  test("always fits into Lambda's result, quotes and all, or is not returned", async () => {
    for (const quotes of [2_000_000, 2_990_000, 3_010_000, 3_200_000, 7_000_000]) {
      const collected = await collectedBody(chunksOf('"'.repeat(quotes)), undefined);
      if (collected === undefined) expect(2 * quotes).toBeGreaterThan(6_000_000);
      else expect(JSON.stringify(collected.content).length).toBeLessThan(lambdaBytes - 10_000);
    }
  });

  test("that is too large as text is still returned to who accepts gzip, unless that is too large too", async () => {
    const text = '"'.repeat(9_000_000);
    expect(await collectedBody(chunksOf(text), "identity")).toBeUndefined();
    expect((await collectedBody(chunksOf(text), "gzip"))?.content.isBase64Encoded).toBe(true);
    const noise = async function* () {
      for (let chunk = 0; chunk < 100; chunk++) yield crypto.getRandomValues(new Uint8Array(60_000));
    };
    expect(await collectedBody(noise(), "gzip")).toBeUndefined();
  });
});
