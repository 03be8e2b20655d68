/** The map: outlines of countries or the operator's own map, the area, and the cells of an answer in one hour. */
import type { Feature, FeatureCollection, Geometry } from "geojson";
import maplibregl, {
  type ExpressionSpecification,
  type GeoJSONSource,
  type StyleSpecification,
} from "maplibre-gl";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { boundsOf, type Densities, ringOf, type Value } from "../answer/cells.ts";
import { classOf, coloursOf, type Scale } from "../answer/scale.ts";
import { assetUrl } from "../assets.ts";
import type { Area, Box, Point } from "../request/area.ts";
import { isDark, onThemeChange, themeColours } from "../theme.ts";
import { operatorStyle } from "./operator-style.ts";
import { dots, hatching } from "./patterns.ts";

/** States of a cell in the map that are no class of the scale. */
const suppressedState = -1;
const noDataState = -2;

/** Counting what was drawn takes a moment; beyond this number it is not done. */
const maxCounted = 5_000;

const empty: FeatureCollection = { type: "FeatureCollection", features: [] };

/** A map with the cells of an answer. */
export interface DensityMap {
  readonly library: maplibregl.Map;
  /** Shows the box around all cells that were ever covered. */
  showCoverage(box: Box): void;
  /** Shows the area that is asked about. */
  showArea(area: Area | undefined): void;
  /** Shows corners of an area that is being drawn. */
  showDraft(points: readonly Point[], isClosed: boolean): void;
  /** Moves to an area. */
  moveTo(area: Area): void;
  /** Shows an answer, without an hour. */
  showCells(densities: Densities | undefined, scale: Scale): void;
  /** Colours the cells for an hour. */
  showHour(values: readonly Value[]): void;
  /** Marks a cell. */
  select(index: number | undefined): void;
}

/** Makes the map. `onCell` is called when somebody clicks a cell, and with undefined beside all of them. */
export async function createMap(
  container: HTMLElement,
  mapStyle: string,
  onCell: (index: number | undefined) => void,
): Promise<DensityMap> {
  maplibregl.setWorkerUrl(assetUrl("mapWorker"));
  const style = mapStyle === "" ? await outlineStyle() : await operatorStyle(mapStyle);
  const library = new maplibregl.Map({
    container,
    style,
    center: [8, 46],
    zoom: 3.2,
    maxPitch: 0,
    dragRotate: false,
    pitchWithRotate: false,
    attributionControl: mapStyle === "" ? false : { compact: true },
    fadeDuration: 0,
  });
  library.touchZoomRotate.disableRotation();
  library.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  library.addControl(new maplibregl.ScaleControl({ maxWidth: 120 }), "top-left");
  await new Promise<void>((resolve) => library.once("load", () => resolve()));
  addLayers(library);

  let densities: Densities | undefined;
  let scale: Scale | undefined;
  let states: Int8Array = new Int8Array();
  let selected: number | undefined;

  const paint = () => {
    const colours = themeColours();
    if (mapStyle === "") {
      library.setPaintProperty("water", "background-color", colours.water);
      library.setPaintProperty("land", "fill-color", colours.land);
      library.setPaintProperty("borders", "line-color", colours.border);
    }
    for (const [name, image] of Object.entries({ hatching: hatching(), dots: dots() })) {
      if (library.hasImage(name)) library.updateImage(name, image);
      else library.addImage(name, image, { pixelRatio: 2 });
    }
    library.setPaintProperty("area", "line-color", colours.accent);
    library.setPaintProperty("draft", "line-color", colours.accent);
    library.setPaintProperty("draft-points", "circle-color", colours.accent);
    library.setPaintProperty("draft-points", "circle-stroke-color", colours.land);
    library.setPaintProperty("coverage", "line-color", colours.border);
    library.setPaintProperty("cell-edges", "line-color", colours.land);
    library.setPaintProperty("selected-cell", "line-color", colours.text);
    if (scale !== undefined) library.setPaintProperty("cells", "fill-color", colourOf(scale));
  };
  onThemeChange(paint);

  library.on("click", (event) => {
    const [found] = library.queryRenderedFeatures(event.point, { layers: ["cells"] });
    onCell(found === undefined ? undefined : Number(found.id));
  });
  library.on("mousemove", "cells", () => {
    library.getCanvas().style.cursor = "pointer";
  });
  library.on("mouseleave", "cells", () => {
    library.getCanvas().style.cursor = "";
  });
  library.on("idle", () => {
    const cells = densities?.geohashes.length ?? 0;
    if (cells > 0 && cells <= maxCounted) countShown(library, container);
  });

  const set = (source: string, data: FeatureCollection) =>
    void library.getSource<GeoJSONSource>(source)?.setData(data);
  return {
    library,
    showCoverage: (box) => set("coverage", collection([outlineOf(cornersOf(box))])),
    showArea: (area) => set("area", area === undefined ? empty : collection([outlineOf(positionsOf(area))])),
    showDraft: (points, isClosed) => {
      const positions = points.map(({ longitude, latitude }): [number, number] => [longitude, latitude]);
      const line = isClosed && positions[0] !== undefined ? [...positions, positions[0]] : positions;
      const corners = positions.map((coordinates) => featureOf({ type: "Point", coordinates }));
      set("draft", collection([featureOf({ type: "LineString", coordinates: line }), ...corners]));
    },
    moveTo: (area) => {
      const bounds = new maplibregl.LngLatBounds();
      for (const position of positionsOf(area)) bounds.extend(position);
      library.resize();
      const isWide = container.clientWidth > 640;
      library.fitBounds(bounds, {
        padding: isWide ? { top: 32, right: 64, bottom: 160, left: 250 } : 28,
        duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 600,
        maxZoom: 16,
      });
    },
    showCells: (next, nextScale) => {
      densities = next;
      scale = nextScale;
      selected = undefined;
      const geohashes = next?.geohashes ?? [];
      states = new Int8Array(geohashes.length).fill(127);
      replaceCells(library, collection(geohashes.map((geohash, id) => cellFeature(geohash, id))));
      library.setPaintProperty("cells", "fill-color", colourOf(nextScale));
    },
    showHour: (values) => {
      if (scale === undefined) return;
      for (const [id, value] of values.entries()) {
        const state = stateOf(value, scale);
        if (states[id] === state) continue;
        states[id] = state;
        library.setFeatureState({ source: "cells", id }, { state });
      }
      // An hour that looks like the one before is drawn, too: `idle` says so.
      library.triggerRepaint();
    },
    select: (index) => {
      if (selected !== undefined) {
        library.setFeatureState({ source: "cells", id: selected }, { isSelected: false });
      }
      selected = index;
      if (index === undefined) return;
      library.setFeatureState({ source: "cells", id: index }, { isSelected: true });
      const geohash = densities?.geohashes[index];
      if (geohash === undefined) return;
      const { west, south, east, north } = boundsOf(geohash);
      const middle: [number, number] = [(west + east) / 2, (south + north) / 2];
      if (!library.getBounds().contains(middle)) library.panTo(middle);
    },
  };
}

