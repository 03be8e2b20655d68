/**
 * The layers of an archive of tiles as data, bottom layer first, in the scheme of Protomaps
 * (https://docs.protomaps.com/basemaps/layers). Each of its layers has points, lines and polygons.
 */
import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from "maplibre-gl";
import type { ThemeColours } from "../base/theme.ts";
import { bold, regular } from "./fonts.ts";

const source = "tiles";

/** Ground, water, buildings and roads; then the names. */
export function archiveLayers(colours: ThemeColours): LayerSpecification[] {
  return [...groundLayers(colours), ...nameLayers(colours)];
}

function groundLayers({ water, land, border, park, coverage }: ThemeColours): LayerSpecification[] {
  return [
    { id: "background", type: "background", paint: { "background-color": water } },
    { id: "earth", type: "fill", ...polygonsOf("earth"), paint: { "fill-color": land } },
    {
      id: "landuse",
      type: "fill",
      ...polygonsOf("landuse", ["in", ["get", "kind"], ["literal", greenKinds]]),
      paint: { "fill-color": park },
    },
    { id: "water", type: "fill", ...polygonsOf("water"), paint: { "fill-color": water } },
    { id: "waterways", type: "line", ...linesOf("water"), paint: { "line-color": water, "line-width": 2 } },
    {
      id: "buildings",
      type: "fill",
      ...polygonsOf("buildings"),
      minzoom: 13,
      paint: { "fill-color": border, "fill-opacity": 0.4 },
    },
    {
      id: "roads",
      type: "line",
      ...linesOf("roads"),
      paint: { "line-color": border, "line-width": roadWidth },
    },
    {
      id: "boundaries",
      type: "line",
      ...linesOf("boundaries"),
      paint: { "line-color": coverage, "line-dasharray": [3, 2] },
    },
  ];
}

function nameLayers({ label, land }: ThemeColours): LayerSpecification[] {
  const paint = { "text-color": label, "text-halo-color": land, "text-halo-width": 1.6 };
  return [
    {
      id: "road-names",
      type: "symbol",
      source,
      "source-layer": "roads",
      minzoom: 14,
      layout: { ...regular, "text-field": ["get", "name"], "symbol-placement": "line" },
      paint,
    },
    {
      id: "place-names",
      type: "symbol",
      source,
      "source-layer": "places",
      layout: { ...bold, "text-field": ["get", "name"], "text-max-width": 7 },
      paint,
    },
  ];
}

const greenKinds = ["park", "forest", "wood", "nature_reserve", "grass", "meadow", "cemetery", "golf_course"];

const roadWidth: ExpressionSpecification = [
  "interpolate",
  ["exponential", 1.6],
  ["zoom"],
  6,
  0.3,
  12,
  1.2,
  18,
  12,
];

function polygonsOf(layer: string, ...conditions: ExpressionSpecification[]) {
  return featuresOf(layer, "Polygon", conditions);
}

function linesOf(layer: string) {
  return featuresOf(layer, "LineString", []);
}

function featuresOf(layer: string, type: string, conditions: readonly ExpressionSpecification[]) {
  const filter: FilterSpecification = ["all", ["==", ["geometry-type"], type], ...conditions];
  return { source, "source-layer": layer, filter };
}
