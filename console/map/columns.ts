/** Cells as columns as high as they are dense, on a tilted map. */
import type { ExpressionSpecification, Map as MapLibreMap } from "maplibre-gl";
import { isDark, themeColours } from "../base/theme.ts";
import type { Value } from "../data/densities.ts";
import type { Scale } from "../data/scale.ts";
import { colourByState } from "./cell-state.ts";
import { lowestLines } from "./layers.ts";

const id = "columns";

/** How the map is tilted and turned, in degrees. */
const tilted = { pitch: 50, bearing: -18 } as const;

/** The height of the densest cell, as a share of the width of the map. */
const heightShare = 0.12;

const height: ExpressionSpecification = ["coalesce", ["feature-state", "height"], 0];

/** Tilts the map and shows columns, or lays it flat again. */
export function showColumns(map: MapLibreMap, scale: Scale | undefined): void {
  if (map.getLayer(id) !== undefined) map.removeLayer(id);
  const isShown = scale !== undefined;
  map.setMaxPitch(isShown ? 60 : 0);
  const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 600;
  map.easeTo({ ...(isShown ? tilted : { pitch: 0, bearing: 0 }), duration });
  if (!isShown) return;
  map.addLayer(
    {
      id,
      type: "fill-extrusion",
      source: "cells",
      paint: {
        "fill-extrusion-color": colourByState(scale, isDark(), themeColours().outside),
        "fill-extrusion-height": height,
        "fill-extrusion-opacity": 0.92,
      },
    },
    lowestLines,
  );
}

/** Raises the columns to the densities of an hour. @param max the greatest density of all hours */
export function raiseColumns(map: MapLibreMap, values: readonly Value[], max: number): void {
  const [west, east] = [map.getBounds().getWest(), map.getBounds().getEast()];
  const metres = (east - west) * 111_320 * Math.cos((map.getCenter().lat * Math.PI) / 180);
  for (const [index, { density = 0 }] of values.entries()) {
    const raised = (density / Math.max(1, max)) * metres * heightShare;
    map.setFeatureState({ source: "cells", id: index }, { height: raised });
  }
}
