/** Areas as people have them: the polygons of texts (`given-text.ts` says of which kinds). */
import { afterHours } from "../base/time.ts";
import { areMetres, boxArea, noDegrees, notWgs84, type Point } from "../data/area.ts";
import { maxNameLength, type ViewState } from "./address.ts";
import { parseText } from "./given-text.ts";
import { listed } from "./listed.ts";

/** What texts hold. */
export interface GivenAreas {
  /** What each text was understood as, without a full stop: `3 lines of GeoJSON`. */
  readonly understood: readonly string[];
  /** The outer rings of polygons, as given. */
  readonly rings: readonly (readonly Point[])[];
  /** The name that GeoJSON gives to all, and members of a request of the API: of several, the last that names them. */
  readonly state: Pick<ViewState, "from" | "hours" | "precision" | "name">;
  /** Sentences about what is not used of the texts. */
  readonly remarks: readonly string[];
  /** The cells, where a single text gave geohashes, of one length. */
  readonly cells?: ReadonlySet<string>;
}

/**
 * Parses texts, as of several files.
 * @throws {Error} saying what was expected, if one cannot be read or none holds a polygon.
 */
export function parseGivenAreas(...texts: readonly string[]): GivenAreas {
  const reader = new Reader();
  const given = texts.map((text) => parseText(text));
  for (const value of given.flatMap(({ values }) => values)) reader.read(value);
  const { rings, state } = reader;
  const remarks = [...given.flatMap((one) => one.remarks), ...reader.remarks];
  if (rings.length === 0) throw new Error(["There is no polygon in it.", ...remarks].join(" "));
  const [{ cells } = {}] = given.length === 1 ? given : [];
  const understood = given.map((one) => one.understood);
  return { understood, rings, state, remarks, ...(cells === undefined ? {} : { cells }) };
}

type Members = Readonly<Record<string, unknown>>;

/** Members of GeoJSON that say nothing of an area, or nothing new. */
const known = new Set([
  "type",
  "coordinates",
  "geometry",
  "geometries",
  "features",
  "bbox",
  "properties",
  "name",
]);

/** A property of GeoJSON that is a feature's name. */
const isName = (property: string): boolean => /^name$/i.test(property);

/** WGS 84 as a `crs` names it, also with heights: in degrees of longitude and latitude, as all of GeoJSON (RFC 7946). */
const wgs84 = /(?:^|[:/])(?:CRS84h?|4326|4979)(?:\/|$)|^WGS ?84$/i;

/** The system of coordinates that GeoJSON of 2008 names in `crs`; undefined if it names none. */
function systemOf(crs: unknown): string | undefined {
  if (!isRecord(crs) || !isRecord(crs.properties)) return undefined;
  const { name, code, href } = crs.properties;
  const named = name ?? href ?? (code === undefined ? undefined : `EPSG:${code}`);
  return typeof named === "string" ? named : undefined;
}

/** Collects polygons from a value, and what else is in it. */
class Reader {
  readonly rings: Point[][] = [];
  #holes = 0;
  #hasHeights = false;
  #hasMeasures = false;
  readonly #periods: Period[] = [];
  readonly #precisions: number[] = [];
  /** What is not used and has no name of its own, and how often it is there. */
  readonly #unused = new Map<string, number>();
  readonly #properties = new Set<string>();
  /** Those of features, empty for one without a name. */
  readonly #names = new Set<string>();
  /** That of a collection. */
  #title = "";
  readonly #members = new Set<string>();

