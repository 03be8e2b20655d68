import { mostLevels, nestedTooDeep } from "../../shared/nesting.ts";
import { notWgs84 } from "../data/area.ts";

const types: Readonly<Record<string, string>> = {
  POINT: "Point",
  LINESTRING: "LineString",
  POLYGON: "Polygon",
  MULTIPOINT: "MultiPoint",
  MULTILINESTRING: "MultiLineString",
  MULTIPOLYGON: "MultiPolygon",
  GEOMETRYCOLLECTION: "GeometryCollection",
};

/** The type that a word names, also one that says what its positions have: `POLYGONZ` is `POLYGON Z`. */
function typeOf(word = ""): string | undefined {
  return types[word] ?? types[word.replace(/(?:ZM|Z|M)$/, "")];
}

/**
 * Parses WKT, such as `POLYGON ((4.8 45.7, 4.9 45.7, 4.9 45.8, 4.8 45.7))`: one geometry or several, with or without
 * `SRID=4326;` before each.
 * @returns the geometries as GeoJSON, with measures after the heights of positions; undefined for what is no WKT.
 * @throws {Error} for another system of coordinates, and for brackets that are nested too deep.
 */
export function parseWkt(text: string): readonly object[] | undefined {
  // `POLYGON M` has measures where others have heights: its positions get the height `undefined`.
  let hasOnlyMeasures = false;
  const tokens = text.toUpperCase().match(/SRID *= *\d+ *;|[A-Z]+|[-+\d.][-+\d.E]*|\S/g) ?? [];
  let at = 0;
  const take = (token: string) => {
    if (tokens[at] !== token) return false;
    at++;
    return true;
  };

  /** A list in brackets; undefined if there is none. */
  const list = (level: number): unknown[] | undefined => {
    if (level > mostLevels) throw new Error(`This ${nestedTooDeep}.`);
    if (take("EMPTY")) return [];
    if (!take("(")) return undefined;
    const items: unknown[] = [];
    do {
      const item = typeOf(tokens[at]) === undefined ? (list(level + 1) ?? position()) : geometry(level + 1);
      if (item === undefined) return undefined;
      items.push(item);
    } while (take(","));
    return take(")") ? items : undefined;
  };
  const position = (): (number | undefined)[] | undefined => {
    const numbers: number[] = [];
    for (; at < tokens.length; at++) {
      const number = Number(tokens[at]);
      // A height or a measure that is not known: QGIS writes `nan`.
      const isUnknown = numbers.length > 1 && tokens[at] === "NAN";
      if (!Number.isFinite(number) && !isUnknown) break;
      numbers.push(number);
    }
    if (numbers.length < 2) return undefined;
    return hasOnlyMeasures ? [...numbers.slice(0, 2), undefined, ...numbers.slice(2)] : numbers;
  };
  const geometry = (level: number): object | undefined => {
    const type = typeOf(tokens[at]);
    const isFollowed = ["Z", "M", "ZM"].includes(tokens[at + 1] ?? "");
    hasOnlyMeasures = isFollowed ? tokens[at + 1] === "M" : /[^Z]M$/.test(tokens[at] ?? "");
    at += isFollowed ? 2 : 1;
    const items = type === undefined ? undefined : list(level);
    if (items === undefined) return undefined;
    return type === "GeometryCollection" ? { type, geometries: items } : { type, coordinates: items };
  };

  const geometries: object[] = [];
  while (at < tokens.length) {
    const [, srid] = /^SRID *= *(\d+)/.exec(tokens[at] ?? "") ?? [];
    if (srid !== undefined) at++;
    if (srid !== undefined && srid !== "4326") {
      throw new Error(notWgs84(`SRID ${srid}`));
    }
    const read = geometry(1);
    if (read === undefined) return undefined;
    geometries.push(read);
    take(";");
  }
  return geometries.length > 0 ? geometries : undefined;
}

/** Whether a text begins as WKT does. */
export function isWktText(text: string): boolean {
  const [name = ""] = /^[A-Z]+/.exec(text.toUpperCase().replace(/^\s*(?:SRID *= *\d+ *; *)?/, "")) ?? [];
  return typeOf(name) !== undefined;
}
