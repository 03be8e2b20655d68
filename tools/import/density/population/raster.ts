import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { fromFile, type GeoTIFF, type GeoTIFFImage } from "geotiff";
import type { Box } from "../../../../functions/population-density/cover/box.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { isFileError, unreadable } from "../../../../shared/import/unreadable.ts";
import { plural } from "../../../../shared/plural.ts";
import { compressions, maxBlockBytes } from "./blocks.ts";
import { requireDirectories } from "./directories.ts";
import { type Georeference, GridRefused, georeferenceOf, requireInBox, toDegrees } from "./georeference.ts";
import { maxMetadata, type PixelValues, pixelValuesOf } from "./pixel-values.ts";
import type { PopulatedPixels, PopulationFile } from "./places.ts";

/** How a GeoTIFF is read. */
export interface RasterReading {
  readonly box: Box;
  /** Whether nobody is in pixels without data, so that they are 0 and not NaN. */
  readonly isNoDataNobody: boolean;
  /** Called with what the file was understood to be, and with the number of pixels without data. */
  readonly onRemark: (remark: string) => void;
}

/**
 * The people of a GeoTIFF, whose first band counts the people of each pixel, inside a box. Pixels without data are NaN:
 * those with the no-data value, NaN, below 0, or hidden by a mask or an alpha band. Some rows are in memory at a time,
 * as far as the file is made of strips or tiles.
 * @throws {ImportError} for a file that cannot be read or is not understood, with what is wrong with it.
 */
export async function* pixelsOf(
  path: string,
  reading: RasterReading,
): PopulationFile & AsyncGenerator<readonly PopulatedPixels[]> {
  const file = basename(path);
  try {
    yield* pixelsIn(path, reading);
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError([`${file}: ${reasonOf(error, path)}`]);
  }
}

/** @param error what the library throws for what it cannot read is not always an `Error`, and is for programmers. */
function reasonOf(error: unknown, path: string): string {
  if (error instanceof GridRefused) {
    if (error.command === undefined) return error.message;
    const [from, to] = [path, `${basename(path, extname(path))}-wgs84.tif`].map(inShell);
    return `${error.message}: ${error.command} ${from} ${to} makes a file that is read`;
  }
  return isFileError(error)
    ? unreadable(error.code)
    : "cannot be read as a GeoTIFF: it is damaged, was not downloaded whole, or is another file (--kind says what it is)";
}