  get state(): GivenAreas["state"] {
    const [period, precision] = [this.#periods.at(-1), this.#precisions.at(-1)];
    const [name = "", ...others] = this.#names;
    const given = (others.length === 0 ? name : "") || this.#title;
    return {
      ...(given !== "" && { name: given }),
      ...(period && { from: period.from, hours: period.hours }),
      ...(precision !== undefined && { precision }),
    };
  }

  get remarks(): string[] {
    const isNamed = this.state.name !== undefined;
    const properties = [...this.#properties].filter((one) => !(isNamed && isName(one)));
    const unused = [
      ...[...this.#unused].map(([kind, count]) => `${count} × ${kind}`),
      ...(properties.length > 0 ? [`properties (${listed(properties)})`] : []),
      ...(this.#members.size > 0 ? [listed(this.#members)] : []),
      ...(this.#hasHeights ? ["heights"] : []),
      ...(this.#hasMeasures ? ["measures"] : []),
    ];
    const holes = this.#holes === 1 ? "A hole is" : `${this.#holes} holes are`;
    return [
      ...(this.#holes > 0 ? [`${holes} filled in: an area of the API has none.`] : []),
      ...lastOf(this.#periods, "periods"),
      ...(this.#periods.at(-1)?.isWidened ? ["The period is widened to whole hours."] : []),
      ...lastOf(this.#precisions, "precisions"),
      ...(unused.length > 0 ? [`Not used: ${unused.join(", ")}.`] : []),
    ];
  }

  read(value: unknown): void {
    if (Array.isArray(value)) this.#readList(value);
    else if (!isRecord(value)) this.#leaveOut("member that is no object");
    else if (isRecord(value.area) || Array.isArray(value.area)) this.#readRequest(value);
    else if (Array.isArray(value.boundary)) this.#readBoundary(value);
    else if (["west", "south", "east", "north"].every((side) => typeof value[side] === "number")) {
      const { west, south, east, north, ...others } = value;
      this.#addBox([west, south, east, north]);
      this.#addMembers(others);
    } else this.#readGeoJson(value);
  }

  /** A box, points of the API, or several values. */
  #readList(values: readonly unknown[]): void {
    if (values.length === 4 && values.every((value) => typeof value === "number")) this.#addBox(values);
    else if (values.length > 0 && values.every(isPoint)) this.rings.push(values.map(pointOf));
    else for (const value of values) this.read(isRecord(value) ? value : undefined);
  }

  #readRequest({ area, startTime, endTime, precision, ...others }: Members): void {
    this.read(area);
    const period = periodOf(startTime, endTime);
    if (period !== undefined) this.#periods.push(period);
    else if (startTime !== undefined || endTime !== undefined) this.#members.add("startTime, endTime");
    if (Number.isInteger(precision)) this.#precisions.push(Number(precision));
    else if (precision !== undefined) this.#members.add("precision");
    this.#addMembers(others);
  }

  #readBoundary({ areaType: _, boundary, ...others }: Members): void {
    if (Array.isArray(boundary) && boundary.every(isPoint)) this.rings.push(boundary.map(pointOf));
    else this.#leaveOut("malformed boundary");
    this.#addMembers(others);
  }

  #readGeoJson(value: Members): void {
    const { type, coordinates, geometry, geometries, features, properties } = value;
    const system = systemOf(value.crs);
    if (system !== undefined && !wgs84.test(system)) throw new Error(notWgs84(system));
    const isKnown = (name: string) => known.has(name) || (name === "crs" && system !== undefined);
    this.#addMembers(Object.fromEntries(Object.entries(value).filter(([name]) => !isKnown(name))));
    if (isRecord(properties)) for (const name of Object.keys(properties)) this.#properties.add(name);
    if (type === "Feature") this.#names.add(nameIn(properties));
    else if (type === "FeatureCollection") this.#title = nameIn(value);
    switch (type) {
      case "FeatureCollection":
      case "GeometryCollection":
        for (const one of this.#membersOf(type, features ?? geometries)) this.read(one);
        return;
      case "Feature":
        if (isRecord(geometry)) this.read(geometry);
        else this.#leaveOut("Feature without a geometry");
        return;
      case "Polygon":
        this.#addPolygon(listOf(coordinates));
        return;
      case "MultiPolygon":
        for (const polygon of this.#membersOf(type, coordinates)) this.#addPolygon(listOf(polygon));
        return;
      default:
        this.#leaveOut(typeof type === "string" ? type : "object without a type");
    }
  }

  #membersOf(type: string, values: unknown): readonly unknown[] {
    if (!Array.isArray(values)) this.#leaveOut(`malformed ${type}`);
    return listOf(values);
  }

  #addPolygon([ring, ...holes]: readonly unknown[]): void {
    const positions = listOf(ring);
    const isRing = positions.every((position) => listOf(position).slice(0, 2).every(Number.isFinite));
    if (!isRing || positions.length < 3) {
      this.#leaveOut("malformed Polygon");
      return;
    }
    this.#holes += holes.length;
    this.#hasHeights ||= positions.some((position) => listOf(position)[2] !== undefined);
    this.#hasMeasures ||= positions.some((position) => listOf(position)[3] !== undefined);
    this.rings.push(
      positions.map((position) => {
        const [longitude, latitude] = listOf(position);
        return { longitude: Number(longitude), latitude: Number(latitude) };
      }),
    );
  }

  #addBox(sides: readonly unknown[]): void {
    const [west = 0, south = 0, east = 0, north = 0] = sides.map(Number);
    const area = boxArea({ west, south, east, north });
    if (area === undefined) {
      const metres = [
        [west, south],
        [east, north],
      ].find(areMetres);
      const isNoBox = "A box is west, south, east, north, less than 180 degrees wide.";
      throw new Error(metres === undefined ? isNoBox : noDegrees(metres));
    }
    this.rings.push([...area.boundary]);
  }

  #leaveOut(kind: string): void {
    this.#unused.set(kind, (this.#unused.get(kind) ?? 0) + 1);
  }

  #addMembers(members: Members): void {
    for (const name of Object.keys(members)) this.#members.add(name);
  }
}

/** The name among members, in a line; empty for none. */
function nameIn(members: unknown): string {
  const [, name] = Object.entries(isRecord(members) ? members : {}).find(([key]) => isName(key)) ?? [];
  return typeof name === "string" ? name.replace(/\s+/g, " ").trim().slice(0, maxNameLength).trim() : "";
}

/** Says that the last of several values is used, if they differ. */
function lastOf(values: readonly unknown[], name: string): string[] {
  const { size } = new Set(values.map((value) => JSON.stringify(value)));
  return size > 1 ? [`Of ${size} ${name}, the last is used.`] : [];
}

interface Period {
  readonly from: Date;
  readonly hours: number;
  readonly isWidened: boolean;
}

/** The period of a request, widened to whole hours; undefined if it is none. */
function periodOf(startTime: unknown, endTime: unknown): Period | undefined {
  const hour = 3_600_000;
  const [start, end] = [Date.parse(String(startTime)), Date.parse(String(endTime))];
  if (Number.isNaN(start) || Number.isNaN(end) || end <= start) return undefined;
  const from = new Date(Math.floor(start / hour) * hour);
  const hours = Math.ceil((end - from.getTime()) / hour);
  const isWidened = from.getTime() !== start || afterHours(from, hours).getTime() !== end;
  return { from, hours, isWidened };
}

function isRecord(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isPoint(value: unknown): value is Point {
  return isRecord(value) && Number.isFinite(value.latitude) && Number.isFinite(value.longitude);
}

function pointOf({ latitude, longitude }: Point): Point {
  return { latitude, longitude };
}
