import { expect, test } from "vitest";
import { sourceOf } from "../../tools/console/source-of-import.ts";

const model = { source: "A model, nobody was counted: GeoNames" };
const counts = { source: "Counts of 2026" };

test.each([
  ["a file into npm start", ["/data/counts.csv"], true, [model], "counts.csv"],
  ["three files into npm start", ["a.csv", "b.csv", "c.csv"], true, [], "a.csv and 2 more"],
  ["a file into a stage with counts", ["a.csv"], false, [model, counts], undefined],
  ["a pipe into an empty stage", ["-"], false, [], undefined],
])(
  "an import of %s without --source is named by its file, or not at all",
  (_, files, isLocal, stored, source) => {
    expect(sourceOf(files, isLocal, stored)?.source).toBe(source);
  },
);

test.each([
  [["-"], true, [], "--source: say who counted: standard input has no name"],
  [["/dev/fd/63"], true, [], "standard input has no name"],
  [["a.csv"], false, [model], "all that is stored is modelled"],
])(
  "an import of %j that has no name, or would seem a model, needs --source",
  (files, isLocal, stored, message) => {
    expect(() => sourceOf(files, isLocal, stored)).toThrow(message);
  },
);
