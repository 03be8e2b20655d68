import { basename } from "node:path";
import { fromFile } from "geotiff";
import type { Box } from "../../../../functions/population-density/cover/box.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { isFileError, unreadable } from "../../../../shared/import/unreadable.ts";
import type { PopulatedPixels, PopulationFile } from "./places.ts";

const rowsAtOnce = 64;

/** EPSG codes that GeoTIFF files of WGS 84 have. */
const geographicModel = 2;
const wgs84 = 4326;

/**
 * The people of a GeoTIFF, whose first band counts the people of each pixel, inside a box. Some rows are in memory
 * at a time, as far as the file is made of strips or tiles.
 * @throws {ImportError} for a file that is not in WGS 84, or that cannot be read, with what is wrong with it.
 */
export async function* pixelsOf(
  path: string,
  box: Box,
): PopulationFile & AsyncGenerator<readonly PopulatedPixels[]> {
  const file = basename(path);
  try {
    yield* pixelsIn(path, file, box);
  } catch (error) {
    if (error instanceof ImportError || !(error instanceof Error)) throw error;
    const reason = isFileError(error)
      ? unreadable(error.code)
      : `cannot be read as a GeoTIFF: ${error.message.replace(/\.$/, "")}; --kind says what the file is`;
    throw new ImportError([`${file}: ${reason}`]);
  }
}

async function* pixelsIn(path: string, file: string, box: Box): AsyncGenerator<readonly PopulatedPixels[]> {
  const tiff = await fromFile(path);
  try {
    const image = await tiff.getImage();
    const keys = image.getGeoKeys();
    if (keys?.GTModelTypeGeoKey !== geographicModel || keys.GeographicTypeGeoKey !== wgs84) {
      throw new ImportError([
        `${file}: must be in WGS 84: gdalwarp -t_srs EPSG:4326 -r sum makes such a file`,
      ]);
    }
    const [west, , , north] = image.getBoundingBox() as [number, number, number, number];
    const [stepEast, stepNorth] = image.getResolution() as [number, number];
    const [width, height] = [Math.abs(stepEast), Math.abs(stepNorth)];
    const empty = image.getGDALNoData();
    const columns = within(image.getWidth(), (box.west - west) / width, (box.east - west) / width);
    const rows = within(image.getHeight(), (north - box.north) / height, (north - box.south) / height);
    if (columns.from >= columns.to || rows.from >= rows.to) return;
    const longitudes = bordersFrom(west, width, columns.from, columns.to);
    for (let top = rows.from; top < rows.to; top += rowsAtOnce) {
      const bottom = Math.min(top + rowsAtOnce, rows.to);
      const window = [columns.from, top, columns.to, bottom];
      const [counts = []] = (await image.readRasters({ window, samples: [0] })) as unknown as number[][];
      const people = empty === null ? counts : counts.map((count) => (count === empty ? Number.NaN : count));
      yield [{ longitudes, latitudes: bordersFrom(north, -height, top, bottom), people }];
    }
  } finally {
    await tiff.close();
  }
}

/** The pixels of a line that share something with a range. */
function within(length: number, from: number, to: number): { readonly from: number; readonly to: number } {
  return { from: Math.max(0, Math.floor(from)), to: Math.min(length, Math.ceil(to)) };
}

/** The borders of the pixels of a line. */
function bordersFrom(origin: number, step: number, from: number, to: number): Float64Array {
  return Float64Array.from({ length: to - from + 1 }, (_, border) => origin + (from + border) * step);
}
