import * as z from "zod";
import { encodeTileDay, hoursPerDay, readTileDay } from "../../functions/population-density/tiles/tile.ts";
import { cellsPerTile, type TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { atLeast, atMost, inUnit, mebibytes, median, type Row, shown, sized, times } from "./bench.ts";
import { alphabet, dayOf, everyCell, firstHour, mebibyte, timeOf } from "./city-densities.ts";
import { forkProgram, resultOf } from "./process.ts";

/** What is measured by `storedRows`. */
export const aboutStored = [
  "“Decoded” is reading every slot of a stored tile's day, compared with `JSON.parse` of one item per slot and reading the",
  "same; both give the same sum. “Growth” is the maximum resident memory of a fresh process while it streams from",
  "compressed tiles, minus that before.",
].join("\n");

const minDecodeRatio = 20;
const decodePairs = sized(101, 1);

/** What it costs to read stored densities. */
export async function storedRows(): Promise<Row[]> {
  return [...decodeRows(), await growthRow(1_000_000, 24), await growthRow(6_000_000, 32)];
}

const growth = z.object({ slots: z.number(), bytes: z.number(), grownBytes: z.number() });

async function growthRow(minSlots: number, maxMebibytes: number): Promise<Row> {
  const child = forkProgram("growth.ts", [String(minSlots)]);
  const { slots, bytes, grownBytes } = await resultOf(child, growth);
  return atMost(
    `growth while ${slots.toLocaleString("en")} slots are streamed (${(bytes / mebibyte).toFixed(0)} MiB)`,
    grownBytes,
    maxMebibytes * mebibyte,
    mebibytes,
  );
}

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
  const kibibytes = inUnit("KiB");
  return [
    shown("a tile's day, stored", kibibytes(stored.length / 1_024)),
    shown("a tile's day, as items", kibibytes(Buffer.byteLength(items.join("")) / 1_024)),
    shown("a tile's day decoded", inUnit("ms", 2)(median(decoded))),
    atLeast("a tile's day: decoded over `JSON.parse` of items", ratio, minDecodeRatio, times),
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
