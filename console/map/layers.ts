/** The map's layers as data: what they draw, in which colours of the theme. */
import type { ExpressionSpecification, LayerSpecification, Map as MapLibreMap } from "maplibre-gl";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import { cellOpacity } from "../answer/scale.ts";
import type { ThemeColours } from "../theme.ts";
import { inState, noDataState, suppressedState } from "./cell-state.ts";

/** The coverage, the outlines of areas before they were simplified, the areas of a request, one that is being drawn. */
export function areaLayers({ accent, coverage }: ThemeColours): LayerSpecification[] {
  return [
    {
      id: "coverage",
      type: "line",
      source: "coverage",
      paint: { "line-color": coverage, "line-width": 1.5, "line-dasharray": [3, 3] },
    },
    {
      id: "given",
      type: "line",
      source: "given",
      paint: { "line-color": accent, "line-width": 1.5, "line-dasharray": [1, 2] },
    },
    { id: "area", type: "line", source: "area", paint: { "line-color": accent, "line-width": 2.5 } },
    {
      id: "draft",
      type: "line",
      source: "draft",
      paint: { "line-color": accent, "line-width": 2.5, "line-dasharray": [2, 1.5] },
    },
  ];
}

/** The cells of an answer. @param fill the colour of a cell by its state. */
export function cellLayers(
  { land, text }: ThemeColours,
  fill: ExpressionSpecification | string,
  precision: number,
): LayerSpecification[] {
  return [
    {
      id: "cells",
      type: "fill",
      source: "cells",
      // Without smooth edges, below which the ground would shine between two cells.
      paint: { "fill-color": fill, "fill-opacity": cellOpacity, "fill-antialias": false },
    },
    {
      id: "suppressed-cells",
      type: "fill",
      source: "cells",
      paint: { "fill-pattern": "hatching", "fill-opacity": inState(suppressedState) },
    },
    {
      id: "no-data-cells",
      type: "fill",
      source: "cells",
      paint: { "fill-pattern": "dots", "fill-opacity": inState(noDataState) },
    },
    {
      id: "cell-edges",
      type: "line",
      source: "cells",
      paint: { "line-color": land, "line-width": 0.6, "line-opacity": edgeOpacity(precision) },
    },
    {
      id: "selected-cell",
      type: "line",
      source: "cells",
      paint: {
        "line-color": text,
        "line-width": 3,
        "line-opacity": ["case", ["boolean", ["feature-state", "isSelected"], false], 1, 0],
      },
    },
  ];
}

/** The edges of cells fade out as the cells become small: below 6 pixels there would be nothing but edges. */
function edgeOpacity(precision: number): ExpressionSpecification {
  const zoomAt = (pixels: number) => Math.log2((pixels * 360) / gridOf(precision).cellWidth / 512);
  return ["interpolate", ["linear"], ["zoom"], zoomAt(6), 0, zoomAt(24), 0.5];
}

/** Repaints layers after a change of the theme. */
export function repaint(map: MapLibreMap, layers: readonly LayerSpecification[]): void {
  for (const { id, paint = {} } of layers) {
    for (const [name, value] of Object.entries(paint)) {
      map.setPaintProperty(id, name as Parameters<MapLibreMap["setPaintProperty"]>[1], value);
    }
  }
}
