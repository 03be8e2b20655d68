import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { unpackLzw } from "../../tools/import/density/population/blocks.ts";
import { pixelsOf } from "../../tools/import/density/population/raster.ts";
import { type GeoTiffTags, geoTiff } from "../support/geotiff.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
const box = { west: 8, south: 46.99, east: 8.01, north: 47 };
const pixel = Float32Array.of(12);
const where = { width: 1, pixelScale: [0.01, 0.01, 0], tiePoints: [0, 0, 0, 8, 47, 0] };

/** The pixels of a file in the box. */
async function read(file: Uint8Array) {
  const path = await folder.write("grid.tif", file);
  return await pixelsOf(path, { box, isNoDataNobody: false, onRemark: () => undefined }).next();
}

/** The bytes of LZW's codes: from the 256th on they have 10 bits, from the 768th on 11. */
function packedLzw(codes: readonly number[]): Uint8Array {
  const widthAt = (index: number) => (index < 255 ? 9 : index < 767 ? 10 : 11);
  const bits = codes.map((code, index) => code.toString(2).padStart(widthAt(index), "0")).join("");
  return Uint8Array.from(bits.match(/.{1,8}/g) ?? [], (byte) => Number.parseInt(byte.padEnd(8, "0"), 2));
}

/** Codes of zeros: each means one more than the one before. */
const zeros = packedLzw([256, 0, ...Array.from({ length: 1_447 }, (_, index) => 258 + index), 257]);

test("LZW is unpacked: the example of TIFF 6.0, and codes of 9 to 11 bits", () => {
  const example = packedLzw([256, 7, 258, 8, 8, 258, 6, 6, 257]);
  expect([...unpackLzw(example, 9)]).toEqual([7, 7, 7, 8, 8, 7, 7, 6, 6]);
  expect(unpackLzw(zeros, 2 ** 21)).toEqual(new Uint8Array((1_448 * 1_449) / 2));
});

const deflated = { code: 8, strip: deflateSync(new Uint8Array(pixel.buffer)) };

test("ncs import population reads the pixel of a GeoTIFF with Deflate", async () => {
  const [{ people } = {}] = (await read(geoTiff(pixel, { ...where, compressed: deflated }))).value ?? [];
  expect(people).toEqual(Float64Array.of(12));
});

const unpacksToMore = "has a block that unpacks to more than its pixels: it is damaged";

test.each<[string, Partial<GeoTiffTags>, string]>([
  [
    "1 MiB of Deflate",
    { compressed: { code: 8, strip: deflateSync(new Uint8Array(2 ** 20)) } },
    unpacksToMore,
  ],
  ["1 MiB of LZW", { compressed: { code: 5, strip: zeros } }, unpacksToMore],
  [
    "400,000,000 rows",
    { height: 4e8 },
    "has 1 × 400,000,000 pixels, and is read with 2,000,000 columns and rows",
  ],
  [
    "200,000,000 columns",
    { width: 2e8, height: 1 },
    "has 200,000,000 × 1 pixels, and is read with 2,000,000",
  ],
  [
    "a strip of 68 MB",
    { width: 1_000, height: 17_000 },
    "blocks of 68,000,000 bytes, and is read with 67,108,864",
  ],
  [
    "600 kB of metadata",
    { metadata: "<Item/".repeat(100_000) },
    "has metadata of more than 262,144 characters",
  ],
])("ncs import population refuses a GeoTIFF of one pixel with %s", async (_, tags, reason) => {
  await expect(read(geoTiff(pixel, { ...where, ...tags }))).rejects.toThrow(reason);
});

test.each([
  ["a tag of 400,000,000 numbers", 4 + 10 * 12, 4e8, "ends before its tags do"],
  ["a directory that follows itself", 12 * 13, undefined, "has more than 64 images"],
])("ncs import population refuses a GeoTIFF with %s", async (_, offset, value, reason) => {
  const file = geoTiff(pixel, where);
  const view = new DataView(file.buffer);
  const directory = view.getUint32(4, true);
  view.setUint32(directory + 2 + offset, value ?? directory, true);
  await expect(read(file)).rejects.toThrow(reason);
});
