import { GridRefused, toDegrees } from "./georeference.ts";

/** What a GeoTIFF says of the numbers in its first band; undefined for tags that it does not have. */
export interface BandTags {
  /** SampleFormat: 1 is unsigned, 2 is signed, 3 is floating point. */
  readonly format: number;
  readonly bits: number;
  readonly bands: number;
  /** PhotometricInterpretation. */
  readonly photometric?: number | undefined;
  /** GDAL_NODATA, with or without the NUL at its end. */
  readonly noData?: string | undefined;
  /** GDAL_METADATA, an XML document. */
  readonly metadata?: string | undefined;
}

/** How people are made from the numbers of a band. */
export interface PixelValues {
  /** The number that has no data, as the pixels hold it; NaN if there is none. */
  readonly noData: number;
  /** People are number × scale + offset, for all other numbers. */
  readonly scale: number;
  readonly offset: number;
  /** How they were understood, in words. */
  readonly description: string;
}

/** Characters of GDAL_METADATA, and bytes of an .aux.xml, that are read. */
export const maxMetadata = 262_144;

/**
 * How people are made from the numbers of the first band.
 * @throws {GridRefused} for what cannot be numbers of people.
 */
export function pixelValuesOf(tags: BandTags): PixelValues {
  const type = typeOf(tags);
  const picture = pictures[tags.photometric ?? 0];
  if (picture !== undefined) throw new GridRefused(`has ${picture} instead of numbers of people`);
  if ((tags.metadata?.length ?? 0) > maxMetadata) {
    throw new GridRefused(`has metadata of more than ${maxMetadata.toLocaleString("en")} characters`);
  }
  const [scale, offset] = [roleIn(tags.metadata, "scale") ?? 1, roleIn(tags.metadata, "offset") ?? 0];
  if (!Number.isFinite(scale) || scale === 0 || !Number.isFinite(offset)) {
    throw new GridRefused(`has a scale of ${scale} and an offset of ${offset}`);
  }
  const text = tags.noData?.replace(/\0.*$/s, "").trim() ?? "";
  const value = text === "" ? Number.NaN : numberOf(text);
  const noData = type.hold(value);
  const isHeld = Number.isNaN(value) || !Number.isNaN(noData);
  const description = [
    `${type.name}${tags.bands > 1 ? `, the first of ${tags.bands} bands` : ""}`,
    ...(scale === 1 ? [] : [`times ${scale}`]),
    ...(offset === 0 ? [] : [`plus ${offset}`]),
    text === ""
      ? "without a no-data value"
      : `no-data value ${text}${isHeld ? "" : ", which no pixel can have"}`,
  ].join(", ");
  return { noData, scale, offset, description };
}

interface PixelType {
  readonly name: string;
  /** A number as pixels hold it; NaN if none can. */
  readonly hold: (value: number) => number;
}

/** Sizes of numbers that are read. */
const integerBits: readonly number[] = [8, 16, 32];
const floatBits: readonly number[] = [16, 32, 64];

function typeOf({ format, bits }: BandTags): PixelType {
  if (format === 3 && floatBits.includes(bits)) {
    return { name: `Float${bits}`, hold: (value) => (bits === 64 ? value : Math.fround(value)) };
  }
  if ((format === 1 || format === 2) && integerBits.includes(bits)) {
    const least = format === 1 ? 0 : -(2 ** (bits - 1));
    const isHeld = (value: number) => Number.isInteger(value) && value >= least && value < least + 2 ** bits;
    return {
      name: `${format === 1 ? "UInt" : "Int"}${bits}`,
      hold: (value) => (isHeld(value) ? value : Number.NaN),
    };
  }
  const names: readonly string[] = ["", "unsigned integers", "integers", "floating-point numbers"];
  throw new GridRefused(
    `has ${names[format] ?? `numbers of sample format ${format}`} of ${bits} bits, and is read with integers of 8, 16 ` +
      "or 32 bits and floating-point numbers of 16, 32 or 64",
    toDegrees,
  );
}

/** By PhotometricInterpretation. */
const pictures: Readonly<Record<number, string>> = {
  2: "the red, green and blue of a picture",
  3: "a palette, whose numbers stand for classes or colours,",
  5: "the colours of a print",
  6: "the colours of a photograph",
  8: "the colours of a picture",
};

/** The number in the metadata of the first band that GDAL writes for a role: `<Item sample="0" role="scale">2</Item>`. */
function roleIn(metadata: string | undefined, role: string): number | undefined {
  for (const item of metadata?.split("<Item").slice(1) ?? []) {
    const [attributes = "", text = "", end] = item.split(/[<>]/, 3);
    const quoted = attributes.split(/["']/);
    const valueNamed = (name: string) =>
      quoted.find((_, at) => at % 2 === 1 && quoted[at - 1]?.replace("=", "").trim() === name);
    if (end === "/Item" && valueNamed("sample") === "0" && valueNamed("role") === role) return Number(text);
  }
  return undefined;
}

/** Also in the spellings of C libraries: `nan`, `-1.#IND`, `inf`. */
function numberOf(text: string): number {
  const lower = text.toLowerCase();
  if (/^[+-]?(?:nan|1\.#(?:ind|qnan|snan))/.test(lower)) return Number.NaN;
  const infinite = /^([+-]?)(?:inf|1\.#inf)/.exec(lower);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const number = Number(text);
  if (!Number.isNaN(number)) return number;
  throw new GridRefused(
    `has a no-data tag that is no number (${JSON.stringify(text.slice(0, 40))}): gdal_edit.py -a_nodata VALUE FILE says which one it is`,
  );
}
