import type { Bench } from "./bench.ts";
import { aboutAnswers, answerRows } from "./density-answer.ts";
import { aboutCover, coverRows } from "./density-cover.ts";

/** Population density, from a polygon to the bytes of an answer. */
export const density: Bench = {
  about: [aboutAnswers, aboutCover].join("\n\n"),
  run: async () => [
    // The answers first: what is compiled for them then has met no other shapes of the same functions.
    ...(await answerRows()),
    ...coverRows(),
  ],
};
