/** The layers of the base map as data, bottom layer first. Cells are below the first layer of names. */
import type {
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  SymbolLayerSpecification,
} from "maplibre-gl";
import type { ThemeColours } from "../theme.ts";
import { bold, italic, regular } from "./fonts.ts";
import type { OutlineProperties, PlaceProperties } from "./places.ts";

type Kind = PlaceProperties["kind"];

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
    names("city", label, cityText),
    names("overview", label, { ...cityText, maxzoom: partsZoom }),
    names("quarter", label, { minzoom: 13.5, ...regular }),
    names("park", parkLabel, { minzoom: 13, ...italic }),
    stations,
    names("station", label, { minzoom: 12.5, ...regular, "text-anchor": "left", "text-offset": [0.6, 0] }),
    names("commune", label, { minzoom: partsZoom, ...bold, "text-padding": 4 }),
  ];
}

type NameOptions = SymbolLayerSpecification["layout"] & {
  readonly minzoom: number;
  readonly maxzoom?: number;
};

const isLarge: ExpressionSpecification = [">=", ["get", "people"], 1_000_000];

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