/** A path as one word of a shell's command. */
function inShell(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function* pixelsIn(path: string, reading: RasterReading): AsyncGenerator<readonly PopulatedPixels[]> {
  const tiff = await fromFile(path);
  try {
    await refuseSidecars(path);
    await requireDirectories(path);
    const image = await tiff.getImage();
    await requireReadBlocks(image);
    const grid = georeferenceOf(modelTagsOf(image));
    const values = pixelValuesOf(await bandTagsOf(image));
    const { size } = await stat(path);
    await requireStoredBlocks(image, values, size);
    reading.onRemark(`${grid.description}; ${values.description}`);
    requireInBox(grid, reading.box);
    yield* windowsIn(image, await maskOf(tiff, image), grid, values, reading);
  } finally {
    await tiff.close();
  }
}

function modelTagsOf(image: GeoTIFFImage) {
  const directory = image.getFileDirectory();
  return {
    columns: image.getWidth(),
    rows: image.getHeight(),
    transformation: directory.getValue("ModelTransformation"),
    pixelScale: directory.getValue("ModelPixelScale"),
    tiePoints: directory.getValue("ModelTiepoint"),
    keys: image.getGeoKeys() ?? {},
  };
}

async function bandTagsOf(image: GeoTIFFImage) {
  const directory = image.getFileDirectory();
  return {
    format: image.getSampleFormat(),
    bits: image.getBitsPerSample(),
    bands: image.getSamplesPerPixel(),
    photometric: directory.getValue("PhotometricInterpretation"),
    noData: directory.getValue("GDAL_NODATA"),
    metadata: (await directory.loadValue("GDAL_METADATA")) as string | undefined,
  };
}

/** What GDAL keeps in a sidecar and takes into account; its statistics do not matter. */
const sidecarTags = /<(NoDataValue|Scale|Offset|SRS|GeoTransform|GCPList)\b/;

/** @throws {GridRefused} for a mask, or an .aux.xml that says more of the numbers or of their place than the file does. */
async function refuseSidecars(path: string): Promise<void> {
  const intoOne = "gdal_translate --config GDAL_TIFF_INTERNAL_MASK YES";
  const sidecar = `${path}.aux.xml`;
  const isLarge = existsSync(sidecar) && (await stat(sidecar)).size > maxMetadata;
  if (isLarge)
    throw new GridRefused(`has more than ${counted(maxMetadata)} bytes in ${basename(sidecar)}`, intoOne);
  const [, tag] = sidecarTags.exec(existsSync(sidecar) ? await readFile(sidecar, "utf8") : "") ?? [];
  if (tag !== undefined) {
    throw new GridRefused(`has a ${tag} in ${basename(sidecar)}, which is not read`, intoOne);
  }
  if (existsSync(`${path}.msk`)) {
    throw new GridRefused(`has a mask in ${basename(path)}.msk, which is not read`, intoOne);
  }
}

/** No grid has more columns or rows: one of the world with pixels of an arc second has 1,296,000 columns. */
const mostAcross = 2_000_000;

/**
 * @throws {GridRefused} for sizes that would take all memory, and for a compression, or a predictor with a byte order, by
 * which numbers would be misread.
 */
async function requireReadBlocks(image: GeoTIFFImage): Promise<void> {
  const directory = image.getFileDirectory();
  const rewritten = "gdal_translate -co TILED=YES -co COMPRESS=DEFLATE -co ENDIANNESS=LITTLE";
  const size = `${counted(image.getWidth())} × ${counted(image.getHeight())} pixels`;
  if (Math.max(image.getWidth(), image.getHeight()) > mostAcross) {
    throw new GridRefused(`has ${size}, and is read with ${counted(mostAcross)} columns and rows at most`);
  }
  const blockBytes = image.getTileWidth() * image.getTileHeight() * Math.max(image.getBytesPerPixel(), 1);
  if (blockBytes > maxBlockBytes) {
    const most = `and is read with ${counted(maxBlockBytes)} at most`;
    throw new GridRefused(`has blocks of ${counted(blockBytes)} bytes, ${most}`, rewritten);
  }
  const compression = Number((await directory.loadValue("Compression")) ?? 1);
  if (compressions[compression] === undefined) {
    const names = [...new Set(Object.values(compressions))].join(", ");
    throw new GridRefused(`has the compression ${compression}, and is read with ${names}`, rewritten);
  }
  const bits = image.getBitsPerSample();
  const isDifference = Number((await directory.loadValue("Predictor")) ?? 1) === 2;
  if (isDifference && (bits > 32 || (bits > 8 && !image.littleEndian))) {
    const order = image.littleEndian ? "" : " from the most significant byte on";
    throw new GridRefused(`has numbers of ${bits} bits${order} behind the predictor 2`, rewritten);
  }
}

/**
 * Blocks that are not stored have the no-data value, and NaN is read as 0.
 * @throws {GridRefused} for such blocks, and for a file that ends before its blocks do.
 */
async function requireStoredBlocks(
  image: GeoTIFFImage,
  { noData }: PixelValues,
  size: number,
): Promise<void> {
  const directory = image.getFileDirectory();
  const [of, from] = image.isTiled
    ? (["TileByteCounts", "TileOffsets"] as const)
    : (["StripByteCounts", "StripOffsets"] as const);
  const lengths = Array.from((await directory.loadValue(of)) ?? [], Number);
  const offsets = Array.from((await directory.loadValue(from)) ?? [], Number);
  if (lengths.some((length, block) => (offsets[block] as number) + length > size)) {
    throw new GridRefused("ends before its pixels do: it is damaged, or was not downloaded whole");
  }
  if (image.getGDALNoData() === null || !Number.isNaN(noData)) return;
  if (lengths.includes(0)) {
    throw new GridRefused("has blocks that are not stored, and NaN as its no-data value", toDegrees);
  }
}

/** What hides pixels from view: of each pixel a number, which is 0 where there is no data. */
type Veil = (window: number[]) => Promise<ArrayLike<number>>;

/** A mask in an image of its own, or an alpha band; undefined without either. */
async function maskOf(tiff: GeoTIFF, image: GeoTIFFImage): Promise<Veil | undefined> {
  const alpha = (image.getFileDirectory().getValue("ExtraSamples") ?? []).findIndex(isAlpha);
  const extra = image.getFileDirectory().getValue("ExtraSamples")?.length ?? 0;
  if (alpha >= 0) return (window) => bandOf(image, window, image.getSamplesPerPixel() - extra + alpha);
  for (let index = 1; index < (await tiff.getImageCount()); index++) {
    const other = await tiff.getImage(index);
    const isMask = ((other.getFileDirectory().getValue("NewSubfileType") ?? 0) & subfileOfMask) !== 0;
    const isWhole = other.getWidth() === image.getWidth() && other.getHeight() === image.getHeight();
    if (!isMask || !isWhole) continue;
    await requireReadBlocks(other);
    return (window) => bandOf(other, window, 0);
  }
  return undefined;
}

/** Codes of the TIFF specification. */
const subfileOfMask = 4;
const isAlpha = (sample: number) => sample === 1 || sample === 2;

async function bandOf(image: GeoTIFFImage, window: number[], band: number): Promise<ArrayLike<number>> {
  const [numbers = []] = (await image.readRasters({ window, samples: [band] })) as unknown as number[][];
  return numbers;
}

/** Pixels of a band that are in memory at a time, if its blocks are not larger; then, the most of a row of blocks. */
const pixelsAtOnce = 2 ** 21;
const mostAtOnce = 2 ** 23;

async function* windowsIn(
  image: GeoTIFFImage,
  mask: Veil | undefined,
  { longitudes, latitudes }: Georeference,
  values: PixelValues,
  { box, isNoDataNobody, onRemark }: RasterReading,
): AsyncGenerator<readonly PopulatedPixels[]> {
  const columns = within(longitudes, box.west, box.east);
  const rows = within(latitudes, box.south, box.north);
  const across = columns.end - columns.first;
  const found = { pixels: 0, noData: 0, nan: 0, negative: 0, hidden: 0 };
  // Each block of the file is decoded for every window that it is in.
  const blocks = Math.max(1, Math.floor(pixelsAtOnce / (across * image.getTileHeight())));
  const height = Math.min(blocks * image.getTileHeight(), Math.ceil(mostAtOnce / across));
  for (let top = rows.first - (rows.first % height); top < rows.end; top += height) {
    const [first, end] = [Math.max(top, rows.first), Math.min(top + height, rows.end)];
    const window = [columns.first, first, columns.end, end];
    const numbers = await bandOf(image, window, 0);
    const people = peopleOf(numbers, await mask?.(window), values, found);
    if (isNoDataNobody) for (let at = 0; at < people.length; at++) people[at] ||= 0;
    const isFromEast = (longitudes[0] as number) > (longitudes[1] as number);
    if (isFromEast)
      for (let at = 0; at < people.length; at += across) people.subarray(at, at + across).reverse();
    const edges = longitudes.slice(columns.first, columns.end + 1);
    const nameOf = (index: number) => {
      const column = isFromEast ? columns.end - 1 - (index % across) : columns.first + (index % across);
      return `pixel ${column}, ${first + Math.floor(index / across)} (column and row from 0)`;
    };
    yield [
      {
        longitudes: isFromEast ? edges.reverse() : edges,
        latitudes: latitudes.slice(first, end + 1),
        people,
        nameOf,
      },
    ];
  }
  onRemark(remarkOn(found, isNoDataNobody));
}

function counted(number: number): string {
  return number.toLocaleString("en");
}

interface Found {
  pixels: number;
  noData: number;
  nan: number;
  negative: number;
  hidden: number;
}

/** The people of pixels; NaN for those without data, which are counted. */
function peopleOf(
  numbers: ArrayLike<number>,
  mask: ArrayLike<number> | undefined,
  { noData, scale, offset }: PixelValues,
  found: Found,
): Float64Array {
  const people = new Float64Array(numbers.length);
  found.pixels += numbers.length;
  for (let at = 0; at < people.length; at++) {
    const number = numbers[at] as number;
    const here = number * scale + offset;
    if (number === noData) found.noData++;
    else if (mask !== undefined && !((mask[at] as number) > 0)) found.hidden++;
    else if (here >= 0 || here === Number.NEGATIVE_INFINITY) {
      people[at] = here;
      continue;
    } else if (Number.isNaN(here)) found.nan++;
    else found.negative++;
    people[at] = Number.NaN;
  }
  return people;
}

function remarkOn({ pixels, noData, nan, negative, hidden }: Found, isNoDataNobody: boolean): string {
  const all = noData + nan + negative + hidden;
  const kinds = Object.entries({
    "the no-data value": noData,
    NaN: nan,
    "a number below 0": negative,
    "a mask": hidden,
  })
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${counted(count)} with ${kind}`);
  const what = `${counted(all)} of ${counted(pixels)} pixels in the box ${plural(all, "has", "have")} no data`;
  return (
    [what, ...(all === 0 ? [] : [`${kinds.join(", ")}`])].join(": ") +
    (isNoDataNobody && all > 0 ? "; nobody is taken to live there" : "")
  );
}

/** Those steps between edges that share something with a range: from the first to before the end. */
function within(
  edges: Float64Array,
  low: number,
  high: number,
): { readonly first: number; readonly end: number } {
  let [first, end] = [edges.length, 0];
  for (let step = 0; step + 1 < edges.length; step++) {
    const [one, other] = [edges[step] as number, edges[step + 1] as number];
    if (Math.max(one, other) <= low || Math.min(one, other) >= high) continue;
    first = Math.min(first, step);
    end = step + 1;
  }
  return { first: Math.min(first, end), end };
}
