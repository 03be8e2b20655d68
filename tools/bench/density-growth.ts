import * as z from "zod";
import { atMost, mebibytes, type Row, sized } from "./bench.ts";
import { mebibyte } from "./city-densities.ts";
import { forkProgram, resultOf } from "./process.ts";

/** What is measured by `growthRows`. */
export const aboutGrowth = [
  "“Growth” is the maximum resident memory of a fresh process while it streams an answer from compressed tiles, minus that",
  "before.",
].join("\n");

/** What memory it takes to stream stored densities. */
export async function growthRows(): Promise<Row[]> {
  return [await growthRow(sized(1_000_000, 50_000), 24), await growthRow(sized(6_000_000, 100_000), 32)];
}

const growth = z.object({ slots: z.number(), bytes: z.number(), grownBytes: z.number() });

async function growthRow(minSlots: number, maxMebibytes: number): Promise<Row> {
  const child = forkProgram("growth.ts", [String(minSlots)]);
  const { slots, bytes, grownBytes } = await resultOf(child, growth);
  return atMost(
    `growth while ${slots.toLocaleString("en")} slots are streamed (${mebibytes(bytes)})`,
    grownBytes,
    maxMebibytes * mebibyte,
    mebibytes,
  );
}
