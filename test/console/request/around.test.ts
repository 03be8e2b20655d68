import { expect, test } from "vitest";
import { boxArea } from "../../../console/data/area.ts";
import { aroundOption } from "../../../console/request/around.ts";

const areasIn = (west: number, south: number, east: number, north: number) =>
  [boxArea({ west, south, east, north })].flatMap((area) => area ?? []);

const small = areasIn(-30.5, -1.32, -30.4, -1.22);

test.each([
  ["the name of a city that was chosen", small, "Nairobi", '--around "Nairobi"'],
  ["its box where it has no name", small, undefined, "--around=-30.5,-1.32,-30.4,-1.22"],
  ["its box where a shell would change the name", small, "$HOME", "--around=-30.5,-1.32,-30.4,-1.22"],
  ["no place where it is too large", areasIn(36, -2, 38, -1), undefined, "--around PLACE"],
  ["no place across the antimeridian", areasIn(179.9, -17, -179.9, -16.9), undefined, "--around PLACE"],
  ["no place where there are several", [...small, ...small], undefined, "--around PLACE"],
])("aroundOption, for the command that covers an area, gives %s", (_, areas, name, option) => {
  expect(aroundOption(areas, name)).toBe(option);
});
