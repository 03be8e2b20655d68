import type { Bench } from "./bench.ts";
import { aboutAnswers, answerRows } from "./density-answer.ts";
import { aboutCover, coverRows } from "./density-cover.ts";
import { aboutUnits, unitRows } from "./units.ts";

/** Population density, from a polygon to the bytes of an answer, and what a request takes of DynamoDB. */
export const density: Bench = {
  about: [aboutAnswers, aboutCover, aboutUnits].join("\n\n"),
  run: async () => [
    // The answers first: what is compiled for them then has met no other shapes of the same functions.
    ...(await answerRows()),
    ...coverRows(),
    ...(await unitRows()),
  ],
};
