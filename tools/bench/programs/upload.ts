/**
 * Uploads large and small answers, large ones whose length is known, large ones that are signed with two secrets, and as
 * many bytes of a constant chunk, to a sink. Sends how long they took.
 */

import { bodyOf } from "../../../functions/population-density/answer/json.ts";
import { measured } from "../../../functions/population-density/delivery/measure.ts";
import { beginSignature } from "../../../functions/population-density/delivery/sign.ts";
import { encodeTileDay, hoursPerDay, readTileDay } from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../functions/population-density/tiles/tile-hour.ts";
import { parseAllowedNetworks } from "../../../shared/sinks/networks.ts";
import { post } from "../../../shared/sinks/post.ts";
import { sized } from "../bench.ts";
import { city, dayOf, firstHours } from "../city-densities.ts";

type Body = (bufferPool: Buffer[]) => AsyncIterable<Buffer>;

const [, , sink = ""] = process.argv;
const tiles = city.slice(0, sized(10, 1));
const [largeHours, smallHours] = [sized(168, 2), sized(17, 1)];
const turns = sized(9, 1);

const days = tiles.map((_, tile) => readTileDay(encodeTileDay(dayOf(tile))));
const allowed = parseAllowedNetworks("127.0.0.1/32:1024-65535") ?? [];
let sentBytes = 0;

const secrets = ["first", "second"].map((key) => `whsec_${Buffer.from(key.padEnd(32)).toString("base64")}`);

interface SendOptions {
  readonly signedWith?: readonly string[];
  /** Its length, if it need not be measured. */
  readonly bodyBytes?: number;
}

/** Uploads a body. Returns the milliseconds. */
async function send(write: Body, { signedWith = [], bodyBytes }: SendOptions = {}): Promise<number> {
  const bufferPool: Buffer[] = [];
  const started = performance.now();
  const signature = beginSignature({ id: "an operation", timestamp: "1795255200" }, signedWith);
  const signal = AbortSignal.timeout(600_000);
  const body =
    bodyBytes === undefined
      ? await measured(() => write(bufferPool), signature.update, bufferPool, signal)
      : { bodyBytes, body: write(bufferPool) };
  const { outcome } = await post({
    sink,
    headers: { "content-type": "application/json", ...signature.headers() },
    bodyBytes: body.bodyBytes,
    body: counted(body.body),
    bufferPool,
    allowed,
    runtimeApi: undefined,
  });
  if (outcome !== "delivered") throw new Error(`the upload was ${outcome}`);
  return performance.now() - started;
}

async function* counted(body: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    sentBytes += chunk.length;
    yield chunk;
  }
}

function answerOver(hourCount: number): Body {
  return (bufferPool) =>
    bodyOf(
      {
        status: "SUPPORTED_AREA",
        precision: 7,
        tiles,
        hours: firstHours(hourCount),
        openHour: (tile, hour) => days[tile]?.openHour(hour % hoursPerDay),
        basisOf: () => "OBSERVED",
      },
      bufferPool,
    );
}

/** The maximum of resident memory while something runs, minus that before. */
async function growthOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  await run();
  clearInterval(watching);
  return Math.max(peak, process.memoryUsage.rss()) - before;
}

const grownBytes = await growthOf(() => send(answerOver(largeHours)));
const bytes = sentBytes;
const grownBytesSigned = await growthOf(() => send(answerOver(largeHours), { signedWith: secrets }));

const constantChunk = Buffer.alloc(65_536, "x");
async function* constantChunks() {
  for (let left = bytes; left > 0; left -= constantChunk.length) {
    yield left < constantChunk.length ? constantChunk.subarray(0, left) : constantChunk;
  }
}

const results: Record<"constant" | "known" | "large" | "signed" | "small", number>[] = [];
for (let turn = 0; turn < turns; turn++) {
  const constant = await send(constantChunks, { bodyBytes: bytes });
  const known = await send(answerOver(largeHours), { bodyBytes: bytes });
  const large = await send(answerOver(largeHours));
  const signed = await send(answerOver(largeHours), { signedWith: secrets });
  results.push({ constant, known, large, signed, small: await send(answerOver(smallHours)) });
}
const cells = tiles.length * cellsPerTile;
process.send?.({
  turns: results,
  slots: { large: cells * largeHours, small: cells * smallHours },
  bytes,
  grownBytes,
  grownBytesSigned,
  sentBytes,
});
