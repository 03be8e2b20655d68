/** The map without one of the operator's: outlines of countries, names of cities, and the city of the demo. */
import type { StyleSpecification } from "maplibre-gl";
import { assetUrl } from "../assets.ts";
import { themeColours } from "../theme.ts";
import { baseLayers } from "./base-layers.ts";
import { featureOf } from "./geojson.ts";
import { type OutlineTopology, outlinesOf } from "./outlines.ts";

/** Loads the base map from the page's own origin. Its letters are drawn from fonts of the system. */
export async function baseStyle(): Promise<StyleSpecification> {
  const response = await fetch(assetUrl("outlines"));
  const { land, borders } = outlinesOf((await response.json()) as OutlineTopology);
  return {
    version: 8,
    sources: {
      land: { type: "geojson", data: land },
      borders: { type: "geojson", data: featureOf(borders) },
      places: { type: "geojson", data: assetUrl("places") },
    },
    layers: baseLayers(themeColours()),
  };
}
