import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { bodyOf } from "../../functions/population-density/answer/json.ts";
import { encodeTileDay, hoursPerDay, readTileDay } from "../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../functions/population-density/tiles/tile-hour.ts";
import { hourMilliseconds } from "../../shared/calendar.ts";
import { parseAllowedNetworks } from "../../shared/sinks/networks.ts";
import { post } from "../../shared/sinks/post.ts";
import { type Bench, median, type Row } from "./bench.ts";
import { city, dayOf, mebibyte } from "./city-densities.ts";
import { deliveryTimes } from "./delivery-times.ts";

/** What it costs to send a large answer to a sink. */
export const delivery: Bench = {
  about: [
    "What it costs to send an answer to a sink. Stored tiles are opened hour by hour, written as JSON, and uploaded over",
    "loopback by a separate process to a sink that discards them. A slot is one cell in one hour.",
    "The comparison is an upload of as many bytes from one constant chunk. Uploads of both kinds alternate; ratios are",
    "medians of the pairs. The sink counts all bytes.",
    "Before that, how soon many small answers arrive: over HTTP from the local service, with its embedded queue and tables.",
    "“Growth” is the maximum resident memory of the process during its first upload, minus that before.",
  ].join("\n"),
  run: async () => {
    const times = await deliveryTimes();
    const { large, small, growth } = await measured();
    const ratio = median(large.map(({ constant, answer }) => constant / answer));
    const perSlot = median(
      large.map(({ answer }, turn) => answer / largeSlots / ((small[turn] ?? 0) / smallSlots)),
    );
    const megabytes = growth.bytes / mebibyte;
    return [
      ...times,
      shown(
        `${largeSlots.toLocaleString("en")} slots delivered (${megabytes.toFixed(0)} MiB)`,
        `${median(large.map(({ answer }) => answer)).toFixed(0)} ms`,
      ),
      shown(
        "the same bytes of constant chunks",
        `${median(large.map(({ constant }) => constant)).toFixed(0)} ms`,
      ),
      {
        what: "throughput over constant chunks",
        measured: `${ratio.toFixed(2)} ×`,
        bar: "≥ 0.45 ×",
        holds: ratio >= 0.45,
      },
      {
        what: `time per slot, over that of ${smallSlots.toLocaleString("en")} slots`,
        measured: `${perSlot.toFixed(2)} ×`,
        bar: "≤ 1.3 ×",
        holds: perSlot <= 1.3,
      },
      {
        what: "growth",
        measured: `${(growth.grownBytes / mebibyte).toFixed(1)} MiB`,
        bar: "≤ 40 MiB",
        holds: growth.grownBytes <= 40 * mebibyte,
      },
    ];
  },
};

const tiles = city.slice(0, 10);
const cells = tiles.length * cellsPerTile;
const largeHours = 168;
const smallHours = 17;
const largeSlots = cells * largeHours;
const smallSlots = cells * smallHours;
const turns = 9;

const report = z.object({
  /** Milliseconds of each turn. */
  large: z.array(z.object({ constant: z.number(), answer: z.number() })),
  small: z.array(z.number()),
  growth: z.object({ bytes: z.number(), grownBytes: z.number() }),
  sentBytes: z.number(),
});

const thisFile = fileURLToPath(import.meta.url);

/** Runs the uploads in a fresh process against a sink in this one. */
async function measured(): Promise<z.infer<typeof report>> {
  let receivedBytes = 0;
  const sink = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    request.on("end", () => response.writeHead(204).end());
  }).listen(0, "127.0.0.1");
  await once(sink, "listening");
  const { port } = sink.address() as AddressInfo;
  try {
    const child = fork(thisFile, [`http://127.0.0.1:${port}/`], {
      env: { PATH: process.env.PATH },
      execArgv: ["--import", import.meta.resolve("tsx")],
    });
    const sent = once(child, "message").then(([message]) => report.parse(message));
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`the uploads ended with exit code ${code} and no result`);
    });
    const result = await Promise.race([sent, ended]);
    if (result.sentBytes !== receivedBytes) {
      throw new Error(`${receivedBytes} bytes were received of ${result.sentBytes}`);
    }
    return result;
  } finally {
    sink.close();
  }
}

async function measure(sink: string): Promise<z.infer<typeof report>> {
  const days = tiles.map((_, tile) => readTileDay(encodeTileDay(dayOf(tile))));
  const allowed = parseAllowedNetworks("127.0.0.1/32:1024-65535") ?? [];
  let sentBytes = 0;
  const send = async (body: (bufferPool: Buffer[]) => AsyncIterable<Buffer>): Promise<number> => {
    const bufferPool: Buffer[] = [];
    const started = performance.now();
    const { outcome } = await post({
      sink,
      headers: { "content-type": "application/json" },
      body: counted(body(bufferPool)),
      bufferPool,
      allowed,
      runtimeApi: undefined,
    });
    if (outcome !== "delivered") throw new Error(`the upload was ${outcome}`);
    return performance.now() - started;
  };
  async function* counted(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      sentBytes += chunk.length;
      yield chunk;
    }
  }
  const answer = (hourCount: number) => (bufferPool: Buffer[]) =>
    bodyOf(
      {
        status: "SUPPORTED_AREA",
        precision: 7,
        tiles,
        hours: Array.from({ length: hourCount }, (_, hour) => firstHour + hour),
        openHour: (tile, hour) => days[tile]?.openHour(hour % hoursPerDay),
      },
      bufferPool,
    );

  const before = process.memoryUsage.rss();
  let peak = before;
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  await send(answer(largeHours));
  peak = Math.max(peak, process.memoryUsage.rss());
  clearInterval(watching);
  const growth = { bytes: sentBytes, grownBytes: peak - before };

  const constantChunk = Buffer.alloc(65_536, "x");
  const constant = async function* () {
    for (let left = growth.bytes; left > 0; left -= constantChunk.length) {
      yield left < constantChunk.length ? constantChunk.subarray(0, left) : constantChunk;
    }
  };
  const large: { constant: number; answer: number }[] = [];
  const small: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    large.push({ constant: await send(constant), answer: await send(answer(largeHours)) });
    small.push(await send(answer(smallHours)));
  }
  return { large, small, growth, sentBytes };
}

const firstHour = Date.UTC(2026, 10, 20) / hourMilliseconds;

function shown(what: string, measuredText: string): Row {
  return { what, measured: measuredText, holds: true };
}

if (process.send !== undefined && process.argv[1] === thisFile) {
  process.send(await measure(process.argv[2] ?? ""));
}
