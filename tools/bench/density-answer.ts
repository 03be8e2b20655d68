import { type Answer, bodyOf, type CellsOfTile } from "../../functions/population-density/answer/json.ts";
import { overWholeCells } from "../../functions/population-density/answer/whole-cells.ts";
import { measured } from "../../functions/population-density/delivery/measure.ts";
import { beginSignature } from "../../functions/population-density/delivery/sign.ts";
import type { TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { atLeast, inUnit, median, type Row, shown, sized, times } from "./bench.ts";
import { alphabet, dayOf, firstHours, timeOf } from "./city-densities.ts";
import { coverOfCity, precision } from "./density-cover.ts";

/** What is measured by `answerRows`. */
export const aboutAnswers = [
  "“Streamed” is the time to find the cells of a city's polygon and to write a day of them from tiles in memory. The",
  "comparison builds the same value as objects, with every geohash at hand, and then its text by `JSON.stringify`. All",
  "alternate; ratios are medians of the pairs. A slot is one cell in one hour.",
].join("\n");

const minRatio = 14;
const pairs = sized(15, 1);
/** What is compiled while it runs is not counted. */
const firstPairs = sized(1, 0);
const hourCount = sized(24, 2);

/** What it costs to write an answer, over building objects. */
export async function answerRows(): Promise<Row[]> {
  const tiles = coverOfCity();
  const days = tiles.map((_, tile) => dayOf(tile));
  const tileHour: TileHours = (tile, hour) => days[tile]?.[hour];
  const geohashes = tiles.map(geohashesOf);
  const answer: Answer = {
    status: "SUPPORTED_AREA",
    precision,
    tiles,
    hours: firstHours(hourCount),
    openHour: (tile, hour) => {
      const opened = tileHour(tile, hour);
      return opened && overWholeCells(opened);
    },
    basisOf: () => "OBSERVED",
  };
  await assertSame(bodyOf(answer, []), builtJson(answer, tileHour, geohashes));
  const [built, json, counted, signed]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let pair = -firstPairs; pair < pairs; pair++) {
    const started = performance.now();
    builtJson(answer, tileHour, geohashes);
    const building = performance.now() - started;
    const streaming = await streamedMilliseconds(answer);
    if (pair < 0) continue;
    built.push(building);
    json.push(streaming);
    counted.push(await countedMilliseconds(answer, []));
    signed.push(await countedMilliseconds(answer, ["whsec_bWFkZSBmb3IgYSBiZW5jaA=="]));
  }
  const slots = tiles.reduce((sum, { cells }) => sum + cells.length, 0) * hourCount;
  const what = `JSON, ${slots.toLocaleString("en")} slots`;
  return [
    shown(`${what}: as objects, then text`, inUnit("ms")(median(built))),
    shown(`${what}: streamed`, inUnit("ms")(median(json))),
    shown(`${what}: counted before a delivery`, inUnit("ms")(median(counted))),
    shown(`${what}: counted and signed before a delivery`, inUnit("ms")(median(signed))),
    atLeast(
      `${what}: streamed over objects`,
      median(json.map((milliseconds, pair) => (built[pair] ?? Number.NaN) / milliseconds)),
      minRatio,
      times,
    ),
  ];
}

async function streamedMilliseconds(answer: Answer): Promise<number> {
  const started = performance.now();
  const bufferPool: Buffer[] = [];
  const chunks = bodyOf({ ...answer, tiles: coverOfCity() }, bufferPool);
  // What is sent is reused.
  for await (const chunk of chunks) bufferPool.push(chunk);
  return performance.now() - started;
}

/** What a delivery waits for before it is sent: its length, and its signatures. */
async function countedMilliseconds(answer: Answer, secrets: readonly string[]): Promise<number> {
  const started = performance.now();
  const bufferPool: Buffer[] = [];
  const { update } = beginSignature({ id: "", timestamp: "" }, secrets);
  await measured(() => bodyOf(answer, bufferPool), update, bufferPool, AbortSignal.timeout(60_000));
  return performance.now() - started;
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

type TileHours = (tile: number, hour: number) => TileHour | undefined;

function geohashesOf({ geohash, cells }: CellsOfTile): readonly string[] {
  return Array.from(cells, (cell) => geohash + alphabet.charAt(cell >> 5) + alphabet.charAt(cell & 31));
}

function builtJson(answer: Answer, tileHour: TileHours, geohashes: readonly (readonly string[])[]): string {
  const timedPopulationDensityData = answer.hours.map((epochHour, hour) => ({
    startTime: timeOf(epochHour),
    endTime: timeOf(epochHour + 1),
    cellPopulationDensityData: answer.tiles.flatMap(({ cells }, tile) => {
      const densities = tileHour(tile, hour);
      return (geohashes[tile] ?? []).map((geohash, index) => {
        const cell = cells[index] ?? 0;
        const dataType = densities?.kind(cell) ?? "NO_DATA";
        return densities === undefined || dataType !== "DENSITY_ESTIMATION"
          ? { geohash, dataType }
          : {
              geohash,
              dataType,
              pplDensity: densities.value(cell),
              minPplDensity: densities.minimum(cell),
              maxPplDensity: densities.maximum(cell),
            };
      });
    }),
  }));
  return JSON.stringify({ status: answer.status, timedPopulationDensityData });
}
