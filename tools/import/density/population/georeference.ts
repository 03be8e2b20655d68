import type { Box } from "../../../../functions/population-density/cover/box.ts";

/** What a GeoTIFF says of where its pixels are; undefined for tags that it does not have. */
export interface ModelTags {
  readonly columns: number;
  readonly rows: number;
  /** ModelTransformation: 4 × 4 numbers, row by row. */
  readonly transformation?: ArrayLike<number> | undefined;
  /** ModelPixelScale: of x, y and z. */
  readonly pixelScale?: ArrayLike<number> | undefined;
  /** ModelTiepoint: of each point the pixel's column, row and level, and its x, y and z. */
  readonly tiePoints?: ArrayLike<number> | undefined;
  /** By the names of the GeoTIFF specification. */
  readonly keys: Readonly<Record<string, unknown>>;
}

/** Where the pixels of a grid are. */
export interface Georeference {
  /** The edges of the columns, in their order, in degrees: one more than columns. */
  readonly longitudes: Float64Array;
  /** The edges of the rows, in their order, in degrees: one more than rows. */
  readonly latitudes: Float64Array;
  /** How it was understood, in words. */
  readonly description: string;
}

/**
 * A grid that is not read. The message says what it has; `command` is that of GDAL, without its two files, whose result
 * is read, where there is one.
 */
export class GridRefused extends Error {
  readonly command: string | undefined;

  constructor(reason: string, command?: string) {
    super(reason);
    this.name = "GridRefused";
    this.command = command;
  }
}

/** Makes a grid of degrees with the same people: pixels that are divided or put together are added up. */
export const toDegrees = "gdalwarp -t_srs EPSG:4326 -r sum -ot Float64 -dstnodata nan";

/** For coordinates that nothing says to be degrees; GDAL reads a world file (.tfw) as well. */
const assumedDegrees = toDegrees.replace(" ", " -s_srs EPSG:4326 ");

/** The same for degrees of another datum or meridian, whose pixels stay what they are: a sum would lose single ones. */
const toOurDegrees = "gdalwarp -t_srs EPSG:4326 -r near -ot Float64 -dstnodata nan";

/**
 * Where the pixels are, by the tags of the file alone: by its tie point and scale, or by its matrix. A
 * tie point may be of any pixel, and either axis may run in either direction.
 * @throws {GridRefused} for any other model than degrees of WGS 84 with columns along meridians.
 */
export function georeferenceOf(tags: ModelTags): Georeference {
  requireDegrees(tags.keys);
  const { tag, x, y } = affineOf(tags);
  const isPoint = isPixelPoint(tags.keys);
  const half = isPoint ? 0.5 : 0;
  const longitudes = edgesOf(tags.columns, x.start - half * x.step, x.step);
  const latitudes = edgesOf(tags.rows, y.start - half * y.step, y.step);
  const { west, south, east, north } = boxOf({ longitudes, latitudes });
  const description = [
    `${tags.columns.toLocaleString("en")} × ${tags.rows.toLocaleString("en")} pixels of ${degrees(Math.abs(x.step))} × ` +
      `${degrees(Math.abs(y.step))} degrees from ${degrees(west)} to ${degrees(east)} E and ${degrees(south)} to ` +
      `${degrees(north)} N`,
    `the first row is in the ${y.step < 0 ? "north" : "south"}`,
    ...(x.step < 0 ? ["the first column is in the east"] : []),
    `${tag} ${isPoint ? "of the pixels' centres (PixelIsPoint)" : "of the pixels' corners (PixelIsArea)"}`,
  ].join(", ");
  return { longitudes, latitudes, description };
}

/** What all pixels are in. */
function boxOf({ longitudes, latitudes }: Pick<Georeference, "longitudes" | "latitudes">): Box {
  const ends = (edges: Float64Array) => [edges[0] as number, edges.at(-1) as number];
  const [columns, rows] = [ends(longitudes), ends(latitudes)];
  return {
    west: Math.min(...columns),
    east: Math.max(...columns),
    south: Math.min(...rows),
    north: Math.max(...rows),
  };
}

/**
 * @throws {GridRefused} for a grid that has none of the box, or that has a part of it under longitudes that are 360
 * degrees more or less.
 */
