/** What kind of text people paste or drop, and the values in it. */

import { isNestedTooDeep, nestedTooDeep } from "../../shared/nesting.ts";
import { counted } from "../base/numbers.ts";
import { areDegrees, boxArea, noDegrees, type Point } from "../data/area.ts";
import { parsePlace, squareAround } from "./coordinates.ts";
import { type GeohashList, parseGeohashes } from "./geohash-list.ts";
import { listed } from "./listed.ts";
import { parseTable } from "./table.ts";
import { isWktText, parseWkt } from "./wkt.ts";

/** The values of a text. */
export interface GivenText {
  /** Values of GeoJSON, of the API, or boxes. */
  readonly values: readonly unknown[];
  /** What the text was understood as, without a full stop: `3 lines of GeoJSON`. */
  readonly understood: string;
  /** Sentences about what is not used. */
  readonly remarks: readonly string[];
  /** The cells, where geohashes were given. */
  readonly cells?: ReadonlySet<string>;
}

/** What can be read. */
const expected =
  "GeoJSON, WKT, a table with WKT, geohashes, a box (west, south, east, north), a place (latitude, longitude) or a " +
  "request of the API";

/** @throws {Error} saying what was expected. */
export function parseText(text: string): GivenText {
  const trimmed = text.replace(/^\ufeff/, "").trim();
  refuseFlightPlan(trimmed);
  const read =
    boxOrPlace(trimmed) ?? jsonOf(trimmed) ?? wktOf(trimmed) ?? tableOf(trimmed) ?? geohashesOf(trimmed);
  if (read === undefined) throw new Error(`This is not ${expected}.`);
  return read;
}

/** @throws {Error} for files of drone planners, with the command that makes GeoJSON of them. */
function refuseFlightPlan(text: string): void {
  const [, root] = /^(?:<[?!][^>]*>\s*)*<(kml|gpx)[\s>]/.exec(text) ?? [];
  if (root === "kml" || text.startsWith("PK\u0003\u0004"))
    throw new Error("KML is not read. GDAL makes GeoJSON of it: ogr2ogr area.geojson FILE.kml");
  if (root === "gpx")
    throw new Error(
      "GPX is not read, and has lines and no area. GDAL makes GeoJSON of what is within 0.001 degrees of its tracks or, if " +
        "so named, routes: ogr2ogr area.geojson FILE.gpx -dialect sqlite -sql " +
        '"SELECT name, ST_Buffer(geometry, 0.001) AS geometry FROM tracks"',
    );
}

/** Four numbers are a box and two a place; with decimal commas, `45,76; 4,83` is one too. */
function boxOrPlace(text: string): GivenText | undefined {
  const numbers = text
    .split(/[\s,;]+/)
    .map((word) => (/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]\d+)?$/i.test(word) ? Number(word) : Number.NaN));
  const isBox = numbers.length === 4 && numbers.every(Number.isFinite);
  const [west = 0, south = 0, east = 0, north = 0] = numbers;
  const hasCommas = /^[-+]?\d+,\d+(?:\s*;\s*|,?\s+)[-+]?\d+,\d+$/.test(text);
  const isPlace =
    !isBox || (hasCommas && (text.includes(";") || boxArea({ west, south, east, north }) === undefined));
  const place = isPlace ? parsePlace(text) : undefined;
  if (place !== undefined) return around(place);
  return isBox ? { values: [numbers], understood: "a box", remarks: [] } : undefined;
}

function around(place: Point, kind = "a place"): GivenText {
  const { latitude, longitude } = place;
  const name = `latitude ${degrees(latitude)}, longitude ${degrees(longitude)}`;
  return {
    values: [squareAround(place, 1)],
    understood: `${kind}, ${name}: the area reaches a kilometre from it to each side`,
    remarks: [],
  };
}

function degrees(value: number): string {
  return String(Number(value.toFixed(6))).replace("-", "−");
}

/** In front of each record of a text sequence of JSON (RFC 8142). */
const recordSeparator = "\u001e";

