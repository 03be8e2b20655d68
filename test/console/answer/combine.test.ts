import { expect, test } from "vitest";
import { combineCsv, combineGeoJson, combineRows } from "../../../console/answer/combine.ts";

const header = "geohash,startTime,endTime,dataType";

test("combineCsv keeps one header and one row for each cell and hour, and nothing of an uncovered area", () => {
  const [first, second, third] = ["u05,10:00,11:00,A", "u05,11:00,12:00,A", "u06,10:00,11:00,A"];
  const file = (...rows: readonly string[]) => `${[header, ...rows].join("\r\n")}\r\n`;

  expect(combineCsv([file(), file(first, second), file(first, third)])).toBe(file(first, second, third));
});

test("the rows of several answers have each cell and hour once, as the first answer has it, and no uncovered area", () => {
  const row = (geohash: string, hour: number, coveredShare: number) => ({
    geohash,
    startTime: `2026-11-23T${hour}:00:00Z`,
    coveredShare,
  });
  const file = (...rows: readonly object[]) => rows.map((one) => `${JSON.stringify(one)}\n`).join("");
  const [first, second, third] = [row("u05", 10, 1), row("u05", 11, 0.5), row("u06", 10, 1)];

  const combined = combineRows([file(), file(first, second), file(row("u05", 10, 0.2), third)]);

  expect(combined).toEqual([first, second, third]);
});

test("combineGeoJson has each cell once, the hours of covered areas, and says that a part is not covered", () => {
  const collection = (status: string, intervals: readonly unknown[], ...ids: readonly string[]) =>
    JSON.stringify({
      type: "FeatureCollection",
      status,
      intervals,
      features: ids.map((id) => ({ type: "Feature", id })),
    });
  const hours = [{ startTime: "10:00", endTime: "11:00" }];

  const combined = combineGeoJson([
    collection("AREA_NOT_SUPPORTED", []),
    collection("SUPPORTED_AREA", hours, "u05", "u06"),
    collection("SUPPORTED_AREA", hours, "u06", "u07"),
  ]);

  expect(combined).toBe(collection("PART_OF_AREA_NOT_SUPPORTED", hours, "u05", "u06", "u07"));
});
