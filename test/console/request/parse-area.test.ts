import fc from "fast-check";
import { expect, test } from "vitest";
import { parseArea } from "../../../console/request/parse-area.ts";
import { triangle } from "./points.ts";

const ring = [...triangle, triangle[0]].map(({ latitude, longitude }) => [longitude, latitude]);
const polygon = { type: "Polygon", coordinates: [ring] };

test.each([
  ["an area of the API", { areaType: "POLYGON", boundary: triangle }],
  ["a request of the API", { area: { areaType: "POLYGON", boundary: triangle }, precision: 7 }],
  ["a list of points", triangle],
  ["a GeoJSON polygon, whose ring is closed", polygon],
  ["a GeoJSON feature", { type: "Feature", properties: null, geometry: polygon }],
  [
    "the first polygon of a GeoJSON collection",
    {
      type: "FeatureCollection",
      features: [
        { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [4, 45] } },
        { type: "Feature", properties: {}, geometry: polygon },
      ],
    },
  ],
])("parseArea reads %s", (_, value) => {
  expect(parseArea(JSON.stringify(value))).toEqual({ areaType: "POLYGON", boundary: triangle });
});

test.each([
  ["{", "not JSON"],
  ["{}", "No polygon"],
  ['{"type":"Point","coordinates":[4,45]}', "No polygon"],
  ['{"type":"Polygon","coordinates":[]}', "No polygon"],
  ['{"type":"Polygon","coordinates":[["4",45]]}', "No polygon"],
  [JSON.stringify({ type: "Polygon", coordinates: [ring, ring] }), "holes"],
  ["[]", "No polygon"],
  ["null", "No polygon"],
])("parseArea refuses %s and says what it expected", (text, reason) => {
  expect(() => parseArea(text)).toThrow(reason);
});

test("parseArea returns an area or throws an error for people, whatever the text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      try {
        expect(parseArea(text).boundary.length).toBeGreaterThan(0);
      } catch (error) {
        expect((error as Error).message).toMatch(
          /^(?:This is not JSON|No polygon found|The polygon has holes)/,
        );
      }
    }),
  );
});
