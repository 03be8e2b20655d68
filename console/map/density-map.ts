/** The map: the base map or the operator's own map, with areas and the cells of an answer above. */
import type { FeatureCollection } from "geojson";
import maplibregl, { type GeoJSONSource, type Map as MapLibreMap } from "maplibre-gl";
import { assetUrl } from "../base/assets.ts";
import type { Rectangle } from "../base/beside.ts";
import { element, html } from "../base/dom.ts";
import { onThemeChange, themeColours } from "../base/theme.ts";
import { type Area, areaOf, type Box, type Point } from "../data/area.ts";
import type { Coverage } from "../data/capabilities.ts";
import { boundsOf } from "../data/cells.ts";
import { areaRing, boxRing, continuous, type Position, positionOf } from "../data/outlines.ts";
import { attributionControl } from "./attribution.ts";
import { CellSource } from "./cell-source.ts";
import { empty, linesOf, withoutCuts, worldWithout } from "./geojson.ts";
import { type Ground, groundInstead, loadGround } from "./ground.ts";
import { type LineKind, lineLayers, repaint } from "./layers.ts";
import { dots, hatching, strokes } from "./patterns.ts";
import { followPrinting } from "./printed-map.ts";
import { whileDrawn } from "./while-drawn.ts";

/** The map of the page. */
export interface DensityMap {
  /** Undefined in a browser that cannot draw one. */
  readonly library: MapLibreMap | undefined;
  readonly cells: Pick<CellSource, "show" | "showHour" | "hideEdges" | "select" | "drawn">;
  /** Draws the base map, if it is not drawn yet. */
  drawBase(): void;
  /** Shows the edges of what is covered. */
  showCoverage(coverage: Coverage): void;
  /** Shows the ground in detail, where the base map is shown. */
  showDetail(detail: FeatureCollection): void;
  /** Shows the areas of the request, and the outlines of those that were simplified, as they were given. */
  showAreas(areas: readonly Area[], outlines: readonly (readonly Point[])[]): void;
  /** Shows an area that is being drawn: a line along points. */
  showDraft(points: readonly Point[]): void;
  /** Moves to a box. The first time, nobody waits for a flight. @param most the zoom at which it is shown at most */
  moveToBox(box: Box, most?: number): void;
  /** Moves to what is covered, and does nothing before that is known. */
  moveToCoverage(): void;
  /** Calls the listener with the cell under the pointer and where that is in the window; with no cell after it left. */
  onHover(listener: HoverListener | undefined): void;
  /** Calls the listener when cells have to be coloured anew, as their colours were lost. */
  onRestored(listener: (() => void) | undefined): void;
  /** Where a cell is, in pixels of the map. */
  onScreen(geohash: string): Rectangle;
}

type HoverListener = (index: number | undefined, x: number, y: number) => void;

/**
 * Creates the map.
 * @param mapStyle the URL of the operator's style or archive of tiles; empty for the base map
 * @param onCell is called with the clicked cell; with undefined after a click outside all cells
 */
