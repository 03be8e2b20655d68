import { expect, test } from "vitest";
import { sourceSentences } from "../../../console/data/sources.ts";

test("sources are named in sentences, each with its licence, and the ground as the page credits it", () => {
  const provenance = [{ source: "The network of Example", licence: "CC-BY-4.0" }, { source: "counts.csv" }];

  expect(sourceSentences(provenance, "Base map: Natural Earth, INSEE")).toEqual([
    "The numbers are from “The network of Example”, under the licence CC-BY-4.0.",
    "The numbers are from “counts.csv”.",
    "The ground is drawn from Natural Earth, INSEE.",
  ]);
});
