/**
 * Sends the CPU that it takes to answer a past hour of the bench's city, from the tables that the environment names.
 */
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { answerTo } from "../../../functions/population-density/answer/answer-to.ts";
import { bodyOf } from "../../../functions/population-density/answer/json.ts";
import { parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { hourMilliseconds } from "../../../shared/calendar.ts";
import { sized } from "../bench.ts";
import { cityRing, precision } from "../density-cover.ts";

const turns = sized(15, 1);
process.env.CACHE_SECONDS = "0";

const [startTime = ""] = process.argv.slice(2);
const endTime = new Date(Date.parse(startTime) + hourMilliseconds).toISOString();
const area = { areaType: "POLYGON", boundary: cityRing } as const;
const query = parseDensityRequest({ area, startTime, endTime, precision }, new Date());
if ("code" in query) throw new Error(query.code);

/** CPU milliseconds of this process since a moment. */
function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const reads: number[] = [];
const writes: number[] = [];
const sizes = { slots: 0, bytes: 0, compressedBytes: 0 };
for (let turn = 0; turn < turns; turn++) {
  const started = process.cpuUsage();
  const answer = await answerTo(query, AbortSignal.timeout(60_000));
  reads.push(since(started));
  const read = process.cpuUsage();
  const chunks: Buffer[] = [];
  for await (const chunk of bodyOf(answer)) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const compressed = await promisify(gzip)(body, { level: constants.Z_BEST_SPEED });
  writes.push(since(read));
  sizes.slots = answer.tiles.reduce((sum, { cells }) => sum + cells.length, 0) * answer.hours.length;
  sizes.bytes = body.length;
  sizes.compressedBytes = compressed.length;
}
process.send?.({ readMilliseconds: Math.min(...reads), writeMilliseconds: Math.min(...writes), ...sizes });
