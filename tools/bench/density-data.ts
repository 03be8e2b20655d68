import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as z from "zod";
import { bodyOf, type CellsOfTile } from "../../functions/population-density/answer/json.ts";
import { encodeTileDay, hoursPerDay, readTileDay } from "../../functions/population-density/tiles/tile.ts";
import { cellsPerTile, type TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { hourMilliseconds } from "../../shared/calendar.ts";
import { type Bench, median, type Row } from "./bench.ts";
import { alphabet, city, dayOf, everyCell, mebibyte } from "./city-densities.ts";

/**
 * What it costs to read stored densities and to write them as an answer. `cover` is run within the time of every
 * body; its tiles are listed over as many hours as make 1.2 million slots.
 */
export function densityDataWith(cover: () => readonly CellsOfTile[]): Bench {
  return {
    about: [
      "What it costs to read stored densities and to write them as an answer. A slot is one cell in one hour.",
      "A body is streamed from tiles in memory, and each chunk is reused after it was counted; the time includes computing the",
      "cover of the polygon. The comparison is building the same value as objects, from the same tiles and with every geohash",
      "at hand, and `JSON.stringify`. Both alternate and give the same bytes; the ratio is the median of the pairs.",
      "“Growth” is the maximum resident memory of a fresh process while it streams from compressed tiles, minus that",
      "before. “Decoded” is reading every slot of a stored tile's day, compared with `JSON.parse` of one item per slot and",
      "reading the same; both give the same sum.",
    ].join("\n"),
    run: async () => [
      ...(await streamRows(cover)),
      await growthRow(1_000_000, 24),
      await growthRow(6_000_000, 32),
      ...decodeRows(),
    ],
  };
}

const firstHour = Date.UTC(2026, 10, 20) / hourMilliseconds;
const minSlots = 1_200_000;
const minStreamRatio = 9;
const minDecodeRatio = 20;
const streamPairs = 15;
const decodePairs = 101;
type OpenHour = (tile: number, hour: number) => TileHour | undefined;

async function streamRows(cover: () => readonly CellsOfTile[]): Promise<Row[]> {
  const tiles = cover();
  const names = tiles.map(namesOf);
  const days = tiles.map((_, tile) => dayOf(tile));
  const openHour: OpenHour = (tile, hour) => days[tile]?.[hour % hoursPerDay];
  const cells = tiles.reduce((sum, { cells }) => sum + cells.length, 0);
  const hours = hoursFor(minSlots, cells);
  const expected = stringified(tiles, names, hours, openHour);
  const streamed: number[] = [];
  const built: number[] = [];
  for (let pair = 0; pair <= streamPairs; pair++) {
    const started = performance.now();
    let bytes = 0;
    const bufferPool: Buffer[] = [];
    for await (const chunk of bodyOf({ ...answer, tiles: cover(), hours, openHour }, bufferPool)) {
      bytes += chunk.length;
      bufferPool.push(chunk);
    }
    const between = performance.now();
    const text = stringified(tiles, names, hours, openHour);
    const ended = performance.now();
    if (bytes !== text.length) throw new Error(`${bytes} bytes were streamed instead of ${text.length}`);
    // The first pair is compiled while it runs.
    if (pair === 0) continue;
    streamed.push(between - started);
    built.push(ended - between);
  }
  await assertSame(bodyOf({ ...answer, tiles, hours, openHour }), expected);
  const ratio = median(streamed.map((milliseconds, pair) => (built[pair] ?? Number.NaN) / milliseconds));
  const slots = (cells * hours.length).toLocaleString("en");
  return [
    shown(`${slots} slots as objects and \`JSON.stringify\``, `${median(built).toFixed(0)} ms`),
    shown(`${slots} slots streamed`, `${median(streamed).toFixed(0)} ms`),
    atLeast(`${slots} slots: streamed over \`JSON.stringify\``, ratio, minStreamRatio),
  ];
}

const answer = { status: "SUPPORTED_AREA", precision: 7 } as const;

function hoursFor(slots: number, cells: number): readonly number[] {
  return Array.from({ length: Math.ceil(slots / cells) }, (_, hour) => firstHour + hour);
}

function namesOf({ geohash, cells }: CellsOfTile): readonly string[] {
  return Array.from(cells, (cell) => geohash + alphabet.charAt(cell >> 5) + alphabet.charAt(cell & 31));
}

function stringified(
  tiles: readonly CellsOfTile[],
  names: readonly (readonly string[])[],
  hours: readonly number[],
  openHour: OpenHour,
): string {
  const timedPopulationDensityData = hours.map((epochHour, hour) => {
    const cellPopulationDensityData: object[] = [];
    for (const [tile, { cells }] of tiles.entries()) {
      const tileHour = openHour(tile, hour);
      for (let index = 0; index < cells.length; index++) {
        const geohash = names[tile]?.[index];
        const cell = cells[index] ?? 0;
        const dataType = tileHour?.kind(cell) ?? "NO_DATA";
        if (tileHour === undefined || dataType !== "DENSITY_ESTIMATION") {
          cellPopulationDensityData.push({ geohash, dataType });
          continue;
        }
        cellPopulationDensityData.push({
          geohash,
          dataType,
          pplDensity: tileHour.value(cell),
          minPplDensity: tileHour.minimum(cell),
          maxPplDensity: tileHour.maximum(cell),
        });
      }
    }
    return { startTime: timeOf(epochHour), endTime: timeOf(epochHour + 1), cellPopulationDensityData };
  });
  return JSON.stringify({ status: answer.status, timedPopulationDensityData });
}

function timeOf(epochHour: number): string {
  return new Date(epochHour * hourMilliseconds).toISOString().replace(".000", "");
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

const thisFile = fileURLToPath(import.meta.url);

const growth = z.object({ slots: z.number(), bytes: z.number(), grownBytes: z.number() });

async function growthRow(minSlots: number, max: number): Promise<Row> {
  const child = fork(thisFile, [String(minSlots)], {
    env: { PATH: process.env.PATH },
    execArgv: ["--import", import.meta.resolve("tsx")],
  });
  const sent = once(child, "message").then(([message]) => growth.parse(message));
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`streaming ${minSlots} slots ended with exit code ${code} and no result`);
  });
  const { slots, bytes, grownBytes } = await Promise.race([sent, ended]);
  const mebibytes = grownBytes / mebibyte;
  return {
    what: `growth while ${slots.toLocaleString("en")} slots are streamed (${(bytes / mebibyte).toFixed(0)} MiB)`,
    measured: `${mebibytes.toFixed(1)} MiB`,
    bar: `≤ ${max} MiB`,
    holds: mebibytes <= max,
  };
}

