/** The map's layers as data: what they draw, in which colours of the theme. */
import type {
  ExpressionSpecification,
  LayerSpecification,
  LineLayerSpecification,
  Map as MapLibreMap,
} from "maplibre-gl";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { ThemeColours } from "../base/theme.ts";
import { cellOpacity } from "../data/scale.ts";
import { inState, noDataState, suppressedState } from "./cell-state.ts";
import type { CellProperties } from "./geojson.ts";

/** The edges between cells, the coverage, the outlines of areas before they were simplified, the areas of a request, one that is being drawn. */
export type LineKind = "edges" | "coverage" | "given" | "area" | "draft";

/** The layers of lines: one of each kind, with its name. They share a source, as each source costs a mask in every frame. */
export function lineLayers({ accent, coverage, land, outside }: ThemeColours): LayerSpecification[] {
  return [
    {
      id: lowestLines,
      type: "fill",
      source: "lines",
      filter: ["==", ["get", "kind"], "outside"],
      paint: { "fill-color": outside, "fill-opacity": 0.45, "fill-antialias": false },
    },
    lines("edges", { "line-color": land, "line-width": 0.5 }),
    lines("coverage", { "line-color": coverage, "line-width": 1.5, "line-dasharray": [3, 3] }),
    lines("given", { "line-color": accent, "line-width": 1.5, "line-dasharray": [1, 2] }),
    lines("area", { "line-color": accent, "line-width": 2.5 }),
    lines("draft", { "line-color": accent, "line-width": 2.5, "line-dasharray": [2, 1.5] }),
  ];
}

/** The lowest layer of lines, below which the cells are: it dims what is not covered. */
export const lowestLines = "outside";

function lines(kind: LineKind, paint: NonNullable<LineLayerSpecification["paint"]>): LayerSpecification {
  return { id: kind, type: "line", source: "lines", filter: ["==", ["get", "kind"], kind], paint };
}

/** The cells of an answer. @param fill the colour of a cell by its state. */
export function cellLayers(fill: ExpressionSpecification | string): LayerSpecification[] {
  return [
    {
      id: "cells",
      type: "fill",
      source: "cells",
      // Without smooth edges, below which the ground would shine between two cells.
      paint: { "fill-color": fill, "fill-opacity": cellOpacity, "fill-antialias": false },
    },
    pattern("partly-covered-cells", "strokes", 1, "isPartlyCovered"),
    pattern("suppressed-cells", "hatching", inState(suppressedState), "isEverSuppressed"),
    pattern("no-data-cells", "dots", inState(noDataState), "isEverUnknown"),
  ];
}

/** A pattern on cells. Where it is transparent, it costs as much: cells that are never in it are left out. */
function pattern(
  id: string,
  image: string,
  opacity: ExpressionSpecification | number,
  property: keyof CellProperties,
): LayerSpecification {
  return {
    id,
    type: "fill",
    source: "cells",
    filter: ["get", property],
    paint: { "fill-pattern": image, "fill-opacity": opacity },
  };
}

/** The mark of a selected cell. */
export function selectedLayer({ text }: ThemeColours): LayerSpecification {
  return {
    id: "selected-cell",
    type: "line",
    source: "selected-cell",
    paint: { "line-color": text, "line-width": 3 },
  };
}

/** The zoom from which the edges of cells are drawn, where a cell is 12 pixels wide: there would be little but edges. */
export function edgesZoom(precision: number): number {
  const pixels = 12;
  return Math.max(0, Math.log2((pixels * 360) / gridOf(precision).cellWidth / 512));
}

/** Repaints layers after a change of the theme. */
export function repaint(map: MapLibreMap, layers: readonly LayerSpecification[]): void {
  for (const { id, paint = {} } of layers) {
    for (const [name, value] of Object.entries(paint)) {
      map.setPaintProperty(id, name as Parameters<MapLibreMap["setPaintProperty"]>[1], value);
    }
  }
}
