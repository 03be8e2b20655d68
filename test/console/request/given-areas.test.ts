import fc from "fast-check";
import { expect, test } from "vitest";
import { parseGivenAreas } from "../../../console/request/given-areas.ts";
import { triangle } from "./points.ts";

const ring = [...triangle, triangle[0]].map(({ latitude, longitude }) => [longitude, latitude]);
const closed = [...triangle, triangle[0]];
const polygon = { type: "Polygon", coordinates: [ring] };
const wktRing = `(${ring.map((position) => position.join(" ")).join(", ")})`;
const box = [
  { latitude: 45.7, longitude: 4.8 },
  { latitude: 45.7, longitude: 4.9 },
  { latitude: 45.8, longitude: 4.9 },
  { latitude: 45.8, longitude: 4.8 },
];
const request = {
  area: { areaType: "POLYGON", boundary: triangle },
  startTime: "2026-11-23T10:00:00.000Z",
  endTime: "2026-11-24T10:00:00+00:00",
  precision: 6,
};

test.each([
  ["an area of the API", { areaType: "POLYGON", boundary: triangle }, [triangle]],
  ["a list of points", triangle, [triangle]],
  ["a GeoJSON polygon", polygon, [closed]],
  ["a GeoJSON feature", { type: "Feature", properties: null, geometry: polygon }, [closed]],
  ["a MultiPolygon", { type: "MultiPolygon", coordinates: [[ring], [ring]] }, [closed, closed]],
  ["a box in a list", [4.8, 45.7, 4.9, 45.8], [box]],
  ["a box by its sides", { west: 4.8, south: 45.7, east: 4.9, north: 45.8 }, [box]],
  ["a box as text", "4.8, 45.7, 4.9, 45.8", [box]],
  ["WKT", `POLYGON ${wktRing.replace("(", "((")})`, [closed]],
  [
    "WKT with heights and its system",
    `srid=4326;polygon z((4.8 45.7 1,4.82 45.71 2,4.83 45.69 3,4.8 45.7 1))`,
    [closed],
  ],
  [
    "two lines of WKT",
    `POLYGON (${wktRing})\nMULTIPOLYGON ((${wktRing}), (${wktRing}))`,
    [closed, closed, closed],
  ],
])("parseGivenAreas reads %s", (_, value, rings) => {
  const text = typeof value === "string" ? value : JSON.stringify(value);

  expect(parseGivenAreas(text).rings).toEqual(rings);
});

test("parseGivenAreas reads a request of the API with its period and precision, and names the other members", () => {
  const sink = { sink: "https://example.com", sinkCredential: { accessToken: "secret" } };

  expect(parseGivenAreas(JSON.stringify({ ...request, ...sink }))).toEqual({
    rings: [triangle],
    state: { from: new Date("2026-11-23T10:00:00Z"), hours: 24, precision: 6 },
    remarks: ["Not used: sink, sinkCredential."],
  });
});

test("parseGivenAreas widens a request's period to whole hours, and says so", () => {
  const widened = { ...request, startTime: "2026-11-23T10:20:00Z", endTime: "2026-11-23T12:10:00Z" };

  const { state, remarks } = parseGivenAreas(JSON.stringify(widened));

  expect(state).toMatchObject({ from: new Date("2026-11-23T10:00:00Z"), hours: 3 });
  expect(remarks).toEqual(["The period is widened to whole hours."]);
});

test("parseGivenAreas reads several texts, and says that the last of their periods and precisions is used", () => {
  const later = { ...request, endTime: "2026-11-23T12:00:00Z", precision: 7 };

  const texts = [request, request, later].map((one) => JSON.stringify(one));

  expect(parseGivenAreas(...texts)).toEqual({
    rings: [triangle, triangle, triangle],
    state: { from: new Date("2026-11-23T10:00:00Z"), hours: 2, precision: 7 },
    remarks: ["Of 2 periods, the last is used.", "Of 2 precisions, the last is used."],
  });
});

test.each([
  ["a feature without a geometry", { type: "Feature", geometry: null }, "1 × Feature without a geometry"],
  ["a malformed boundary", { areaType: "POLYGON", boundary: [[4.8, 45.7]] }, "1 × malformed boundary"],
  [
    "a boundary that is no list",
    { areaType: "POLYGON", boundary: null },
    "1 × object without a type, areaType, boundary",
  ],
  ["members that are no objects", [null, 4.8, [triangle]], "3 × member that is no object"],
  [
    "a feature that is no object",
    { type: "FeatureCollection", features: ["Lyon"] },
    "1 × member that is no object",
  ],
  [
    "features that are no list",
    { type: "FeatureCollection", features: {} },
    "1 × malformed FeatureCollection",
  ],
  ["a malformed MultiPolygon", { type: "MultiPolygon", coordinates: null }, "1 × malformed MultiPolygon"],
  ["an object without a type", {}, "1 × object without a type"],
  ["a box's other members", { west: 4.8, south: 45.7, east: 4.9, north: 45.8, name: "Lyon" }, "name"],
])("parseGivenAreas names %s next to an area", (_, value, unused) => {
  const { remarks } = parseGivenAreas(JSON.stringify(polygon), JSON.stringify(value));

  expect(remarks).toEqual([`Not used: ${unused}.`]);
});

test("parseGivenAreas names everything of GeoJSON that is no area: holes, geometries, properties, heights, members", () => {
  const feature = (geometry: object, properties = {}) => ({ type: "Feature", properties, geometry });
  const collection = {
    type: "FeatureCollection",
    crs: { type: "name" },
    features: [
      feature({ type: "Polygon", coordinates: [ring, ring] }, { name: "Lyon", population: 1 }),
      feature({ type: "Point", coordinates: [4, 45] }),
      feature({ type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [4, 45] }] }),
      feature({ type: "Polygon", coordinates: [ring.map((position) => [...position, 100])] }),
      feature({ type: "Polygon", coordinates: [[["4", 45]]] }),
    ],
  };

  const { rings, remarks } = parseGivenAreas(JSON.stringify(collection));

  expect(rings).toHaveLength(2);
  expect(remarks).toEqual([
    "A hole is filled in: an area of the API has none.",
    "Not used: 2 × Point, 1 × malformed Polygon, properties (name, population), crs, heights.",
  ]);
});

test.each([
  ["{", "not JSON"],
  ["{}", "no polygon"],
  ['{"type":"Point","coordinates":[4,45]}', "1 × Point"],
  ['{"type":"Polygon","coordinates":[]}', "malformed Polygon"],
  ["POINT (4 45)", "1 × Point"],
  ["POLYGON ((4 45, 5 45", "not GeoJSON, WKT"],
  ["SRID=2154;POLYGON ((1 2, 3 4, 5 6))", "WGS 84"],
  ["0, 0, 200, 10", "less than 180 degrees"],
  ["Lyon", "not GeoJSON, WKT"],
  ["", "not GeoJSON, WKT"],
])("parseGivenAreas refuses %s and says what it expected", (text, reason) => {
  expect(() => parseGivenAreas(text)).toThrow(reason);
});

test("parseGivenAreas returns rings or throws a readable error for any text", () => {
  const wktLike = fc
    .array(fc.constantFrom("POLYGON", "(", ")", ",", "1 2", "EMPTY", "SRID=1;", "Z", "-", "E"))
    .map((tokens) => tokens.join(" "));
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), wktLike), (text) => {
      try {
        expect(parseGivenAreas(text).rings.length).toBeGreaterThan(0);
      } catch (error) {
        expect((error as Error).message).toMatch(
          /^(?:This is not|There is no polygon|A box is|Only coordinates)/,
        );
      }
    }),
  );
});
