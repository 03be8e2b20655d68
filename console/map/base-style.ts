/** The map without one of the operator's: outlines of countries, names of cities, and the city of the demo. */
import type { LayerSpecification, StyleSpecification } from "maplibre-gl";
import { assetUrl } from "../base/assets.ts";
import { themeColours } from "../base/theme.ts";
import { baseLayers } from "./base-layers.ts";
import { empty } from "./geojson.ts";

/**
 * The base map, from the page's own origin. Its letters are drawn from fonts of the system. It loads, but is not drawn:
 * that would take longest where the map is at first, of all the world.
 */
export function baseStyle(): StyleSpecification {
  return {
    version: 8,
    sources: {
      // Beyond these zooms a tile has no more detail; smaller ones would only take longer to draw.
      outlines: { type: "geojson", data: assetUrl("outlines"), maxzoom: 4 },
      // Empty until it is known what is covered.
      detail: { type: "geojson", data: empty, maxzoom: 9 },
      places: { type: "geojson", data: assetUrl("places"), maxzoom: 11 },
    },
    layers: baseLayers(themeColours()).map(hidden),
  };
}

function hidden(layer: LayerSpecification): LayerSpecification {
  if (layer.type === "background") return layer;
  return { ...layer, layout: { ...layer.layout, visibility: "none" } } as LayerSpecification;
}