/** Says on the element of the map which hour was drawn, how many cells with a colour, and how many of other kinds. */
function countShown(library: maplibregl.Map, container: HTMLElement): void {
  const counted = { coloured: new Set(), suppressed: new Set(), none: new Set() };
  for (const { id, state } of library.queryRenderedFeatures({ layers: ["cells"] })) {
    const kind =
      state.state === suppressedState ? "suppressed" : state.state === noDataState ? "none" : "coloured";
    counted[kind].add(id);
  }
  container.dataset.drawnHour = container.dataset.hour ?? "";
  container.dataset.colouredCells = String(counted.coloured.size);
  container.dataset.suppressedCells = String(counted.suppressed.size);
  container.dataset.noDataCells = String(counted.none.size);
}

function stateOf({ dataType, density = 0 }: Value, scale: Scale): number {
  if (dataType === "NO_DATA") return noDataState;
  return dataType === "LOW_DENSITY" ? suppressedState : classOf(density, scale);
}

const cellState: ExpressionSpecification = ["coalesce", ["feature-state", "state"], -9];

function colourOf(scale: Scale): ExpressionSpecification {
  const cases = coloursOf(scale, isDark()).flatMap((colour, index) => [index, colour]);
  return ["match", cellState, ...cases, "rgba(0,0,0,0)"] as unknown as ExpressionSpecification;
}

function onlyIn(state: number, opacity: number): ExpressionSpecification {
  return ["case", ["==", cellState, state], opacity, 0];
}

/** Where labels of an operator's map begin, which stay above the cells. */
function firstLabel(library: maplibregl.Map): string | undefined {
  return library.getStyle().layers.find(({ type }) => type === "symbol")?.id;
}

