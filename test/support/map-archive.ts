/** Archives of map tiles, for tests. */
import { geoJSONToTile } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { FeatureCollection } from "geojson";
import { zxyToTileId } from "pmtiles";

/** A tile, as its zoom, column and row. */
type TileName = readonly [zoom: number, x: number, y: number];

/** Makes a PMTiles archive (version 3) that has one vector tile, with the features of each layer. */
export function mapArchive(layers: Readonly<Record<string, FeatureCollection>>, [z, x, y]: TileName): Buffer {
  const tiles = Object.entries(layers).flatMap(([name, features]) => {
    const tile = geoJSONToTile(features, z, x, y);
    return tile === null ? [] : [[name, tile] as const];
  });
  const tile = Buffer.from(fromGeojsonVt(Object.fromEntries(tiles), { version: 2 }));
  // One entry: the id of its tile, for one tile, with its length, at the offset 0 (plus 1).
  const directory = Buffer.from([1, zxyToTileId(z, x, y), 1, tile.length, 1].flatMap(varint));
  const metadata = Buffer.from(JSON.stringify({ vector_layers: Object.keys(layers).map((id) => ({ id })) }));
  return Buffer.concat([header(directory, metadata, tile, z), directory, metadata, tile]);
}

/** https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md */
function header(directory: Buffer, metadata: Buffer, tile: Buffer, zoom: number): Buffer {
  const written = Buffer.alloc(127);
  written.write("PMTiles");
  written.writeUInt8(3, 7);
  const metadataStart = written.length + directory.length;
  const tilesStart = metadataStart + metadata.length;
  const parts = [
    [written.length, directory.length],
    [metadataStart, metadata.length],
    [tilesStart, 0], // no further directories
    [tilesStart, tile.length],
    [1, 1], // tiles, and entries
    [1], // different tiles
  ].flat();
  for (const [index, number] of parts.entries()) written.writeBigUInt64LE(BigInt(number), 8 + 8 * index);
  const [isClustered, uncompressed, vectorTiles] = [1, 1, 1];
  written.set([isClustered, uncompressed, uncompressed, vectorTiles, zoom, zoom], 96);
  for (const [index, degrees] of [-180, -85, 180, 85].entries()) {
    written.writeInt32LE(degrees * 1e7, 102 + 4 * index);
  }
  return written;
}

function varint(number: number): number[] {
  return number < 128 ? [number] : [(number % 128) + 128, ...varint(Math.floor(number / 128))];
}
