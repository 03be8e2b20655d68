import ngeohash from "ngeohash";
import { geoJsonOf } from "../../functions/population-density/answer/geojson.ts";
import type { Answer } from "../../functions/population-density/answer/json.ts";
import { csvOf, ndjsonOf } from "../../functions/population-density/answer/line-formats.ts";
import { hoursPerDay } from "../../functions/population-density/tiles/tile.ts";
import type { TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { hourMilliseconds } from "../../shared/calendar.ts";
import { type Bench, median, type Row } from "./bench.ts";
import { alphabet, dayOf } from "./city-densities.ts";
import { coverOfCity } from "./density-cover.ts";

/** What it costs to write an answer in each of the formats. */
export const formats: Bench = {
  about: [
    "What it costs to write an answer in each format but JSON, as it is streamed from tiles in memory. The comparison builds",
    "the same value as objects, from the same tiles and with every geohash at hand, and makes its text of them:",
    "`JSON.stringify` of the whole, with `ngeohash.decode_bbox` of each cell, for GeoJSON, and of each line for NDJSON; the",
    "values of each row joined for CSV. Both alternate and give the same bytes; the ratio is the median of the pairs.",
  ].join("\n"),
  run: async () => {
    const day = cityOver(24);
    const rows: Row[] = [];
    for (const format of formatsMeasured) rows.push(...(await rowsOf(format, day)));
    return rows;
  },
};

type OpenHour = (tile: number, hour: number) => TileHour | undefined;

interface Format {
  readonly name: string;
  readonly write: (answer: Answer, bufferPool: Buffer[]) => AsyncIterable<Buffer>;
  readonly build: (city: City) => string;
  readonly minRatio?: number;
}

/** An answer, and what is at hand for building it as objects. */
interface City {
  readonly answer: Omit<Answer, "openHour"> & { readonly openHour: OpenHour };
  readonly cells: readonly (readonly string[])[];
}

const pairs = 9;
const firstHour = Date.UTC(2026, 10, 20) / hourMilliseconds;

function cityOver(hourCount: number): City {
  const tiles = coverOfCity();
  const days = tiles.map((_, tile) => dayOf(tile));
  return {
    answer: {
      status: "SUPPORTED_AREA",
      precision: 7,
      tiles,
      hours: Array.from({ length: hourCount }, (_, hour) => firstHour + hour),
      openHour: (tile, hour) => days[tile]?.[hour % hoursPerDay],
    },
    cells: tiles.map(({ geohash, cells }) =>
      Array.from(cells, (cell) => geohash + alphabet.charAt(cell >> 5) + alphabet.charAt(cell & 31)),
    ),
  };
}

function ringOf(geohash: string): number[][] {
  const [south, west, north, east] = ngeohash.decode_bbox(geohash);
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

async function rowsOf({ name, write, build, minRatio }: Format, city: City): Promise<Row[]> {
  const { tiles, hours } = city.answer;
  const slots = tiles.reduce((sum, { cells }) => sum + cells.length, 0) * hours.length;
  const streamed: number[] = [];
  const built: number[] = [];
  for (let pair = 0; pair <= pairs; pair++) {
    const started = performance.now();
    let bytes = 0;
    const bufferPool: Buffer[] = [];
    for await (const chunk of write(city.answer, bufferPool)) {
      bytes += chunk.length;
      bufferPool.push(chunk);
    }
    const between = performance.now();
    const text = build(city);
    const ended = performance.now();
    if (bytes !== text.length) throw new Error(`${bytes} bytes were streamed instead of ${text.length}`);
    // The first pair is compiled while it runs.
    if (pair === 0) await assertSame(write(city.answer, []), text);
    else {
      streamed.push(between - started);
      built.push(ended - between);
    }
  }
  const ratio = median(streamed.map((milliseconds, pair) => (built[pair] ?? Number.NaN) / milliseconds));
  const what = `${name}, ${slots.toLocaleString("en")} slots`;
  return [
    { what: `${what}: as objects, then text`, measured: `${median(built).toFixed(0)} ms`, holds: true },
    { what: `${what}: streamed`, measured: `${median(streamed).toFixed(0)} ms`, holds: true },
    {
      what: `${what}: streamed over objects`,
      measured: `${ratio.toFixed(1)} ×`,
      ...(minRatio === undefined ? {} : { bar: `≥ ${minRatio} ×` }),
      holds: minRatio === undefined || ratio >= minRatio,
    },
  ];
}

async function assertSame(chunks: AsyncIterable<Buffer>, expected: string): Promise<void> {
  let at = 0;
  for await (const chunk of chunks) {
    if (chunk.toString("latin1") !== expected.slice(at, at + chunk.length))
      throw new Error(`other bytes after ${at}`);
    at += chunk.length;
  }
}

function timeOf(epochHour: number): string {
  return new Date(epochHour * hourMilliseconds).toISOString().replace(".000", "");
}

interface CellValues {
  readonly dataType: string;
  readonly pplDensity?: number;
  readonly minPplDensity?: number;
  readonly maxPplDensity?: number;
}

function builtGeoJson({ answer, cells }: City): string {
  const { status, tiles, hours, openHour } = answer;
  const intervals = hours.map((hour) => ({ startTime: timeOf(hour), endTime: timeOf(hour + 1) }));
  const [startTime, endTime] = [intervals.at(0)?.startTime, intervals.at(-1)?.endTime];
  const features: object[] = [];
  for (const [tileIndex, tile] of tiles.entries()) {
    const tileHours = hours.map((_, hour) => openHour(tileIndex, hour));
    for (const [index, geohash] of (cells[tileIndex] ?? []).entries()) {
      const cell = tile.cells[index] ?? 0;
      const dataType: string[] = [];
      const pplDensity: (number | null)[] = [];
      const minPplDensity: (number | null)[] = [];
      const maxPplDensity: (number | null)[] = [];
      for (const hour of tileHours) {
        const kind = hour?.kind(cell) ?? "NO_DATA";
        const isEstimate = hour !== undefined && kind === "DENSITY_ESTIMATION";
        dataType.push(kind);
        pplDensity.push(isEstimate ? hour.value(cell) : null);
        minPplDensity.push(isEstimate ? hour.minimum(cell) : null);
        maxPplDensity.push(isEstimate ? hour.maximum(cell) : null);
      }
      features.push({
        type: "Feature",
        id: geohash,
        geometry: { type: "Polygon", coordinates: [ringOf(geohash)] },
        properties: { geohash, startTime, endTime, dataType, pplDensity, minPplDensity, maxPplDensity },
      });
    }
  }
  return JSON.stringify({ type: "FeatureCollection", status, intervals, features });
}

interface CellRow extends CellValues {
  readonly geohash: string;
  readonly startTime: string;
  readonly endTime: string;
}

function builtRows({ answer, cells }: City): CellRow[] {
  const { tiles, hours, openHour } = answer;
  const rows: CellRow[] = [];
  for (const [hour, epochHour] of hours.entries()) {
    const [startTime, endTime] = [timeOf(epochHour), timeOf(epochHour + 1)];
    for (const [tileIndex, tile] of tiles.entries()) {
      const tileHour = openHour(tileIndex, hour);
      for (const [index, geohash] of (cells[tileIndex] ?? []).entries()) {
        const cell = tile.cells[index] ?? 0;
        const dataType = tileHour?.kind(cell) ?? "NO_DATA";
        rows.push(
          tileHour === undefined || dataType !== "DENSITY_ESTIMATION"
            ? { geohash, startTime, endTime, dataType }
            : {
                geohash,
                startTime,
                endTime,
                dataType,
                pplDensity: tileHour.value(cell),
                minPplDensity: tileHour.minimum(cell),
                maxPplDensity: tileHour.maximum(cell),
              },
        );
      }
    }
  }
  return rows;
}

const columns = [
  "geohash",
  "startTime",
  "endTime",
  "dataType",
  "pplDensity",
  "minPplDensity",
  "maxPplDensity",
] as const;

function builtCsv(city: City): string {
  const lines = builtRows(city).map((row) => columns.map((column) => row[column] ?? "").join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}

function builtNdjson(city: City): string {
  return builtRows(city)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");
}

const minRatio = 8;

const formatsMeasured: readonly Format[] = [
  { name: "GeoJSON", write: geoJsonOf, build: builtGeoJson, minRatio },
  { name: "CSV", write: csvOf, build: builtCsv, minRatio },
  { name: "NDJSON", write: ndjsonOf, build: builtNdjson },
];