function addLayers(library: maplibregl.Map): void {
  for (const source of ["coverage", "area", "draft"]) {
    library.addSource(source, { type: "geojson", data: empty });
  }
  const { accent, border, land } = themeColours();
  const before = firstLabel(library);
  library.addImage("hatching", hatching(), { pixelRatio: 2 });
  library.addImage("dots", dots(), { pixelRatio: 2 });
  const add = (layer: maplibregl.AddLayerObject) => library.addLayer(layer, before);
  add({
    id: "coverage",
    type: "line",
    source: "coverage",
    paint: { "line-color": border, "line-width": 1.5, "line-dasharray": [3, 3] },
  });
  add({ id: "area", type: "line", source: "area", paint: { "line-color": accent, "line-width": 2.5 } });
  replaceCells(library, empty);
  add({
    id: "draft",
    type: "line",
    source: "draft",
    paint: { "line-color": accent, "line-width": 2.5, "line-dasharray": [2, 1.5] },
  });
  add({
    id: "draft-points",
    type: "circle",
    source: "draft",
    filter: ["==", ["geometry-type"], "Point"],
    paint: {
      "circle-color": accent,
      "circle-radius": 5,
      "circle-stroke-width": 2,
      "circle-stroke-color": land,
    },
  });
}

/** The layers of cells, in their order from the ground up. */
const cellLayers = ["cells", "suppressed-cells", "no-data-cells", "cell-edges", "selected-cell"];

/**
 * Shows other cells, below the outline of their area. They are a new source: tiles of one that gets other data while
 * the map moves may stay as they were.
 */
function replaceCells(library: maplibregl.Map, data: FeatureCollection): void {
  for (const layer of cellLayers) if (library.getLayer(layer) !== undefined) library.removeLayer(layer);
  if (library.getSource("cells") !== undefined) library.removeSource("cells");
  library.addSource("cells", { type: "geojson", data });
  const { land, text } = themeColours();
  const add = (layer: maplibregl.AddLayerObject) => library.addLayer(layer, "area");
  add({
    id: "cells",
    type: "fill",
    source: "cells",
    paint: { "fill-color": "rgba(0,0,0,0)", "fill-opacity": 0.88 },
  });
  add({
    id: "suppressed-cells",
    type: "fill",
    source: "cells",
    paint: { "fill-pattern": "hatching", "fill-opacity": onlyIn(suppressedState, 1) },
  });
  add({
    id: "no-data-cells",
    type: "fill",
    source: "cells",
    paint: { "fill-pattern": "dots", "fill-opacity": onlyIn(noDataState, 1) },
  });
  add({
    id: "cell-edges",
    type: "line",
    source: "cells",
    paint: { "line-color": land, "line-width": 0.6, "line-opacity": 0.55 },
  });
  add({
    id: "selected-cell",
    type: "line",
    source: "cells",
    paint: {
      "line-color": text,
      "line-width": 3,
      "line-opacity": ["case", ["boolean", ["feature-state", "isSelected"], false], 1, 0],
    },
  });
}

/** Outlines of countries, from the page's own origin. */
async function outlineStyle(): Promise<StyleSpecification> {
  const response = await fetch(assetUrl("outlines"));
  const topology = (await response.json()) as Topology<{ countries: GeometryCollection }>;
  const { countries } = topology.objects;
  const borders = mesh(topology, countries, (one, other) => one !== other);
  const { water, land, border } = themeColours();
  return {
    version: 8,
    sources: {
      land: { type: "geojson", data: feature(topology, countries) },
      borders: { type: "geojson", data: featureOf(borders) },
    },
    layers: [
      { id: "water", type: "background", paint: { "background-color": water } },
      { id: "land", type: "fill", source: "land", paint: { "fill-color": land } },
      {
        id: "borders",
        type: "line",
        source: "borders",
        paint: { "line-color": border, "line-width": 1 },
      },
    ],
  };
}

function featureOf(geometry: Geometry): Feature {
  return { type: "Feature", properties: {}, geometry };
}

function collection(features: Feature[]): FeatureCollection {
  return { type: "FeatureCollection", features };
}

function cellFeature(geohash: string, id: number): Feature {
  return { id, ...featureOf({ type: "Polygon", coordinates: [ringOf(geohash)] }) };
}

function outlineOf(coordinates: [number, number][]): Feature {
  return featureOf({ type: "LineString", coordinates });
}

/** The closed ring of an area; longitudes go on beyond 180 degrees where it crosses the antimeridian. */
function positionsOf({ boundary }: Area): [number, number][] {
  let before = boundary[0]?.longitude ?? 0;
  const positions = boundary.map(({ longitude, latitude }): [number, number] => {
    while (longitude - before > 180) longitude -= 360;
    while (longitude - before < -180) longitude += 360;
    before = longitude;
    return [longitude, latitude];
  });
  return positions[0] === undefined ? [] : [...positions, positions[0]];
}

function cornersOf({ west, south, east, north }: Box): [number, number][] {
  const end = east < west ? east + 360 : east;
  return [
    [west, south],
    [end, south],
    [end, north],
    [west, north],
    [west, south],
  ];
}