export function requireInBox(grid: Georeference, box: Box): void {
  const [width, height] = [stepOf(grid.longitudes), stepOf(grid.latitudes)];
  const { west, south, east, north } = boxOf(grid);
  const common = (turn: number) => Math.min(box.east + turn, east) - Math.max(box.west + turn, west);
  const isInRows = Math.min(box.north, north) > Math.max(box.south, south);
  const turn = [-360, 360].find((each) => isInRows && common(each) > width);
  if (turn !== undefined) {
    const aligned = {
      west: west - turn + Math.floor((box.west + turn - west) / width) * width,
      east: west - turn + Math.ceil((box.east + turn - west) / width) * width,
      south: north - Math.ceil((north - box.south) / height) * height,
      north: north - Math.floor((north - box.north) / height) * height,
    };
    const corners = [aligned.west, aligned.south, aligned.east, aligned.north].map(degrees).join(" ");
    // Pixels stay what they are: a resampling by sums is inexact at the meridian where such grids begin.
    throw new GridRefused(
      `has longitudes from ${degrees(west)} to ${degrees(east)}, and --bbox from ${degrees(box.west)} to ` +
        `${degrees(box.east)}, of which it has a part ${Math.abs(turn)} degrees further ${turn > 0 ? "east" : "west"}`,
      `gdalwarp --config CENTER_LONG 0 -t_srs EPSG:4326 -r near -te ${corners} -tr ${width} ${height} -ot Float64 -dstnodata nan`,
    );
  }
  if (isInRows && common(0) > 0) return;
  const { longitudes, latitudes } = grid;
  const isSwapped =
    [box.south, box.north].some(isBetween(longitudes)) && [box.west, box.east].some(isBetween(latitudes));
  throw new GridRefused(
    `has longitudes from ${degrees(west)} to ${degrees(east)} and latitudes from ${degrees(south)} to ` +
      `${degrees(north)}, and nothing of --bbox, which has longitudes from ${degrees(box.west)} to ${degrees(box.east)} ` +
      `and latitudes from ${degrees(box.south)} to ${degrees(box.north)}${isSwapped ? ": swapped?" : ""}`,
  );
}

function isBetween(edges: Float64Array): (degree: number) => boolean {
  const [one, other] = [edges[0] as number, edges.at(-1) as number];
  return (degree) => degree >= Math.min(one, other) && degree <= Math.max(one, other);
}

function requireDegrees(keys: ModelTags["keys"]): void {
  const {
    GTModelTypeGeoKey: model,
    GeographicTypeGeoKey: geographic,
    ProjectedCSTypeGeoKey: projected,
  } = keys;
  if (model === undefined && geographic === undefined && projected === undefined) {
    throw new GridRefused(
      "says nowhere that its coordinates are degrees of WGS 84 (EPSG:4326). If they are",
      assumedDegrees,
    );
  }
  if (model !== geographicModel || geographic !== wgs84) {
    const code = model === geographicModel ? geographic : projected;
    const name = typeof code === "number" && code !== userDefined ? `EPSG:${code}` : "a system of its own";
    throw new GridRefused(
      `must be in degrees of WGS 84 (EPSG:4326), and is in ${name}`,
      model === geographicModel ? toOurDegrees : toDegrees,
    );
  }
  const {
    GeogAngularUnitsGeoKey: unit,
    GeogPrimeMeridianGeoKey: meridian,
    GTRasterTypeGeoKey: raster,
  } = keys;
  if (unit !== undefined && !degreeUnits.includes(unit)) {
    throw new GridRefused(`must be in degrees, and has the angular unit EPSG:${unit}`, toDegrees);
  }
  if (meridian !== undefined && meridian !== greenwich) {
    throw new GridRefused(
      `must count from Greenwich, and has the prime meridian EPSG:${meridian}`,
      toDegrees,
    );
  }
  if (raster !== undefined && raster !== pixelIsArea && raster !== pixelIsPoint) {
    throw new GridRefused(
      `has the raster type ${raster}, which is neither PixelIsArea nor PixelIsPoint`,
      toDegrees,
    );
  }
}

/** Codes of the GeoTIFF specification and of EPSG. */
const geographicModel = 2;
const wgs84 = 4326;
const userDefined = 32_767;
const degreeUnits: readonly unknown[] = [9_102, 9_122];
const greenwich = 8_901;
const pixelIsArea = 1;
const pixelIsPoint = 2;

function isPixelPoint({ GTRasterTypeGeoKey }: ModelTags["keys"]): boolean {
  return GTRasterTypeGeoKey === pixelIsPoint;
}

/** The coordinate of pixel 0, and how much further the next one is. */
interface Axis {
  readonly start: number;
  readonly step: number;
}