export async function createMap(
  container: HTMLElement,
  mapStyle: string,
  onCell: (index: number | undefined) => void,
): Promise<DensityMap> {
  maplibregl.setWorkerUrl(assetUrl("mapWorker"));
  const { map: library, ground } = await mapOnGround(container, await loadGround(mapStyle));
  const map = whileDrawn(library, () => restore());
  element("base-map-credits").hidden = !ground.isBase;
  // Where the browser's tools, and tests, find what is drawn.
  Object.assign(container, { map });
  addPatterns(map);
  addLineLayers(map);
  const lines = new Map<LineKind, Position[][]>();
  const showLines = (kind: LineKind, shown: Position[][]) => {
    lines.set(kind, shown);
    map.getSource<GeoJSONSource>("lines")?.setData(linesOf(lines, outside));
  };
  let outside: Position[][] = [];
  const cells = new CellSource(map, (edges) => showLines("edges", edges));
  onThemeChange(() => repaintAll(map, ground, cells));
  map.on("click", ({ lngLat: { lng, lat } }) => onCell(cells.at(lng, lat)));
  let onHover: HoverListener | undefined;
  reportHovers(map, cells, (...place) => onHover?.(...place));
  ground.addNote(map);
  followPrinting(map);

  let coverage: Box | undefined;
  let hasMoved = false;
  const move = (rings: readonly Position[][], most?: number) => {
    if (rings.length === 0) return;
    moveTo(map, rings, hasMoved, most);
    hasMoved = true;
  };
  const base = baseMap(map, ground);
  let onRestored: (() => void) | undefined;
  const restore = () => {
    base.restore();
    cells.restore();
    repaintAll(map, ground, cells);
    onRestored?.();
  };
  return {
    library: map,
    cells,
    drawBase: base.draw,
    showCoverage: ({ bbox: [west = 0, south = 0, east = 0, north = 0], coordinates }) => {
      coverage = { west, south, east, north };
      const positions = coordinates
        .flat()
        .map((ring) => ring.map(([longitude = 0, latitude = 0]): Position => [longitude, latitude]));
      outside = worldWithout(positions);
      showLines("coverage", positions.flatMap(withoutCuts));
    },
    showDetail: base.showDetail,
    moveToBox: (box, most) => move([boxRing(box)], most),
    showAreas: (areas, outlines) => {
      showLines("area", areas.map(areaRing));
      showLines(
        "given",
        outlines.map((points) => areaRing(areaOf(points))),
      );
    },
    showDraft: (points) => showLines("draft", [continuous(points.map(positionOf))]),
    moveToCoverage: () => move(coverage === undefined ? [] : [boxRing(coverage)]),
    onHover: (listener) => {
      onHover = listener;
    },
    onRestored: (listener) => {
      onRestored = listener;
    },
    onScreen: (geohash) => onScreen(map, boundsOf(geohash)),
  };
}

/** What is drawn of the base map, and drawn again after it was lost. */
function baseMap(map: MapLibreMap, { isBase, layersFor }: Ground) {
  let [isDrawn, detail] = [!isBase, empty];
  const restore = () => {
    map.getSource<GeoJSONSource>("detail")?.setData(detail);
    if (!isBase || !isDrawn) return;
    for (const { id } of layersFor(themeColours())) map.setLayoutProperty(id, "visibility", "visible");
  };
  return {
    restore,
    draw: () => {
      if (isDrawn) return;
      isDrawn = true;
      restore();
    },
    showDetail: (shown: FeatureCollection) => {
      detail = shown;
      map.getSource<GeoJSONSource>("detail")?.setData(detail);
    },
  };
}

/** Creates the map on a ground or, if that is an operator's style which is not valid, on the base map. */
async function mapOnGround(container: HTMLElement, ground: Ground) {
  try {
    return { map: await loadedMap(container, ground), ground };
  } catch (error) {
    if (ground.isBase || !(error instanceof Error)) throw error;
    const base = groundInstead(error);
    return { map: await loadedMap(container, base), ground: base };
  }
}

/**
 * Creates the MapLibre map, without tilt and rotation, and waits until its style is known. It does not wait until the
 * style is drawn: what is asked of the API meanwhile is on its way.
 * @throws {Error} if the style is not valid.
 */
