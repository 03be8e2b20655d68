/** Sends how much the memory of this process grows while it streams an answer of at least `minSlots` slots. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { bodyOf } from "../../../functions/population-density/answer/json.ts";
import { encodeTileDay, hoursPerDay, readTileDay } from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../functions/population-density/tiles/tile-hour.ts";
import { city, dayOf, firstHours } from "../city-densities.ts";

const minSlots = Number(process.argv[2]);
const cells = city.length * cellsPerTile;
// The tiles are stored ones; every hour is opened again and every chunk dropped.
const days = city.map((_, tile) => readTileDay(encodeTileDay(dayOf(tile))));
const hours = firstHours(Math.ceil(minSlots / cells));

setFlagsFromString("--expose-gc");
runInNewContext("gc()");
const before = process.memoryUsage.rss();
let peak = before;
let bytes = 0;
let objects = 0;
const brace = 0x7b;
const bufferPool: Buffer[] = [];
const answer = {
  status: "SUPPORTED_AREA",
  precision: 7,
  tiles: city,
  hours,
  openHour: (tile: number, hour: number) => days[tile]?.openHour(hour % hoursPerDay),
  basisOf: () => undefined,
} as const;
for await (const chunk of bodyOf(answer, bufferPool)) {
  bytes += chunk.length;
  for (const byte of chunk) if (byte === brace) objects++;
  peak = Math.max(peak, process.memoryUsage.rss());
  bufferPool.push(chunk);
}
const slots = cells * hours.length;
if (objects !== 1 + hours.length + slots) throw new Error(`${objects} objects were streamed`);
process.send?.({ slots, bytes, grownBytes: peak - before });
