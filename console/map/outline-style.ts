/** The default map: outlines of countries. */
import type { StyleSpecification } from "maplibre-gl";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { assetUrl } from "../assets.ts";
import { themeColours } from "../theme.ts";
import { featureOf } from "./geojson.ts";
import { outlineLayers } from "./layers.ts";

/** Loads the outlines of countries from the page's own origin. */
export async function outlineStyle(): Promise<StyleSpecification> {
  const response = await fetch(assetUrl("outlines"));
  const topology = (await response.json()) as Topology<{ countries: GeometryCollection }>;
  const { countries } = topology.objects;
  const borders = mesh(topology, countries, (one, other) => one !== other);
  return {
    version: 8,
    sources: {
      land: { type: "geojson", data: feature(topology, countries) },
      borders: { type: "geojson", data: featureOf(borders) },
    },
    layers: outlineLayers(themeColours()),
  };
}