async function loadedMap(container: HTMLElement, { style, isBase }: Ground): Promise<MapLibreMap> {
  const map = new maplibregl.Map({
    container,
    style,
    center: [8, 46],
    zoom: 3.2,
    maxPitch: 0,
    dragRotate: false,
    pitchWithRotate: false,
    attributionControl: false,
    fadeDuration: 0,
    // Where the page scrolls around the map, one finger scrolls the page and two move the map.
    cooperativeGestures: matchMedia("(max-width: 759px)").matches,
  });
  // Before its sources tell whose they are.
  if (!isBase) map.addControl(attributionControl(), "bottom-right");
  map.touchZoomRotate.disableRotation();
  map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new maplibregl.ScaleControl({ maxWidth: 120 }), "top-left");
  const problem = await new Promise<Error | undefined>((resolve) => {
    map.once("style.load", () => resolve(undefined));
    // Before it has loaded, a style has no sources whose errors these could be.
    map.once("error", ({ error }) => resolve(error));
  });
  if (problem === undefined) return map;
  map.remove();
  throw new Error(`It is not a valid style: ${problem.message}.`);
}

/** Repaints everything in the colours of the current theme. */
function repaintAll(map: MapLibreMap, ground: Ground, cells: CellSource): void {
  const colours = themeColours();
  repaint(map, ground.layersFor(colours));
  addPatterns(map);
  repaint(map, lineLayers(colours));
  cells.repaint();
}

/** Adds the layers of lines, below the labels of an operator's map. */
function addLineLayers(map: MapLibreMap): void {
  const firstLabel = map.getStyle().layers.find(({ type }) => type === "symbol")?.id;
  map.addSource("lines", { type: "geojson", data: empty });
  for (const layer of lineLayers(themeColours())) map.addLayer(layer, firstLabel);
}

/** Adds the patterns in the colours of the current theme, replacing those of the other. */
function addPatterns(map: MapLibreMap): void {
  for (const [name, image] of Object.entries({ hatching: hatching(), dots: dots(), strokes: strokes() })) {
    if (map.hasImage(name)) map.updateImage(name, image);
    else map.addImage(name, image, { pixelRatio: 2 });
  }
}

/** Marks the cell under the mouse by an element above the map, as the map itself would have to be drawn again. */
function reportHovers(map: MapLibreMap, cells: CellSource, onHover: HoverListener): void {
  const mark = html("div", { class: "hovered-cell", hidden: true });
  map.getCanvasContainer().append(mark);
  const leave = () => {
    mark.hidden = true;
    map.getCanvas().style.cursor = "";
    onHover(undefined, 0, 0);
  };
  map.on("mousemove", ({ lngLat: { lng, lat }, originalEvent: { clientX, clientY } }) => {
    const index = document.body.classList.contains("is-drawing") ? undefined : cells.at(lng, lat);
    const bounds = index === undefined ? undefined : cells.boundsAt(index);
    if (bounds === undefined || map.isMoving()) {
      leave();
      return;
    }
    const { left, top, width, height } = onScreen(map, bounds);
    Object.assign(mark.style, {
      transform: `translate(${left}px, ${top}px)`,
      width: `${width}px`,
      height: `${height}px`,
    });
    mark.hidden = map.getPitch() > 0;
    map.getCanvas().style.cursor = "pointer";
    onHover(index, clientX, clientY);
  });
  map.on("mouseout", leave);
  map.on("movestart", leave);
}

/** Moves to rings, so that the legend does not cover them. @param flies whether the way there is shown */
function moveTo(map: MapLibreMap, rings: readonly Position[][], flies: boolean, maxZoom = 16): void {
  const bounds = new maplibregl.LngLatBounds();
  for (const position of rings.flat()) bounds.extend(position);
  map.resize();
  const isWide = map.getContainer().clientWidth > 640;
  map.fitBounds(bounds, {
    padding: isWide ? { top: 32, right: 64, bottom: 40, left: 250 } : 28,
    duration: flies && !matchMedia("(prefers-reduced-motion: reduce)").matches ? 600 : 0,
    maxZoom,
  });
}

function onScreen(map: MapLibreMap, { west, south, east, north }: Box): Rectangle {
  const { x: left, y: top } = map.project([west, north]);
  const { x: right, y: bottom } = map.project([east, south]);
  return { left, top, width: right - left, height: bottom - top };
}
