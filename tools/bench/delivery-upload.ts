import { createServer } from "node:http";
import * as z from "zod";
import { listen } from "../local/servers/listening-server.ts";
import { atLeast, atMost, inUnit, mebibytes, median, type Row, shown, times } from "./bench.ts";
import { mebibyte } from "./city-densities.ts";
import { forkProgram, resultOf } from "./process.ts";

/** What is measured by `uploadRows`. */
export const aboutUpload = [
  "A large answer is written from stored tiles twice, to count its bytes and to upload them over loopback, by a separate",
  "process to a sink that discards it. The comparisons are an upload of as many bytes from one constant chunk, and one of",
  "the same answer as if its length were known; all alternate. “Growth” is the maximum resident memory of the process",
  "during its first upload, minus that before. A signed answer has two secrets: what counts it hashes it three times, for",
  "the digest and both signatures.",
].join("\n");

const minThroughput = 0.45;
const maxTimeCounted = 2;
const maxTimePerSlot = 1.3;
const maxGrownBytes = 40 * mebibyte;
const maxTimeSigned = 4;

/** What it costs to send a large answer to a sink. */
export async function uploadRows(): Promise<Row[]> {
  const { turns, slots, bytes, grownBytes, grownBytesSigned } = await measured();
  const ratio = (of: (turn: (typeof turns)[number]) => number) => median(turns.map(of));
  const milliseconds = inUnit("ms");
  const [largeSlots, smallSlots] = [slots.large.toLocaleString("en"), slots.small.toLocaleString("en")];
  return [
    shown(`${largeSlots} slots uploaded (${mebibytes(bytes)})`, milliseconds(ratio(({ large }) => large))),
    shown("the same bytes of constant chunks", milliseconds(ratio(({ constant }) => constant))),
    atLeast(
      `${largeSlots} slots: throughput over constant chunks`,
      ratio(({ constant, large }) => constant / large),
      minThroughput,
      times,
    ),
    atMost(
      "its time, over that of one whose length is known",
      ratio(({ known, large }) => large / known),
      maxTimeCounted,
      times,
    ),
    atMost(
      `its time per slot, over that of ${smallSlots} slots`,
      ratio(({ large, small }) => large / slots.large / (small / slots.small)),
      maxTimePerSlot,
      times,
    ),
    atMost("growth during its upload", grownBytes, maxGrownBytes, mebibytes),
    atMost(
      "time of a signed answer, over that of one without a signature",
      ratio(({ large, signed }) => signed / large),
      maxTimeSigned,
      times,
    ),
    atMost(
      "growth during that of a signed answer, after the first",
      grownBytesSigned,
      maxGrownBytes,
      mebibytes,
    ),
  ];
}

const report = z.object({
  /** Milliseconds of each turn. */
  turns: z.array(
    z.object({
      constant: z.number(),
      known: z.number(),
      large: z.number(),
      signed: z.number(),
      small: z.number(),
    }),
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
