import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Area } from "../../../console/data/area.ts";
import { fitAreas } from "../../../console/request/fit-areas.ts";
import { differenceRemarks } from "../../../console/request/geohash-list.ts";
import { parseGivenAreas } from "../../../console/request/given-areas.ts";
import { coverOf, geohashesOf } from "../../../functions/population-density/cover/cover.ts";
import { polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import { limits, triangle } from "./points.ts";

function cellsOf({ boundary }: Area): string[] {
  const polygon = polygonOf(boundary);
  return polygon === undefined ? [] : geohashesOf(coverOf(polygon, 6), 6);
}

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
const wkt = `Polygon (${wktRing})`;
const withHeights = `(${ring.map((position) => `${position.join(" ")} nan`).join(", ")})`;
const feature = { type: "Feature", properties: null, geometry: polygon };
const separator = "\u001e";
const crsNamed = (name: string) => JSON.stringify({ type: "name", properties: { name } });
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
  ["QGIS's clipboard", `wkt_geom\tfid\tname\n${wkt}\t1\tpark (east), old`, [closed]],
  ["QGIS's clipboard with heights", `wkt_geom\tfid\nPolygonZ (${withHeights})\t1\n`, [closed]],
  ["rows without a header", `${wkt}\t1\n${wkt}\t2`, [closed, closed]],
  ["a CSV file with WKT", `id,WKT\r\n1,"${wkt}"\r\n2,"${wkt}"\r\n`, [closed, closed]],
  [
    "semicolons, quotes and lines in a field",
    `name;geom\n"a ""b"";\nc";"${wkt.replace(", ", ",\n")}"`,
    [closed],
  ],
  ["PolygonZ with nan", `PolygonZ (${withHeights})`, [closed]],
  ["POLYGONZ( without a space", `POLYGONZ(${withHeights})`, [closed]],
  ["MULTIPOLYGON ZM", `multipolygon zm ((${withHeights.replaceAll("nan", "nan 7")}))`, [closed]],
  ["MultiPolygonM", `MultiPolygonM((${withHeights}))`, [closed]],
  ["a GeometryCollection of WKT", `GEOMETRYCOLLECTION (POINT (4 45), ${wkt})`, [closed]],
  ["lines of GeoJSON", `${JSON.stringify(feature)}\r\n\r\n${JSON.stringify(polygon)}\n`, [closed, closed]],
  [
    "a text sequence (RFC 8142)",
    `${separator}${JSON.stringify(feature, null, 1)}\n${separator}${JSON.stringify(polygon)}\n`,
    [closed, closed],
  ],
  ["a text sequence of one", `${separator}${JSON.stringify(feature)}\n`, [closed]],
  ["GeoJSON after a byte order mark", `\ufeff${JSON.stringify(feature)}`, [closed]],
])("parseGivenAreas reads %s", (_, value, rings) => {
  const text = typeof value === "string" ? value : JSON.stringify(value);

  expect(parseGivenAreas(text).rings).toEqual(rings);
});

