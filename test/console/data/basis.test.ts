import { expect, test } from "vitest";
import { basisText, haveOneBasis, isModelled, parseBases, qualityText } from "../../../console/data/basis.ts";
import { basisList } from "../../../functions/population-density/answer/basis.ts";

test("parseBases reads the basis of each hour as the service writes them", () => {
  const bases = ["OBSERVED", "OBSERVED", "TYPICAL", undefined] as const;

  const header = basisList({ tiles: [0], hours: bases, basisOf: (_, hour) => bases[hour] });

  expect(parseBases(header)).toEqual(["OBSERVED", "OBSERVED", "TYPICAL", "NONE"]);
});

test("parseBases returns nothing for an answer without hours, or without the header", () => {
  expect(parseBases("NONE")).toEqual([]);
  expect(parseBases(null)).toEqual([]);
});

const quality = { precision: 7, days: 28, withinRange: 0.7629 };

test("qualityText names the error, the days and the share within range, rounded to whole per cent", () => {
  expect(qualityText({ ...quality, wape: 0.1843 })).toBe(
    "In the regions where it was measured, also here, typical days were off by 18 % (WAPE) in the latest 28 days, and 76 % of the observed numbers were in their ranges.",
  );
});

test("qualityText is undefined for days of which no error was measured", () => {
  expect(qualityText(quality)).toBeUndefined();
});

test("qualityText says “not measured here” of an area outside the regions where errors were measured", () => {
  expect(qualityText("elsewhere")).toBe("How far typical days are off was not measured here.");
});

test.each([
  [true, "hours of one basis, some without any", ["TYPICAL", "NONE", "TYPICAL"]],
  [false, "observed and typical hours", ["OBSERVED", "TYPICAL"]],
] as const)("haveOneBasis is %s for %s", (expected, _, bases) => {
  expect(haveOneBasis(bases)).toBe(expected);
});

test("isModelled is true only when every source says that nobody was counted", () => {
  const [model, counts] = [{ source: "A model, nobody was counted: GeoNames" }, { source: "Counts of 2026" }];

  expect(isModelled([model])).toBe(true);
  expect(isModelled([model, counts])).toBe(false);
  expect(isModelled([])).toBe(false);
});

test("an hour is called a model only if all sources are models and nobody was observed in it", () => {
  const textOf = (basis: "OBSERVED" | "TYPICAL" | "MIXED" | "NONE") =>
    basisText({ basis, typicalDay: "Sunday" }, true);

  expect(textOf("TYPICAL")).toBe("typical Sunday: a model, nobody was counted");
  expect((["OBSERVED", "MIXED", "NONE"] as const).map(textOf)).toEqual([
    "observed",
    "partly observed, else typical Sunday",
    "",
  ]);
});
