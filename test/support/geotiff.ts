/** Numbers of a kind that pixels can have. */
export type Pixels =
  | Int8Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/** The tags of a GeoTIFF. Those that are left out are not in the file. */
export interface GeoTiffTags {
  readonly width: number;
  readonly pixelScale?: readonly number[];
  readonly tiePoints?: readonly number[];
  readonly transformation?: readonly number[];
  /** GeoKeys of one number each, by their codes. */
  readonly keys?: Readonly<Record<number, number>>;
  /** GDAL_NODATA. */
  readonly noData?: string;
  /** GDAL_METADATA. */
  readonly metadata?: string;
  /** PhotometricInterpretation. */
  readonly photometric?: number;
  /** Instead of that of the pixels. */
  readonly height?: number;
  /** The code of a compression, and the pixels in it. */
  readonly compressed?: { readonly code: number; readonly strip: Uint8Array };
}

/** GeoKeys: a geographic model, degrees of WGS 84. */
export const degreesOfWgs84 = { 1024: 2, 2048: 4326 };

/** GDAL_METADATA with the scale and the offset of the first band. */
export function bandMetadata({
  scale,
  offset,
}: {
  readonly scale?: number;
  readonly offset?: number;
}): string {
  const item = (role: string, value: number | undefined) =>
    value === undefined ? "" : `<Item name="${role.toUpperCase()}" sample="0" role="${role}">${value}</Item>`;
  return `<GDALMetadata>${item("scale", scale)}${item("offset", offset)}</GDALMetadata>\n`;
}

/** A GeoTIFF of one band in one strip, row by row. */
export function geoTiff(pixels: Pixels, tags: GeoTiffTags): Uint8Array<ArrayBuffer> {
  const { width, pixelScale, tiePoints, transformation, keys = degreesOfWgs84, noData, metadata } = tags;
  const format =
    pixels instanceof Float32Array || pixels instanceof Float64Array ? 3 : isSigned(pixels) ? 2 : 1;
  const directory = Object.entries(keys).flatMap(([code, value]) => [Number(code), 0, 1, value]);
  const { height = pixels.length / width, compressed } = tags;
  const strip = compressed?.strip ?? new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
  const entries = [
    long(256, width),
    long(257, height),
    short(258, 8 * pixels.BYTES_PER_ELEMENT),
    short(259, compressed?.code ?? 1),
    short(262, tags.photometric ?? 1),
    long(273, headerBytes),
    short(277, 1),
    long(278, height),
    long(279, strip.byteLength),
    short(339, format),
    ...doubles(33_550, pixelScale),
    ...doubles(33_922, tiePoints),
    ...doubles(34_264, transformation),
    ...(directory.length === 0 ? [] : [short(34_735, 1, 1, 0, directory.length / 4, ...directory)]),
    ...ascii(42_112, metadata),
    ...ascii(42_113, noData),
  ];
  return written(entries, strip);
}

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly bytes: Buffer;
}

function isSigned(pixels: Pixels): boolean {
  return pixels instanceof Int8Array || pixels instanceof Int16Array || pixels instanceof Int32Array;
}

function short(tag: number, ...numbers: readonly number[]): Entry {
  return { tag, type: 3, count: numbers.length, bytes: Buffer.from(Uint16Array.from(numbers).buffer) };
}

function long(tag: number, number: number): Entry {
  return { tag, type: 4, count: 1, bytes: Buffer.from(Uint32Array.of(number).buffer) };
}

function doubles(tag: number, numbers: readonly number[] | undefined): Entry[] {
  if (numbers === undefined) return [];
  return [{ tag, type: 12, count: numbers.length, bytes: Buffer.from(Float64Array.from(numbers).buffer) }];
}

function ascii(tag: number, text: string | undefined): Entry[] {
  if (text === undefined) return [];
  const bytes = Buffer.from(`${text}\0`, "latin1");
  return [{ tag, type: 2, count: bytes.length, bytes }];
}

const headerBytes = 8;

/** Header, pixels, values of more than four bytes, and the directory, as it may stand anywhere. */
function written(entries: readonly Entry[], pixels: Uint8Array): Uint8Array<ArrayBuffer> {
  const values: Buffer[] = [];
  let at = headerBytes + pixels.length;
  const directory = Buffer.alloc(2 + 12 * entries.length + 4);
  directory.writeUInt16LE(entries.length, 0);
  for (const [index, { tag, type, count, bytes }] of entries.entries()) {
    const start = 2 + 12 * index;
    directory.writeUInt16LE(tag, start);
    directory.writeUInt16LE(type, start + 2);
    directory.writeUInt32LE(count, start + 4);
    if (bytes.length <= 4) bytes.copy(directory, start + 8);
    else {
      directory.writeUInt32LE(at, start + 8);
      values.push(bytes);
      at += bytes.length;
    }
  }
  const header = Buffer.alloc(headerBytes);
  header.write("II*\0", "latin1");
  header.writeUInt32LE(at, 4);
  return new Uint8Array(Buffer.concat([header, pixels, ...values, directory]));
}