test("parseGivenAreas reads a request of the API with its period and precision, and names the other members", () => {
  const sink = { sink: "https://example.com", sinkCredential: { accessToken: "secret" } };

  expect(parseGivenAreas(JSON.stringify({ ...request, ...sink }))).toEqual({
    understood: ["a request of the API"],
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
    understood: Array(3).fill("a request of the API"),
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

test.each([
  ["a feature", { ...feature, properties: { Name: " Parc de la\nTête d'Or " } }, "Parc de la Tête d'Or"],
  ["a collection", { type: "FeatureCollection", name: "Parks", features: [feature, feature] }, "Parks"],
  [
    "a collection of one feature, as ogr2ogr writes it",
    { type: "FeatureCollection", name: "a", features: [{ ...feature, properties: { name: "Parc" } }] },
    "Parc",
  ],
  ["features of several names", [{ ...feature, properties: { name: "A" } }, feature], undefined],
  ["a name that is no text", { ...feature, properties: { name: 7 } }, undefined],
])("parseGivenAreas takes the name of %s", (_, value, name) => {
  const { state, remarks } = parseGivenAreas(JSON.stringify(value));

  expect(state.name).toBe(name);
  if (name !== undefined) expect(remarks).toEqual([]);
});

test.each([
  [
    '<?xml version="1.0"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"></kml>',
    "ogr2ogr area.geojson FILE.kml",
  ],
  ["PK\u0003\u0004\u0014", "ogr2ogr area.geojson FILE.kml"],
  ['<gpx version="1.1">', "ogr2ogr area.geojson FILE.gpx -dialect sqlite"],
])("parseGivenAreas refuses a flight plan with the command that makes GeoJSON of it: %j", (text, command) => {
  expect(() => parseGivenAreas(text)).toThrow(command);
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
  ["hello the world", "not GeoJSON, WKT"],
  ["12 34 56", "not GeoJSON, WKT"],
  ["CURVEPOLYGON (CIRCULARSTRING (0 0, 1 1))", "not GeoJSON, WKT"],
  ["45.76 N 4.83 N", "not GeoJSON, WKT"],
  ["wkt_geom\tfid\nSRID=2154;POLYGON ((1 2, 3 4, 5 6))\t1", "SRID 2154"],
  [`{"type":"FeatureCollection",\n"features":[${JSON.stringify(polygon)},\n]}`, "in line 2 there is a comma"],
  [`${JSON.stringify(polygon)}\n{"type":\n${JSON.stringify(polygon)}`, "Line 2 is not JSON"],
  ["842000, 6519000", "842000 and 6519000 look like metres"],
  ["445277,5621521,456409,5637000", "445277 and 5621521 look like metres of a map projection."],
  ['{"west":0,"south":-400,"east":11132,"north":400}', "11132 and 400 look like metres of a map projection."],
  ["451.2, 4", "451.2 and 4 are outside of longitude ±180, latitude ±90."],
  [`45°75'00"N 4°0'0"E`, "Minutes and seconds are less than 60"],
  [`45°45'60"N 4°0'0"E`, "Minutes and seconds are less than 60"],
  ["45°60,5′ 4°0′", "Minutes and seconds are less than 60"],
  ["45.5°30'N 4°0'E", "only the last number of an angle has decimals"],
  ["[445277, 5621521]", "445277 and 5621521 look like metres of a map projection."],
  ["[4.83, 95]", "4.83 and 95 are outside of longitude ±180, latitude ±90."],
  ["151.21, -33.86", "Latitude comes first"],
  ["89.9999, 4", "near to a pole"],
  ["u0, v05kqzbpx", "more than 65,536 cells"],
  ["u05kqa u05kqi", "Left out: u05kqa, u05kqi. A geohash has digits and letters, but no a, i, l, o."],
  ["geohash,people\nu05kqa,3\n", "Left out: u05kqa. A geohash has digits and letters"],
  ["best west", "This is not a list of geohashes: without a digit, they must"],
  ['["best", "west"]', "This is not a list of geohashes: without a digit, they must"],
  ["true", "of one length, 5 or more, without a, i, l, o: true."],
  ["Verdun", "of one length, 5 or more, without a, i, l, o: Verdun."],
  ["gcpvj gcpva", "without a, i, l, o: gcpvj, gcpva."],
  ["31T 445277 5621521", "not GeoJSON, WKT"],
  [
    `{"crs":${crsNamed("urn:ogc:def:crs:EPSG::3857")},"features":[]}`,
    "are of urn:ogc:def:crs:EPSG::3857. Only",
  ],
  [
    JSON.stringify({ ...polygon, crs: { type: "EPSG", properties: { code: 2154 } } }),
    "are of EPSG:2154. Only",
  ],
  [
    '{"crs":{"type":"link","properties":{"href":"http://example.com/ref/epsg/3857/proj4/"}}}',
    "are of http://example.com/ref/epsg/3857/proj4/. Only",
  ],
  [`{"crs":${crsNamed("EPSG:14326")}}`, "The coordinates are of EPSG:14326. Only those of WGS 84"],
  ["", "not GeoJSON, WKT"],
])("parseGivenAreas refuses %s and says what it expected", (text, reason) => {
  expect(() => parseGivenAreas(text)).toThrow(reason);
});

test.each([
  ["45.76, 4.83", 45.76, 4.83],
  ["45.76 4.83", 45.76, 4.83],
  ["45,76; 4,83", 45.76, 4.83],
  ["45,76 4,83", 45.76, 4.83],
  ["45,76, 4,83", 45.76, 4.83],
  ["4.83 E, 45.76 N", 45.76, 4.83],
  ["45.76° N, 4.83° W", 45.76, -4.83],
  ["N45.76 W4.83", 45.76, -4.83],
  [`45°45'36"N 4°49'48"E`, 45.76, 4.83],
  ["45°45′36″ s, 4°49′48″ w", -45.76, -4.83],
  ["−33.86, 151.21", -33.86, 151.21],
  ["-33.86/151.21", -33.86, 151.21],
  ["0, 180", 0, 180],
  [`45°59'59.9"N 4°49.8'E`, 45.999972, 4.83],
])(
  "parseGivenAreas makes an area that reaches a kilometre to each side of %s",
  (text, latitude, longitude) => {
    const { rings, understood } = parseGivenAreas(text);

    expect(understood[0]).toMatch(
      /^a place, latitude .*, longitude .*: the area reaches a kilometre from it to each side$/,
    );
    expect(understood[0]?.replaceAll("−", "-")).toContain(`latitude ${latitude}, longitude ${longitude}:`);
    const [ring = []] = rings;
    const kilometre = 180 / (Math.PI * 6_371);
    const width = kilometre / Math.cos((latitude * Math.PI) / 180);
    const [south, north] = [ring[0]?.latitude ?? 0, ring[2]?.latitude ?? 0];
    const [west, east] = [ring[0]?.longitude ?? 0, ring[2]?.longitude ?? 0];
    expect([south, north]).toEqual([
      expect.closeTo(latitude - kilometre, 5),
      expect.closeTo(latitude + kilometre, 5),
    ]);
    expect(west).toBeCloseTo(longitude - width, 5);
    expect(east).toBeCloseTo(longitude + width > 180 ? longitude + width - 360 : longitude + width, 5);
  },
);

test.each(["[4.83, 45.76]", "[4.83, 45.76, 170]"])(
  "parseGivenAreas reads %s as a position of GeoJSON, longitude first, and says so",
  (text) => {
    const { rings, understood } = parseGivenAreas(text);

    expect(rings).toEqual(parseGivenAreas("45.76, 4.83").rings);
    expect(understood).toEqual([
      "a position of GeoJSON (longitude first), latitude 45.76, longitude 4.83: the area reaches a kilometre from it to each side",
    ]);
  },
);

test.each([
  "urn:ogc:def:crs:OGC:1.3:CRS84",
  "urn:ogc:def:crs:OGC::CRS84h",
  "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
  "http://www.opengis.net/def/crs/EPSG/0/4326",
  "urn:ogc:def:crs:EPSG:9.8.15:4979",
  "epsg:4326",
  "WGS 84",
])("parseGivenAreas reads GeoJSON whose crs is WGS 84, named %s, without a remark", (name) => {
  const text = JSON.stringify({ ...polygon, crs: JSON.parse(crsNamed(name)) });

  expect(parseGivenAreas(text)).toMatchObject({ rings: [closed], remarks: [] });
});

test("parseGivenAreas reads a list of positions as the ring of a polygon of GeoJSON, and says so", () => {
  const { rings, understood, remarks } = parseGivenAreas(JSON.stringify(ring));

  expect(rings).toEqual([closed]);
  expect(understood).toEqual(["positions of GeoJSON (longitude first)"]);
  expect(remarks).toEqual([]);
});

test("parseGivenAreas reads a table below the line of Excel that says what separates fields", () => {
  const { understood, remarks } = parseGivenAreas(`sep=;\r\nwkt;fid\r\n"${wkt}";1\r\n`);

  expect(understood).toEqual(["a table with WKT in the column wkt, 1 row"]);
  expect(remarks).toEqual(["Not used: fid."]);
});

test("parseGivenAreas names the columns of a table that are not used, and its rows that are no WKT", () => {
  const { rings, understood, remarks } = parseGivenAreas(`wkt;fid;name\n"${wkt}";1;park\nnothing;2;`);

  expect(rings).toEqual([closed]);
  expect(understood).toEqual(["a table with WKT in the column wkt, 2 rows"]);
  expect(remarks).toEqual(["Left out: 1 × row that is no WKT.", "Not used: fid, name."]);
});

test.each([
  [`id,wkt\n1,"${wkt}"\n2,\n3,""\n4\n`, "a table with WKT in the column wkt, 4 rows", 3],
  ["id;geohash\n1;u05kq\n2;\n", "a geohash", 1],
])("parseGivenAreas counts the rows of a table without an area: %j", (text, kind, count) => {
  const { understood, remarks } = parseGivenAreas(text);

  expect(understood).toEqual([kind]);
  expect(remarks).toEqual([`Left out: ${count} × row without an area.`, "Not used: id."]);
});

test.each([
  ["POLYGON M((4.8 45.7 1,4.82 45.71 2,4.83 45.69 3,4.8 45.7 1))", "measures"],
  ["MULTIPOLYGONM(((4.8 45.7 1,4.82 45.71 2,4.83 45.69 3,4.8 45.7 1)))", "measures"],
  ["POLYGON Z((4.8 45.7 1,4.82 45.71 2,4.83 45.69 3,4.8 45.7 1))", "heights"],
  ["POLYGONZM((4.8 45.7 1 5,4.82 45.71 2 6,4.83 45.69 3 7,4.8 45.7 1 8))", "heights, measures"],
  [
    "GEOMETRYCOLLECTION(POLYGON M((4.8 45.7 1,4.82 45.71 2,4.8 45.7 1)),POINT Z(4 45 1))",
    "1 × Point, measures",
  ],
])("parseGivenAreas says whether WKT has heights or measures: %s", (text, unused) => {
  expect(parseGivenAreas(text).remarks).toEqual([`Not used: ${unused}.`]);
});

describe("a list of geohashes", () => {
  const covered = (text: string) => {
    const { rings, cells = new Set(), ...given } = parseGivenAreas(text);
    const { areas } = fitAreas(rings, limits);
    return { ...given, areas, cells, differences: differenceRemarks(areas, cells) };
  };

  test.each([
    ["u05kq u05kr", 1, 2],
    [`"u05kq", 'U05KR';`, 1, 2],
    ["u05kq\nu05kr\n", 1, 2],
    [`["u05kq", "u05kr"]`, 1, 2],
    ["geohash,pplDensity\nu05kq,3\nu05kr,4\n", 1, 2],
    ["9e1 9e2", 2, 2],
    ["gcpvj", 1, 1],
    ["gcpvj gcpvm", 1, 2],
    ["geohash\nbest\nwest", 2, 2],
    // With the 32 cells of u05kr.
    ["u05kr u05kq4 u05kqc", 2, 34],
  ])("%j is joined into %i areas of %i cells, and no others", (text, areas, cells) => {
    const found = covered(text);
    expect([found.areas.length, found.cells.size]).toEqual([areas, cells]);
    expect(found.differences).toEqual([]);
  });

  test.each([
    ["u05kq7 u05kqa u05kqi", "a geohash", "Left out: u05kqa, u05kqi."],
    ["u05kq u05kr\nn/a u05kx-", "2 geohashes", "Left out: n/a, u05kx-."],
    ["gcpvj u05kq gcpvl", "2 geohashes", "Left out: gcpvl."],
    ["geohash\nbest\nLyon", "a geohash", "Left out: Lyon."],
  ])("the words of %j that are none are named and left out", (text, count, leftOut) => {
    const { understood, remarks } = parseGivenAreas(text);
    expect(understood).toEqual([count]);
    expect(remarks).toEqual([`${leftOut} A geohash has digits and letters, but no a, i, l, o.`]);
  });

  test("a word that is too long for a geohash is left out, and the length that one has at most is named", () => {
    expect(parseGivenAreas("u05kq u05kq4zbpx123").remarks).toEqual([
      "Left out: u05kq4zbpx123. A geohash has digits and letters, but no a, i, l, o.",
      "It has at most 12 characters.",
    ]);
  });

  test("geohashes with a, i, l and o are named and left out, and long ones cut", () => {
    const { understood, remarks } = parseGivenAreas("u05kq u05ka u05kl u05kq4zbpx1 u05kr");
    expect(understood).toEqual(["3 geohashes"]);
    expect(remarks).toEqual([
      "Left out: u05ka, u05kl. A geohash has digits and letters, but no a, i, l, o.",
      "Cut to 9 characters: u05kq4zbpx1.",
    ]);
  });

  test("cells that a polygon of 15 points cannot have are named", () => {
    // A comb: every second cell of a row, and the row below.
    const comb = ["u05kq4", "u05kq5", "u05kqh", "u05kqj", "u05kqn", "u05kqp", "u05kq6", "u05kqk", "u05kqq"];
    const { areas, cells, differences } = covered(
      [
        ...comb,
        "u05kr0",
        "u05kr1",
        "u05kr4",
        "u05kr5",
        "u05kr2",
        "u05kr6",
        "u05kq0",
        "u05kq1",
        "u05kq2",
      ].join(" "),
    );
    const found = new Set(areas.flatMap((area) => cellsOf(area)));
    const missing = [...cells].filter((cell) => !found.has(cell));
    const further = [...found].filter((cell) => !cells.has(cell));
    expect(missing.length + further.length).toBeGreaterThan(0);
    if (missing.length > 0) expect(differences.join(" ")).toContain(missing[0]);
    if (further.length > 0) expect(differences.join(" ")).toContain(`${further.length} further cell`);
  });
});

test("parseGivenAreas returns rings or throws a readable error for any text", () => {
  const geohashLike = fc.array(fc.stringMatching(/^[0-9a-z]{1,4}$/)).map((words) => words.join(" "));
  const placeLike = fc
    .array(fc.constantFrom("45", "4,8", ".5", "°", "N", "W", " ", ",", ";", "-", "′", "″", "1e9"))
    .map((parts) => parts.join(""));
  const wktLike = fc
    .array(
      fc.constantFrom(
        "wkt\t",
        "\t",
        '"',
        "\n",
        "NAN",
        "POLYGON",
        "(",
        ")",
        ",",
        "1 2",
        "EMPTY",
        "SRID=1;",
        "Z",
        "-",
        "E",
      ),
    )
    .map((tokens) => tokens.join(" "));
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), wktLike, geohashLike, placeLike), (text) => {
      try {
        expect(parseGivenAreas(text).rings.length).toBeGreaterThan(0);
      } catch (error) {
        expect((error as Error).message).toMatch(
          /^(?:This is not|There is no polygon|A box is|The coordinates are of|Line \d+ is not JSON|Coordinates have|Minutes and seconds|Latitude comes|This place is|These geohashes)/,
        );
      }
    }),
  );
});
