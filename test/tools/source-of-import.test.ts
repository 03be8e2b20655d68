import { expect, test } from "vitest";
import { sourceOf } from "../../tools/console/source-of-import.ts";

const model = { source: "A model, nobody was counted: GeoNames" };
const counts = { source: "Counts of 2026" };

test.each([
  ["a file into npm start", { files: ["/data/counts.csv"], isLocal: true, stored: [model] }, "counts.csv"],
  ["three files", { files: ["a.csv", "b.csv", "c.csv"], isLocal: true, stored: [] }, "a.csv and 2 more"],
  [
    "a file into a stage with counts",
    { files: ["a.csv"], isLocal: false, stored: [model, counts] },
    undefined,
  ],
  ["a file into an empty stage", { files: ["-"], isLocal: false, stored: [] }, undefined],
])("an import of %s without --source is named by its file, or not at all", (_, known, source) => {
  expect(sourceOf(known)?.source).toBe(source);
});

test.each([
  [{ files: ["-"], isLocal: true, stored: [] }, "--source: say who counted: standard input has no name"],
  [{ files: ["/dev/fd/63"], isLocal: true, stored: [] }, "standard input has no name"],
  [{ files: ["a.csv"], isLocal: false, stored: [model] }, "would be taken for a model too"],
])("an import that would be taken for a model needs --source (%j)", (known, message) => {
  expect(() => sourceOf(known)).toThrow(message);
});
