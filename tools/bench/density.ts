import type { Bench } from "./bench.ts";
import { coverOfCity, densityCover } from "./density-cover.ts";
import { densityDataWith } from "./density-data.ts";

// The data first: what is compiled for it then has met no other shapes of the same functions.
const parts = [densityDataWith(coverOfCity), densityCover];

/** Population density, from a polygon to the bytes of an answer. */
export const density: Bench = {
  about: parts.map(({ about }) => about).join("\n\n"),
  run: async () => {
    const rows = [];
    for (const part of parts) rows.push(...(await part.run()));
    return rows;
  },
};
