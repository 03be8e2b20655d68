import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { getBytes, keysOf, putPieces } from "../../../shared/aws/objects.ts";
import { useTables } from "../../support/database.ts";
import { startBucket, type TestBucket } from "../../support/objects.ts";

useTables();

let bucket: TestBucket;
beforeAll(async () => {
  bucket = await startBucket();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await bucket.close();
});

const megabyte = 2 ** 20;

/** Pieces that are no divisor of a part, each in the same memory as the one before. */
function* piecesOf(bytes: number): Generator<Uint8Array> {
  const memory = new Uint8Array(700_000);
  for (let at = 0; at < bytes; at += memory.length) {
    memory.fill(at / memory.length);
    yield memory.subarray(0, Math.min(memory.length, bytes - at));
  }
}

function hashOf(pieces: Iterable<Uint8Array>): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

test.each([0, 1, 8 * megabyte, 17 * megabyte])(
  "an object of %i bytes is read as it was written",
  async (size) => {
    await putPieces("counted", piecesOf(size));
    expect((await bucket.list("counted")).map(({ Size }) => Size)).toEqual([size]);
    expect(hashOf([await getBytes("counted")])).toBe(hashOf(piecesOf(size)));
  },
);

test("an object whose source fails is not there, and its upload is not left open", async () => {
  function* failing() {
    yield* piecesOf(17 * megabyte);
    throw new Error("the disk is gone");
  }
  await expect(putPieces("failing", failing())).rejects.toThrow("the disk is gone");
  expect(await bucket.list("failing")).toEqual([]);
  expect(bucket.openUploads()).toBe(0);
});

test("an object with a part that takes too long is not there, and its upload is not left open", async () => {
  const within = AbortSignal.timeout;
  // The calls begin the upload, and then send a part each.
  vi.spyOn(AbortSignal, "timeout")
    .mockImplementationOnce(within)
    .mockImplementationOnce(() => AbortSignal.abort());
  await expect(putPieces("late", piecesOf(17 * megabyte))).rejects.toThrow("S3: AbortError");
  expect(await bucket.list("late")).toEqual([]);
  expect(bucket.openUploads()).toBe(0);
});

test("keys are listed in ascending order", async () => {
  for (const key of ["a/2", "b/1", "a/1"]) await putPieces(key, piecesOf(1));
  const listed: string[] = [];
  for await (const key of keysOf("a/")) listed.push(key);
  expect(listed).toEqual(["a/1", "a/2"]);
});
