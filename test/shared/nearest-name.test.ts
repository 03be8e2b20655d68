import { expect, test } from "vitest";
import { nearestName } from "../../shared/nearest-name.ts";

const columns = ["geohash", "startTime", "people", "minPeople", "maxPeople"];

test.each([
  ["geohsh", "geohash"],
  ["start_time", "startTime"],
  ["peopel", "people"],
  ["time", "startTime"],
  ["min", "minPeople"],
  ["total_population_2026", undefined],
  ["isHoliday", undefined],
  ["altitude", undefined],
  ["x", undefined],
])("for the column %s, %s is offered: a name that is far away is not", (mistyped, offered) => {
  expect(nearestName(mistyped, columns)).toBe(offered);
});