/** The tiles are stored ones; every hour is opened anew and every chunk dropped. */
async function growthWhileStreaming(minSlots: number): Promise<z.infer<typeof growth>> {
  const days = city.map((_, tile) => readTileDay(encodeTileDay(dayOf(tile))));
  const hours = hoursFor(minSlots, city.length * cellsPerTile);
  const openHour: OpenHour = (tile, hour) => days[tile]?.openHour(hour % hoursPerDay);
  collectGarbage();
  const before = process.memoryUsage.rss();
  let peak = before;
  let bytes = 0;
  let objects = 0;
  const bufferPool: Buffer[] = [];
  for await (const chunk of bodyOf({ ...answer, tiles: city, hours, openHour }, bufferPool)) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === brace) objects++;
    peak = Math.max(peak, process.memoryUsage.rss());
    bufferPool.push(chunk);
  }
  const slots = city.length * cellsPerTile * hours.length;
  if (objects !== 1 + hours.length + slots) throw new Error(`${objects} objects were streamed`);
  return { slots, bytes, grownBytes: peak - before };
}

const brace = 0x7b;

function decodeRows(): Row[] {
  const tile = 3;
  const day = dayOf(tile);
  const stored = encodeTileDay(day);
  const items = day.flatMap((tileHour, hour) =>
    Array.from(everyCell, (cell) => itemOf(tileHour, hour, cell)),
  );
  const expected = sumOfItems(items);
  const decoded: number[] = [];
  const parsed: number[] = [];
  for (let pair = 0; pair < decodePairs; pair++) {
    const started = performance.now();
    const sum = sumOfDay(stored);
    const between = performance.now();
    const sameSum = sumOfItems(items);
    const ended = performance.now();
    if (sum !== expected || sameSum !== expected) throw new Error(`the sum is ${sum}, not ${expected}`);
    decoded.push(between - started);
    parsed.push(ended - between);
  }
  const ratio = median(decoded.map((milliseconds, pair) => (parsed[pair] ?? Number.NaN) / milliseconds));
  return [
    shown("a tile's day, stored", `${(stored.length / 1_024).toFixed(1)} KiB`),
    shown("a tile's day, as items", `${(Buffer.byteLength(items.join("")) / 1_024).toFixed(0)} KiB`),
    shown("a tile's day decoded", `${median(decoded).toFixed(2)} ms`),
    atLeast("a tile's day: decoded over `JSON.parse` of items", ratio, minDecodeRatio),
  ];
}

function itemOf(tileHour: TileHour, hour: number, cell: number): string {
  const geohash = `u05kp${alphabet.charAt(cell >> 5)}${alphabet.charAt(cell & 31)}`;
  const dataType = tileHour.kind(cell);
  const slot = { geohash, startTime: timeOf(firstHour + hour), dataType };
  if (dataType !== "DENSITY_ESTIMATION") return JSON.stringify(slot);
  return JSON.stringify({
    ...slot,
    pplDensity: tileHour.value(cell),
    minPplDensity: tileHour.minimum(cell),
    maxPplDensity: tileHour.maximum(cell),
  });
}

function sumOfDay(stored: Uint8Array): number {
  const day = readTileDay(stored);
  let sum = 0;
  for (let hour = 0; hour < hoursPerDay; hour++) {
    const tileHour = day.openHour(hour);
    if (tileHour === undefined) continue;
    for (let cell = 0; cell < cellsPerTile; cell++) {
      if (tileHour.kind(cell) !== "DENSITY_ESTIMATION") continue;
      sum += tileHour.value(cell) + tileHour.minimum(cell) + tileHour.maximum(cell);
    }
  }
  return sum;
}

function sumOfItems(items: readonly string[]): number {
  let sum = 0;
  for (const item of items) {
    const slot = JSON.parse(item);
    if (slot.dataType === "DENSITY_ESTIMATION")
      sum += slot.pplDensity + slot.minPplDensity + slot.maxPplDensity;
  }
  return sum;
}

function atLeast(what: string, ratio: number, min: number): Row {
  return { what, measured: `${ratio.toFixed(1)} ×`, bar: `≥ ${min} ×`, holds: ratio >= min };
}

function shown(what: string, measured: string): Row {
  return { what, measured, holds: true };
}

/** Needs no flag on the command line. Not between timed runs: what was compiled for them is dropped with it. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
}

if (process.send !== undefined && process.argv[1] === thisFile) {
  process.send(await growthWhileStreaming(Number(process.argv[2])));
}
