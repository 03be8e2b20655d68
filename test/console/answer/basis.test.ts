import { expect, test } from "vitest";
import { haveOneBasis, isModelled, parseBases, qualityText } from "../../../console/answer/basis.ts";
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

test("qualityText names error, days and share within range in two digits, is undefined without an error, and says so where it was measured elsewhere", () => {
  const quality = { precision: 7, days: 28, withinRange: 0.7629 };

  expect(qualityText({ ...quality, wape: 0.1843 })).toBe(
    "In the regions where it was measured, also here, typical days were off by 18 % (WAPE) in the latest 28 days, and 76 % of the observed numbers were in their ranges.",
  );
  expect(qualityText(quality)).toBeUndefined();
  expect(qualityText("elsewhere")).toBe("How far typical days are off was not measured here.");
});

test.each([
  [true, "hours of one basis, some without any", ["TYPICAL", "NONE", "TYPICAL"]],
  [false, "observed and typical hours", ["OBSERVED", "TYPICAL"]],
] as const)("haveOneBasis is %s for %s", (expected, _, bases) => {
  expect(haveOneBasis(bases)).toBe(expected);
});

test("the headline calls numbers modelled where every source says that nobody was counted", () => {
  const [model, counts] = [{ source: "A model, nobody was counted: GeoNames" }, { source: "Counts of 2026" }];

  expect(isModelled([model])).toBe(true);
  expect(isModelled([model, counts])).toBe(false);
  expect(isModelled([])).toBe(false);
});
