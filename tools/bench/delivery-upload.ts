import { createServer } from "node:http";
import * as z from "zod";
import { listen } from "../local/servers/listening-server.ts";
import { atLeast, atMost, inUnit, mebibytes, median, type Row, shown, times } from "./bench.ts";
import { mebibyte } from "./city-densities.ts";
import { forkProgram, resultOf } from "./process.ts";

/** What is measured by `uploadRows`. */
export const aboutUpload = [
  "What it costs to send a large answer. Stored tiles are opened hour by hour, written as JSON, and uploaded over loopback",
  "by a separate process to a sink that discards them and counts all bytes. A slot is one cell in one hour.",
  "The comparison is an upload of as many bytes from one constant chunk. Uploads of both kinds alternate; ratios are",
  "medians of the pairs. “Growth” is the maximum resident memory of the process during its first upload, minus that",
  "before. A signed answer has two secrets: it is written twice, and hashed for the digest and for both signatures.",
].join("\n");

const minThroughput = 0.45;
const maxTimePerSlot = 1.3;
const maxGrownBytes = 40 * mebibyte;
/** One more writing of the answer, and three hashes of it. */
const maxTimeSigned = 3;

/** What it costs to send a large answer to a sink. */
export async function uploadRows(): Promise<Row[]> {
  const { turns, slots, bytes, grownBytes, grownBytesSigned } = await measured();
  const perSlot = turns.map(({ large, small }) => large / slots.large / (small / slots.small));
  return [
    shown(
      `${slots.large.toLocaleString("en")} slots uploaded (${mebibytes(bytes)})`,
      inUnit("ms")(median(turns.map(({ large }) => large))),
    ),
    shown("the same bytes of constant chunks", inUnit("ms")(median(turns.map(({ constant }) => constant)))),
    atLeast(
      "throughput over constant chunks",
      median(turns.map(({ constant, large }) => constant / large)),
      minThroughput,
      times,
    ),
    atMost(
      `time per slot, over that of ${slots.small.toLocaleString("en")} slots`,
      median(perSlot),
      maxTimePerSlot,
      times,
    ),
    atMost("growth", grownBytes, maxGrownBytes, mebibytes),
    atMost(
      "time of a signed answer, over that of one without a signature",
      median(turns.map(({ large, signed }) => signed / large)),
      maxTimeSigned,
      times,
    ),
    atMost("growth of a signed answer, after the first upload", grownBytesSigned, maxGrownBytes, mebibytes),
  ];
}

const report = z.object({
  /** Milliseconds of each turn. */
  turns: z.array(
    z.object({ constant: z.number(), large: z.number(), signed: z.number(), small: z.number() }),
  ),
  slots: z.object({ large: z.number(), small: z.number() }),
  bytes: z.number(),
  grownBytes: z.number(),
  grownBytesSigned: z.number(),
  sentBytes: z.number(),
});

/** Runs the uploads in a fresh process against a sink in this one. */
async function measured(): Promise<z.infer<typeof report>> {
  let receivedBytes = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    request.on("end", () => response.writeHead(204).end());
  });
  const sink = await listen(server, 0);
  try {
    const result = await resultOf(forkProgram("upload.ts", [`${sink.url}/`]), report);
    if (result.sentBytes !== receivedBytes) {
      throw new Error(`${receivedBytes} bytes were received of ${result.sentBytes}`);
    }
    return result;
  } finally {
    await sink.close();
  }
}
