import { inflateSync, zstdDecompressSync } from "node:zlib";
import { addDecoder, BaseDecoder } from "geotiff";
import { GridRefused } from "./georeference.ts";

/** Compressions without loss that are read, by the codes of TIFF and of GDAL. */
export const compressions: Readonly<Record<number, string>> = {
  1: "none",
  5: "LZW",
  8: "Deflate",
  32946: "Deflate",
  50000: "ZSTD",
};

/** What a block may have at most, unpacked. GDAL's have 8 KiB, or are tiles of 256 × 256 pixels. */
export const maxBlockBytes = 2 ** 26;

/** @param most how many bytes it may become. @throws {RangeError} for more. */
type Unpack = (packed: Uint8Array, most: number) => Uint8Array;

// The library's own decoders take as much memory as a block unpacks to, and do not end at every damaged one.
addDecoder(5, async () => decoderBy(unpackLzw));
addDecoder([8, 32_946], async () =>
  decoderBy((packed, most) => inflateSync(packed, { maxOutputLength: most })),
);
addDecoder(50_000, async () =>
  decoderBy((packed, most) => zstdDecompressSync(packed, { maxOutputLength: most })),
);

function decoderBy(unpack: Unpack): typeof BaseDecoder {
  return class extends BaseDecoder {
    override decodeBlock(block: ArrayBufferLike): ArrayBufferLike {
      const { tileWidth, tileHeight, bitsPerSample } = this.parameters;
      const each = typeof bitsPerSample === "number" ? [bitsPerSample] : Array.from(bitsPerSample);
      const bits = each.reduce((sum, one) => sum + one, 0);
      const most = Math.min(tileHeight * Math.ceil((tileWidth * bits) / 8), maxBlockBytes);
      try {
        return new Uint8Array(unpack(new Uint8Array(block), most)).buffer;
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new GridRefused("has a block that unpacks to more than its pixels: it is damaged");
      }
    }
  };
}

const [clearCode, endCode] = [256, 257];

/** As TIFF has it: codes begin at the most significant bit, and grow one code before they must. */
export function unpackLzw(packed: Uint8Array, most: number): Uint8Array {
  const unpacked = new Uint8Array(most);
  // The text of a code is that of the code before it when it was added, and a byte more: it stands there in what is unpacked.
  const [starts, lengths] = [new Uint32Array(4_096), new Uint32Array(4_096)];
  let [at, bits, held, width, next] = [0, 0, 0, 9, endCode + 1];
  let [start, length, end] = [0, 0, 0];
  for (;;) {
    for (; bits < width; bits += 8) {
      if (at === packed.length) return unpacked.subarray(0, end);
      held = ((held & 0xfff) << 8) | (packed[at++] as number);
    }
    bits -= width;
    const code = (held >> bits) & (2 ** width - 1);
    if (code === endCode) return unpacked.subarray(0, end);
    if (code === clearCode) [width, next, length] = [9, endCode + 1, 0];
    else {
      if (length > 0 && next < starts.length) {
        starts[next] = start;
        lengths[next++] = length + 1;
      }
      if (code > endCode && code >= next) throw new Error(`the code ${code} is not known yet`);
      const from = starts[code] as number;
      [start, length] = [end, code < clearCode ? 1 : (lengths[code] as number)];
      if (end + length > most) throw new RangeError("more bytes than there may be");
      if (code < clearCode) unpacked[end++] = code;
      else for (let step = 0; step < length; step++) unpacked[end++] = unpacked[from + step] as number;
      if (next >= 2 ** width - 1 && width < 12) width++;
    }
  }
}
