import ngeohash from "ngeohash";
import { geoJsonOf } from "../../functions/population-density/answer/geojson.ts";
import { type Answer, bodyOf, type CellsOfTile } from "../../functions/population-density/answer/json.ts";
import { csvOf, ndjsonOf } from "../../functions/population-density/answer/line-formats.ts";
import { overWholeCells } from "../../functions/population-density/answer/whole-cells.ts";
import type { TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { atLeast, inUnit, median, type Row, shown, sized, times } from "./bench.ts";
import { alphabet, dayOf, firstHours, timeOf } from "./city-densities.ts";
import { coverOfCity, precision } from "./density-cover.ts";

/** What is measured by `answerRows`. */
export const aboutAnswers = [
  "What it costs to write an answer, a day of a city, in each format. It is streamed from tiles in memory, and each chunk is",
  "reused after it was counted; the time includes computing the cover of the polygon. A slot is one cell in one hour.",
  "The comparison builds the same value as objects, from the same tiles and with every geohash at hand, and makes its text",
  "of them: `JSON.stringify` of the whole for JSON and for GeoJSON, with `ngeohash.decode_bbox` of each cell, and of each",
  "line for NDJSON; the values of each row joined for CSV. Both alternate and give the same bytes; the ratio is the median",
  "of the pairs.",
].join("\n");

interface Format {
  readonly name: string;
  readonly write: (answer: Answer, bufferPool: Buffer[]) => AsyncIterable<Buffer>;
  readonly build: (city: City) => string;
  readonly minRatio: number;
}

/** An answer, and what is at hand for building it as objects. */
interface City {
  readonly answer: Answer;
  readonly tileHour: (tile: number, hour: number) => TileHour | undefined;
  readonly geohashes: readonly (readonly string[])[];
}

const pairs = sized(15, 1);
const hourCount = sized(24, 2);

/** The cost of each format over that of building objects. */
export async function answerRows(): Promise<Row[]> {
  const tiles = coverOfCity();
  const days = tiles.map((_, tile) => dayOf(tile));
  const tileHour: City["tileHour"] = (tile, hour) => days[tile]?.[hour];
  const city = {
    answer: {
      status: "SUPPORTED_AREA",
      precision,
      tiles,
      hours: firstHours(hourCount),
      openHour: (tile: number, hour: number) => {
        const opened = tileHour(tile, hour);
        return opened && overWholeCells(opened);
      },
      basisOf: () => "OBSERVED" as const,
    },
    tileHour,
    geohashes: tiles.map(geohashesOf),
  } as const;
  const rows: Row[] = [];
  for (const format of formats) rows.push(...(await rowsOf(format, city)));
  return rows;
}

function geohashesOf({ geohash, cells }: CellsOfTile): readonly string[] {
  return Array.from(cells, (cell) => geohash + alphabet.charAt(cell >> 5) + alphabet.charAt(cell & 31));
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
    for await (const chunk of write({ ...city.answer, tiles: coverOfCity() }, bufferPool)) {
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
    shown(`${what}: as objects, then text`, inUnit("ms")(median(built))),
    shown(`${what}: streamed`, inUnit("ms")(median(streamed))),
    atLeast(`${what}: streamed over objects`, ratio, minRatio, times),
  ];
}

async function assertSame(chunks: AsyncIterable<Buffer>, expected: string): Promise<void> {
  let at = 0;
  for await (const chunk of chunks) {
    if (chunk.toString("latin1") !== expected.slice(at, at + chunk.length))
      throw new Error(`other bytes after ${at}`);
    at += chunk.length;
  }
  if (at !== expected.length) throw new Error(`${at} bytes were streamed instead of ${expected.length}`);
}

/** The interval of an hour of an answer. */
function intervalOf(epochHour: number) {
  return { startTime: timeOf(epochHour), endTime: timeOf(epochHour + 1) };
}

/** Calls a function for every cell of an hour. */
function eachCell(
  { answer, tileHour, geohashes }: City,
  hour: number,
  call: (geohash: string, cell: number, tileHour: TileHour | undefined) => void,
): void {
  for (const [tile, { cells }] of answer.tiles.entries()) {
    const densities = tileHour(tile, hour);
    for (const [index, geohash] of (geohashes[tile] ?? []).entries())
      call(geohash, cells[index] ?? 0, densities);
  }
}

function builtJson(city: City): string {
  const timedPopulationDensityData = city.answer.hours.map((epochHour, hour) => {
    const cellPopulationDensityData: object[] = [];
    eachCell(city, hour, (geohash, cell, tileHour) => {
      const dataType = tileHour?.kind(cell) ?? "NO_DATA";
      cellPopulationDensityData.push(
        tileHour === undefined || dataType !== "DENSITY_ESTIMATION"
          ? { geohash, dataType }
          : {
              geohash,
              dataType,
              pplDensity: tileHour.value(cell),
              minPplDensity: tileHour.minimum(cell),
              maxPplDensity: tileHour.maximum(cell),
            },
      );
    });
    return { ...intervalOf(epochHour), cellPopulationDensityData };
  });
  return JSON.stringify({ status: city.answer.status, timedPopulationDensityData });
}

function builtGeoJson({ answer, tileHour, geohashes }: City): string {
  const { status, tiles, hours } = answer;
  const intervals = hours.map(intervalOf);
  const [startTime, endTime] = [intervals.at(0)?.startTime, intervals.at(-1)?.endTime];
  const features: object[] = [];
  for (const [tileIndex, tile] of tiles.entries()) {
    const tileHours = hours.map((_, hour) => tileHour(tileIndex, hour));
    for (const [index, geohash] of (geohashes[tileIndex] ?? []).entries()) {
      const cell = tile.cells[index] ?? 0;
      const basis = hours.map((_, hour) => answer.basisOf(tileIndex, hour) ?? null);
      const dataType: string[] = [];
      const pplDensity: (number | null)[] = [];
      const minPplDensity: (number | null)[] = [];
      const maxPplDensity: (number | null)[] = [];
      const coveredShare: number[] = [];
      for (const hour of tileHours) {
        const kind = hour?.kind(cell) ?? "NO_DATA";
        const isEstimate = hour !== undefined && kind === "DENSITY_ESTIMATION";
        dataType.push(kind);
        pplDensity.push(isEstimate ? hour.value(cell) : null);
        minPplDensity.push(isEstimate ? hour.minimum(cell) : null);
        maxPplDensity.push(isEstimate ? hour.maximum(cell) : null);
        coveredShare.push(hour?.share(cell) ?? 0);
      }
      features.push({
        type: "Feature",
        id: geohash,
        geometry: { type: "Polygon", coordinates: [ringOf(geohash)] },
        properties: {
          geohash,
          startTime,
          endTime,
          basis,
          dataType,
          pplDensity,
          minPplDensity,
          maxPplDensity,
          coveredShare,
        },
      });
    }
  }
  return JSON.stringify({ type: "FeatureCollection", status, intervals, features });
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

const columns = [
  "geohash",
  "startTime",
  "endTime",
  "dataType",
  "pplDensity",
  "minPplDensity",
  "maxPplDensity",
  "coveredShare",
  "basis",
] as const;

type CellRow = Partial<Record<(typeof columns)[number], string | number>>;

function builtRows(city: City): CellRow[] {
  const rows: CellRow[] = [];
  for (const [hour, epochHour] of city.answer.hours.entries()) {
    const { startTime, endTime } = intervalOf(epochHour);
    eachCell(city, hour, (geohash, cell, tileHour) => {
      const dataType = tileHour?.kind(cell) ?? "NO_DATA";
      rows.push(
        tileHour === undefined || dataType !== "DENSITY_ESTIMATION"
          ? {
              geohash,
              startTime,
              endTime,
              basis: "OBSERVED",
              dataType,
              coveredShare: tileHour?.share(cell) ?? 0,
            }
          : {
              geohash,
              startTime,
              endTime,
              basis: "OBSERVED",
              dataType,
              pplDensity: tileHour.value(cell),
              minPplDensity: tileHour.minimum(cell),
              maxPplDensity: tileHour.maximum(cell),
              coveredShare: tileHour.share(cell),
            },
      );
    });
  }
  return rows;
}

function builtCsv(city: City): string {
  const lines = builtRows(city).map((row) => columns.map((column) => row[column] ?? "").join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}

function builtNdjson(city: City): string {
  return builtRows(city)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");
}

const formats: readonly Format[] = [
  { name: "JSON", write: bodyOf, build: builtJson, minRatio: 14 },
  { name: "GeoJSON", write: geoJsonOf, build: builtGeoJson, minRatio: 8 },
  { name: "CSV", write: csvOf, build: builtCsv, minRatio: 8 },
  { name: "NDJSON", write: ndjsonOf, build: builtNdjson, minRatio: 8 },
];
