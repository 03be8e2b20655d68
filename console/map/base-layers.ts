/** The layers of the base map as data, bottom layer first. Cells are below the first layer of names. */
import type {
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  SymbolLayerSpecification,
} from "maplibre-gl";
import type { ThemeColours } from "../base/theme.ts";
import { bold, italic, regular } from "./fonts.ts";
import type { PieceProperties } from "./ground-grid.ts";
import type { OutlineProperties, PlaceProperties } from "./places.ts";

type Kind = PlaceProperties["kind"];

/** The zoom from which pieces of the ground are drawn: at lower ones, their squares would show. */
const detailZoom = 5;

/** The zoom from which places of fewer than 15,000 people are named. */
const villageZoom = 9.5;

/** The zoom at which the parts of the demo's city are named instead of the city. */
const partsZoom = 10.5;

/** Country outlines, open ground and rivers; then the names. */
export function baseLayers(colours: ThemeColours): LayerSpecification[] {
  return [...groundLayers(colours), ...nameLayers(colours)];
}

function groundLayers({ water, land, border, park, open }: ThemeColours): LayerSpecification[] {
  return [
    { id: "water", type: "background", paint: { "background-color": water } },
    { ...ofOutline("land"), id: "land", type: "fill", paint: { "fill-color": land } },
    { ...ofOutline("border"), id: "borders", type: "line", paint: { "line-color": border, "line-width": 1 } },
    ...detailLayers(water, land, border),
    { ...ofKind("open"), id: "open-ground", type: "fill", paint: { "fill-color": open } },
    { ...ofKind("park"), id: "parks", type: "fill", paint: { "fill-color": park } },
    {
      ...ofKind("river"),
      id: "rivers",
      type: "line",
      layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-color": water, "line-width": riverWidth },
    },
  ];
}

/** The ground in detail, which covers that of the overview where there is any. */
function detailLayers(water: string, land: string, border: string): LayerSpecification[] {
  const ofPiece = (kind: PieceProperties["kind"]) => ({
    source: "detail" as const,
    minzoom: detailZoom,
    filter: ["==", ["get", "kind"], kind] satisfies FilterSpecification,
  });
  return [
    {
      ...ofPiece("sea"),
      id: "detail-sea",
      type: "fill",
      paint: { "fill-color": water, "fill-antialias": false },
    },
    {
      ...ofPiece("land"),
      id: "detail-land",
      type: "fill",
      paint: { "fill-color": land, "fill-antialias": false },
    },
    {
      ...ofPiece("border"),
      id: "detail-borders",
      type: "line",
      paint: { "line-color": border, "line-width": 1.2, "line-dasharray": [4, 2] },
    },
  ];
}

/** As wide as the river is: a pixel spans half as many metres at each next zoom. */
const riverWidth: ExpressionSpecification = [
  "interpolate",
  ["exponential", 2],
  ["zoom"],
  8,
  ["/", ["get", "width"], 2 ** 12],
  20,
  ["get", "width"],
];

/** The names: where two would overlap, that of the later layer stays. */
function nameLayers({ label, riverLabel, parkLabel, land }: ThemeColours): LayerSpecification[] {
  const names = (
    kind: Kind,
    colour: string,
    { minzoom, maxzoom = 24, ...layout }: NameOptions,
  ): LayerSpecification => ({
    ...ofKind(kind),
    id: `${kind}-names`,
    type: "symbol",
    minzoom,
    maxzoom,
    layout: { "text-field": ["get", "name"], "text-max-width": 7, ...layout },
    paint: { "text-color": colour, "text-halo-color": land, "text-halo-width": 1.6 },
  });
  const stations: LayerSpecification = {
    ...ofKind("station"),
    id: "stations",
    type: "circle",
    minzoom: 11.5,
    paint: {
      "circle-radius": 3,
      "circle-color": land,
      "circle-stroke-color": label,
      "circle-stroke-width": 1.6,
    },
  };
  return [
    names("river", riverLabel, { minzoom: 11, ...italic, "symbol-placement": "line", "symbol-spacing": 420 }),
    names("country", label, countryText),
    townNames(label, land),
    names("city", label, cityText),
    names("overview", label, { ...cityText, maxzoom: partsZoom }),
    names("quarter", label, { minzoom: 13.5, ...regular }),
    names("park", parkLabel, { minzoom: 13, ...italic }),
    stations,
    names("station", label, stationText),
    names("commune", label, { minzoom: partsZoom, ...bold, "text-padding": 4 }),
  ];
}

/** Names of the places in pieces of the ground: villages once towns are far apart, and smaller. */
function townNames(label: string, land: string): LayerSpecification {
  return {
    id: "town-names",
    type: "symbol",
    source: "detail",
    minzoom: 7.5,
    filter: ["==", ["get", "kind"], "town"],
    layout: {
      ...regular,
      "text-field": ["step", ["zoom"], ["case", isTown, ["get", "name"], ""], villageZoom, ["get", "name"]],
      "text-size": ["case", isTown, 12, 10.5],
      "text-max-width": 7,
      "symbol-sort-key": ["-", ["get", "people"]],
      "text-padding": 5,
    },
    paint: { "text-color": label, "text-halo-color": land, "text-halo-width": 1.6 },
  };
}

type NameOptions = SymbolLayerSpecification["layout"] & {
  readonly minzoom: number;
  readonly maxzoom?: number;
};

const isTown: ExpressionSpecification = [">=", ["get", "people"], 15_000];

const isLarge: ExpressionSpecification = [">=", ["get", "people"], 1_000_000];

/** Names of countries, the largest first, until there are cities enough. */
const countryText: NameOptions = {
  ...regular,
  minzoom: 2,
  maxzoom: 6.5,
  "text-size": ["interpolate", ["linear"], ["zoom"], 2, 10.5, 6, 15],
  "text-transform": "uppercase",
  "text-letter-spacing": 0.12,
  "symbol-sort-key": ["-", ["get", "size"]],
  "text-padding": 8,
};

/** Names of stations, small where many are near each other. */
const stationText: NameOptions = {
  ...regular,
  minzoom: 11.5,
  "text-size": ["interpolate", ["linear"], ["zoom"], 11.5, 10, 13, 12],
  "text-variable-anchor": ["left", "right", "top", "bottom"],
  "text-radial-offset": 0.6,
  "text-justify": "auto",
};

/** Names of cities, the largest first. */
const cityText: NameOptions = {
  ...bold,
  minzoom: 2.5,
  "text-size": [
    "interpolate",
    ["linear"],
    ["zoom"],
    3,
    ["case", isLarge, 12, 10.5],
    9,
    ["case", isLarge, 17, 13],
  ],
  "symbol-sort-key": ["-", ["get", "people"]],
  "text-padding": 6,
};

/** The places of one kind. */
function ofKind(kind: Kind): { readonly source: "places"; readonly filter: FilterSpecification } {
  return { source: "places", filter: ["==", ["get", "kind"], kind] };
}

/** The land of the world, or the borders on it. */
function ofOutline(kind: OutlineProperties["kind"]): {
  readonly source: "outlines";
  readonly filter: FilterSpecification;
} {
  return { source: "outlines", filter: ["==", ["get", "kind"], kind] };
}
