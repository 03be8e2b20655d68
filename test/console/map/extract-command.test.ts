import { expect, test } from "vitest";
import { extractCommand } from "../../../console/map/extract-command.ts";

test.each([
  ["Nairobi", { west: 36.77, south: -1.36, east: 36.87, north: -1.22 }, "36.7,-1.4,36.9,-1.2"],
  [
    "Fiji, up to the antimeridian",
    { west: 177, south: -18.55, east: 180.5, north: -16 },
    "177,-18.6,180,-16",
  ],
])("the map's note names the command for streets of %s, with a build of the days before", (_, box, bbox) => {
  expect(extractCommand(box, new Date("2026-03-01T00:30:00Z"))).toBe(
    `pmtiles extract https://build.protomaps.com/20260227.pmtiles map.pmtiles --bbox=${bbox}`,
  );
});
