import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { quantize } from "topojson-client";
import { presimplify, simplify } from "topojson-simplify";
import type { GeometryCollection, Topology } from "topojson-specification";

const require = createRequire(import.meta.url);

/** Corners that span less, in square degrees, are left out; so are digits beyond a fifteenth of a degree of arc. */
const minCornerArea = 0.005;
const outlineGrid = 10_000;

/** The outlines of countries as TopoJSON, without names, in as much detail as the map shows before it shows cells. */
export async function outlines(): Promise<string> {
  const text = await readFile(require.resolve("world-atlas/countries-50m.json"), "utf8");
  const topology = JSON.parse(text) as Topology<{ countries: GeometryCollection<object> }>;
  const { countries } = topology.objects;
  for (const country of countries.geometries) {
    delete country.id;
    delete country.properties;
  }
  topology.objects = { countries };
  return JSON.stringify(quantize(simplify(presimplify(topology), minCornerArea), outlineGrid));
}