/** JSON, or a value of JSON in each line: with record separators (RFC 8142) or without. */
function jsonOf(text: string): GivenText | undefined {
  const start = text.replaceAll(recordSeparator, "").trim();
  if (!/^[[{]/.test(start)) return undefined;
  const whole = parsedJson(start);
  if (whole !== undefined) {
    if (Array.isArray(whole) && whole.length > 0 && whole.every((one) => typeof one === "string"))
      return geohashesOf(whole.join(" "));
    return positionsOf(whole) ?? { values: [whole], understood: kindOf(whole), remarks: [] };
  }
  const separator = text.includes(recordSeparator) ? recordSeparator : /\r?\n/;
  const records = text.split(separator).filter((record) => record.trim() !== "");
  const values = records.map(parsedJson);
  const wrong = values.indexOf(undefined);
  if (wrong < 0) return { values, understood: `${values.length} lines of ${kindOf(values[0])}`, remarks: [] };
  // One value over several lines begins like no line of its own.
  const areLines =
    values.filter((value) => value !== undefined && typeof value === "object").length > values.length / 2;
  const at = areLines ? `Line ${wrong + 1}` : "This";
  // A text that does not end is taken to the end, so that nothing is read twice.
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"?|,\s*[}\]]/gs)];
  const comma = tokens.find(([token]) => token.startsWith(","));
  const lines = comma === undefined ? [] : text.slice(0, comma.index).split("\n");
  throw new Error(
    lines.length > 0 && !areLines
      ? `This is not JSON: in line ${lines.length} there is a comma before the end of a list or an object.`
      : `${at} is not JSON. Expected is ${expected}.`,
  );
}

/** A position, or the ring of a polygon, as in the `coordinates` of GeoJSON. */
function positionsOf(value: unknown): GivenText | undefined {
  const kind = "GeoJSON (longitude first)";
  if (isPosition(value)) {
    const [longitude, latitude] = value;
    if (!areDegrees([{ latitude, longitude }])) throw new Error(noDegrees([longitude, latitude]));
    return around({ latitude, longitude }, `a position of ${kind}`);
  }
  if (!Array.isArray(value) || value.length < 3 || !value.every(isPosition)) return undefined;
  const polygon = { type: "Polygon", coordinates: [value] };
  return { values: [polygon], understood: `positions of ${kind}`, remarks: [] };
}

/** Whether a value is longitude and latitude, also with a height. */
function isPosition(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && [2, 3].includes(value.length) && value.every(Number.isFinite);
}

function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isNestedTooDeep(value)) throw new Error(`This ${nestedTooDeep}.`);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "JSON";
  if ("type" in value) return "GeoJSON";
  return "area" in value ? "a request of the API" : "JSON";
}

function wktOf(text: string): GivenText | undefined {
  const geometries = parseWkt(text);
  return geometries && { values: geometries, understood: "WKT", remarks: [] };
}

/** The rows of a table, as GeoJSON's features without the values of their properties. */
function tableOf(text: string): GivenText | undefined {
  const table = parseTable(text);
  if (table === undefined) return undefined;
  const { column, values, emptyRows, isWkt, otherColumns } = table;
  const others = [
    ...(emptyRows > 0 ? [`Left out: ${emptyRows} × row without an area.`] : []),
    ...(otherColumns.length > 0 ? [`Not used: ${listed(otherColumns)}.`] : []),
  ];
  if (!isWkt) return geohashesOf(values.join(" "), true, others);
  const rows = values.map((value) => (isWktText(value) ? parseWkt(value) : undefined));
  // Broken WKT is no table.
  if (column === undefined && rows.every((row) => row === undefined)) return undefined;
  const unread = rows.filter((row) => row === undefined).length;
  const count = rows.length + emptyRows;
  const name = column === undefined ? "" : ` in the column ${column}`;
  return {
    values: rows.flatMap((row) => row ?? []),
    understood: `a table with WKT${name}, ${counted(count, "row")}`,
    remarks: [...(unread > 0 ? [`Left out: ${unread} × row that is no WKT.`] : []), ...others],
  };
}

/** @param isNamed as of `parseGeohashes` @param others what is not used of the table with the geohashes */
function geohashesOf(text: string, isNamed = false, others: readonly string[] = []): GivenText | undefined {
  const list: GeohashList | undefined = parseGeohashes(text, isNamed);
  return (
    list && {
      values: [{ type: "MultiPolygon", coordinates: list.polygons }],
      understood: list.count === 1 ? "a geohash" : `${list.count} geohashes`,
      remarks: [...list.remarks, ...others],
      cells: list.cells,
    }
  );
}