interface Affine {
  /** What it was read from. */
  readonly tag: string;
  readonly x: Axis;
  readonly y: Axis;
}

function affineOf(tags: ModelTags): Affine {
  const found = [byTiePoints(tags), byMatrix(tags)].filter((affine) => affine !== undefined);
  const [affine, other] = found;
  if (affine === undefined) {
    if ((tags.tiePoints?.length ?? 0) > 0) {
      throw new GridRefused(
        "has tie points without a ModelPixelScale (ground control points): its pixels need not be rectangles",
        toDegrees,
      );
    }
    throw new GridRefused(
      "says nowhere where its pixels are: it has neither a ModelTransformation nor a ModelPixelScale with a " +
        "ModelTiepoint. With a world file (.tfw) next to it",
      assumedDegrees,
    );
  }
  const numbers = [affine.x.start, affine.x.step, affine.y.start, affine.y.step];
  if (!numbers.every(Number.isFinite) || affine.x.step === 0 || affine.y.step === 0) {
    throw new GridRefused(`has a ${affine.tag} that gives its pixels no area`, assumedDegrees);
  }
  if (other !== undefined && !isSame(affine, other, tags)) {
    throw new GridRefused(`has a ${affine.tag} and a ${other.tag} that contradict each other`, toDegrees);
  }
  return affine;
}

/** As the specification has it: a y scale above 0 is of rows from the north, one below 0 of rows from the south. */
function byTiePoints({ columns, rows, pixelScale, tiePoints }: ModelTags): Affine | undefined {
  if (pixelScale === undefined || tiePoints === undefined || tiePoints.length < 6) return undefined;
  const [stepX, stepY] = [pixelScale[0] as number, -(pixelScale[1] as number)];
  const affineAt = (at: number): Affine => ({
    tag: "ModelPixelScale",
    x: { start: (tiePoints[at + 3] as number) - (tiePoints[at] as number) * stepX, step: stepX },
    y: { start: (tiePoints[at + 4] as number) - (tiePoints[at + 1] as number) * stepY, step: stepY },
  });
  const first = affineAt(0);
  for (let at = 6; at + 6 <= tiePoints.length; at += 6) {
    if (isSame(first, affineAt(at), { columns, rows })) continue;
    throw new GridRefused("has tie points that contradict its ModelPixelScale", toDegrees);
  }
  return first;
}

function byMatrix({ columns, rows, transformation }: ModelTags): Affine | undefined {
  if (transformation === undefined || transformation.length < 8) return undefined;
  const [a, b, , d, e, f, , h] = Array.from(transformation) as [number, number, number, number, ...number[]];
  const [across, along] = [Math.abs(b) * rows, Math.abs(e as number) * columns];
  if (across > tolerance * Math.abs(a) || along > tolerance * Math.abs(f as number)) {
    throw new GridRefused(
      "has a ModelTransformation with rotation or shear: its rows do not run along parallels",
      toDegrees,
    );
  }
  return {
    tag: "ModelTransformation",
    x: { start: d, step: a },
    y: { start: h as number, step: f as number },
  };
}

/** In pixels, anywhere in the grid: less is rounding. */
const tolerance = 1e-3;

function isSame(one: Affine, other: Affine, { columns, rows }: Pick<ModelTags, "columns" | "rows">): boolean {
  const isNear = (length: number, first: Axis, second: Axis) =>
    [0, length].every((at) => {
      const apart = first.start + at * first.step - (second.start + at * second.step);
      return Math.abs(apart) <= tolerance * Math.abs(first.step);
    });
  return isNear(columns, one.x, other.x) && isNear(rows, one.y, other.y);
}

/** Edges next to those of cells are put onto them, so that what is rounded covers no further cell. */
function edgesOf(length: number, start: number, step: number): Float64Array {
  return Float64Array.from({ length: length + 1 }, (_, at) => {
    const edge = start + at * step;
    const ofCells = Math.round(edge / finestCell) * finestCell;
    return Math.abs(edge - ofCells) < roundingDegrees ? ofCells : edge;
  });
}

/** Degrees of latitude that a cell of precision 8 has, exactly. */
const finestCell = 180 / 2 ** 20;

/** A centimetre. */
const roundingDegrees = 1e-7;

function stepOf(edges: Float64Array): number {
  return Math.abs((edges.at(-1) as number) - (edges[0] as number)) / (edges.length - 1);
}

function degrees(number: number): string {
  return String(Number(number.toFixed(9)));
}
