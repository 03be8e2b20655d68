import lookUp from "@photostructure/tz-lookup";
import { expect, test } from "vitest";
import { boxArea } from "../../../console/data/area.ts";
import { zoneText } from "../../../console/request/zone.ts";

const winter = new Date("2026-11-28T00:00Z");
const areaAt = (west: number, south: number, east = west + 0.1) => {
  const area = boxArea({ west, south, east, north: south + 0.1 });
  if (area === undefined) throw new Error("no area");
  return area;
};

test.each([
  ["Nairobi", areaAt(36.8, -1.3), "2 hours ahead of it (Africa/Nairobi)"],
  ["Fiji, across the antimeridian", areaAt(179.9, -16.9, -179.9), "11 hours ahead of it (Pacific/Fiji)"],
  ["Mumbai", areaAt(72.8, 19), "4 hours 30 minutes ahead of it (Asia/Kolkata)"],
  ["Lisbon", areaAt(-9.2, 38.7), "1 hour behind it (Europe/Lisbon)"],
])("where data follow Europe/Paris, an area in %s has clocks of its own", (_, area, expected) => {
  expect(zoneText([area], winter, "Europe/Paris", lookUp)).toBe(
    `The data follow the time of Europe/Paris, typical days, too. Clocks here are ${expected}.`,
  );
});

test("zoneText names a difference of 15 minutes without “0 hours”", () => {
  expect(zoneText([areaAt(85.3, 27.7)], winter, "Asia/Kolkata", lookUp)).toContain(
    "Clocks here are 15 minutes ahead of it (Asia/Kathmandu)",
  );
});

test("zoneText is undefined for an area whose clocks agree with the data's at that time of the year, and for the sea", () => {
  const summer = new Date("2026-07-01T00:00Z");

  expect(zoneText([areaAt(4.8, 45.7), areaAt(10.7, 59.9)], winter, "Europe/Paris", lookUp)).toBeUndefined();
  expect(zoneText([areaAt(-40, 30)], winter, "Europe/Paris", lookUp)).toBeUndefined();
  expect(zoneText([areaAt(28, -26.2)], summer, "Europe/Paris", lookUp)).toBeUndefined();
});
