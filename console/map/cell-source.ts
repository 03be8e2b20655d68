import type { FeatureCollection } from "geojson";
import type { LayerSpecification, Map as MapLibreMap } from "maplibre-gl";
import { geohashAt, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { boundsOf } from "../answer/cells.ts";
import { type Densities, isPartlyCovered } from "../answer/densities.ts";
import type { Scale } from "../answer/scale.ts";
import type { Box } from "../request/area.ts";
import { isDark, themeColours } from "../theme.ts";
import { edgesOf } from "./cell-edges.ts";
import { colourByState, stateOf } from "./cell-state.ts";
import { Fade, unknownState } from "./fade.ts";
import { empty, type Position, rectangle, rectangles } from "./geojson.ts";
import { cellLayers, edgesZoom, lowestLines, repaint, selectedLayer } from "./layers.ts";
import { aboveCells, StillMap } from "./still-map.ts";

/** After hours have not changed for so long, the map itself draws their cells. */
const pauseMilliseconds = 1_000;

/** Cells in an hour, and how they are shown. */
export interface ShownHour {
  readonly hour: number;
  /** The hour from which the shown one differs; undefined to show the hour itself. */
  readonly base: number | undefined;
  readonly scale: Scale;
  /** Whether colours blend from those of the last hour. */
  readonly fades: boolean;
}

/** The map source with the cells of an answer. */
export class CellSource {
  readonly #map: MapLibreMap;
  readonly #showEdges: (edges: Position[][]) => void;
  readonly #fade: Fade;
  readonly #still: StillMap;
  #densities: Densities | undefined;
  #indexes = new Map<string, number>();
  #scale: Scale | undefined;
  #isMarked = false;
  /** The states of cells on view, and those that the map has, which draws them when it no longer stands still. */
  #states: Float32Array = new Float32Array();
  #statesOfMap: Float32Array = new Float32Array();
  /** Whether the map is about to draw the cells that are drawn upon it. */
  #isSettling = false;
  #arePartlyCovered: readonly boolean[] = [];
  #isPlaying = false;
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** Adds the source, without cells. @param showEdges draws the edges between cells */
  constructor(map: MapLibreMap, showEdges: (edges: Position[][]) => void) {
    this.#map = map;
    this.#showEdges = showEdges;
    this.#fade = new Fade((states) => this.#draw(states));
    this.#still = new StillMap(map, () => this.#followMap());
    map.on("movestart", () => this.settle());
    addEventListener("beforeprint", () => this.settle());
    this.#replace(empty);
  }

  /** Shows the cells of an answer, not yet coloured for an hour; removes them for undefined. */
  show(densities: Densities | undefined, scale: Scale): void {
    clearTimeout(this.#pause);
    this.#still.hide();
    this.#isSettling = false;
    this.#densities = densities;
    this.#arePartlyCovered = (densities?.coveredShares ?? []).map(isPartlyCovered);
    this.#indexes = new Map(densities?.geohashes.map((geohash, index) => [geohash, index]));
    this.#scale = scale;
    this.#mark(undefined);
    this.#fade.reset(this.#geohashes.length);
    this.#statesOfMap = new Float32Array(this.#geohashes.length).fill(unknownState);
    this.#states = this.#statesOfMap.slice();
    this.#replace(densities === undefined ? empty : rectangles(densities));
    this.#map.setLayerZoomRange("edges", edgesZoom(this.#precision), 24);
    this.#showEdges(edgesOf(this.#geohashes));
  }

  /** Colours the cells for an hour. */
  showHour({ hour, base, scale, fades }: ShownHour): void {
    const values = this.#densities?.hours[hour]?.values ?? [];
    const baseValues = base === undefined ? undefined : this.#densities?.hours[base]?.values;
    if (scale !== this.#scale) {
      this.#scale = scale;
      this.repaint();
    }
    const states = values.map((value, index) => stateOf(value, baseValues?.[index], scale));
    this.#fade.to(states, fades);
  }

  /** Hides the edges between cells while hours are played: where the map itself draws them, they take half of a frame. */
  setPlaying(isPlaying: boolean): void {
    this.#isPlaying = isPlaying;
    this.settle();
    this.#map.setPaintProperty("edges", "line-opacity", isPlaying ? 0 : 1);
  }

  /** Lets the map itself draw the cells on view, if they are drawn upon it. */
  settle(): void {
    clearTimeout(this.#pause);
    if (!this.#still.isShown || this.#isSettling) return;
    this.#isSettling = true;
    this.#setStates();
    this.#map.triggerRepaint();
  }

  /** After the map has drawn itself: it has the cells on view now, or will have them the next time. */
  #followMap(): void {
    if (!this.#isSettling) {
      this.settle();
      return;
    }
    this.#isSettling = false;
    this.#still.hide();
  }

  /** Draws the cells upon the map while it stands still; where that cannot be, the map draws itself. */
  #draw(states: Float32Array): void {
    this.#states = states;
    clearTimeout(this.#pause);
    if (this.#isSettling || !this.#drawStill()) {
      this.#setStates();
      return;
    }
    if (!this.#isPlaying) this.#pause = setTimeout(() => this.settle(), pauseMilliseconds);
  }

  #drawStill(): boolean {
    const [geohashes, arePartlyCovered, scale] = [this.#geohashes, this.#arePartlyCovered, this.#scale];
    const isFirst = this.#statesOfMap.every((state) => state === unknownState);
    if (isFirst || scale === undefined) return false;
    return this.#still.draw({ geohashes, arePartlyCovered, scale }, this.#states);
  }

  #setStates(): void {
    for (const [id, state] of this.#states.entries()) {
      if (this.#statesOfMap[id] === state) continue;
      this.#statesOfMap[id] = state;
      this.#map.setFeatureState({ source: "cells", id }, { state });
    }
  }

  /** Resolves once the cells have been drawn. */
  async drawn(): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!this.#map.isSourceLoaded("cells")) return;
        this.#map.off("render", look);
        resolve();
      };
      this.#map.on("render", look);
      this.#map.triggerRepaint();
    });
  }

  /** The index of the cell at a place; undefined where there is none. */
  at(longitude: number, latitude: number): number | undefined {
    return this.#indexes.get(geohashOf(longitude, latitude, this.#precision));
  }

  /** The edges of a cell. */
  boundsAt(index: number): Box | undefined {
    const geohash = this.#geohashes[index];
    return geohash === undefined ? undefined : boundsOf(geohash);
  }

  /** Marks a cell and moves there if nothing of it is in view; for undefined, removes the mark. */
  select(index: number | undefined): void {
    const geohash = index === undefined ? undefined : this.#geohashes[index];
    this.#mark(geohash);
    if (geohash === undefined) return;
    const { west, south, east, north } = boundsOf(geohash);
    const isInView = this.#map.getBounds().intersects([west, south, east, north]);
    if (!isInView) this.#map.panTo([(west + east) / 2, (south + north) / 2]);
  }

  /** Applies the colours of the current theme and scale. */
  repaint(): void {
    this.settle();
    repaint(this.#map, this.#layers());
  }

  get #geohashes(): readonly string[] {
    return this.#densities?.geohashes ?? [];
  }

  /**
   * Replaces the source rather than its data: if data changes while the map moves, some tiles may keep the old data.
   */
  #replace(data: FeatureCollection): void {
    const layers = this.#cellLayers();
    this.#remove("cells", layers);
    this.#map.addSource("cells", { type: "geojson", data, maxzoom: tileZoom(this.#precision) });
    for (const layer of layers) this.#map.addLayer(layer, aboveCells);
  }

  /** Marks a cell, or none. */
  #mark(geohash: string | undefined): void {
    this.settle();
    this.#isMarked = geohash !== undefined;
    const layer = selectedLayer(themeColours());
    this.#remove(layer.id, [layer]);
    if (geohash === undefined) return;
    this.#map.addSource(layer.id, { type: "geojson", data: rectangle(geohash) });
    this.#map.addLayer(layer, lowestLines);
  }

  #remove(source: string, layers: readonly LayerSpecification[]): void {
    for (const { id } of layers) if (this.#map.getLayer(id) !== undefined) this.#map.removeLayer(id);
    if (this.#map.getSource(source) !== undefined) this.#map.removeSource(source);
  }

  get #precision(): number {
    return this.#geohashes[0]?.length ?? 1;
  }

  #layers(): LayerSpecification[] {
    return [...this.#cellLayers(), ...(this.#isMarked ? [selectedLayer(themeColours())] : [])];
  }

  #cellLayers(): LayerSpecification[] {
    const fill = this.#scale === undefined ? "transparent" : colourByState(this.#scale, isDark());
    return cellLayers(fill);
  }
}

/** The zoom of the smallest tiles of cells: one is 128 cells wide. More tiles would take longer in every frame. */
function tileZoom(precision: number): number {
  return Math.max(0, Math.floor(Math.log2(360 / (128 * gridOf(precision).cellWidth))));
}

/** The cell of a precision at a place. */
function geohashOf(longitude: number, latitude: number, precision: number): string {
  const { rows, columns, cellWidth, cellHeight } = gridOf(precision);
  const row = Math.floor((latitude + 90) / cellHeight);
  const column = Math.floor((longitude + 180) / cellWidth);
  return row < 0 || row >= rows ? "" : geohashAt(row, ((column % columns) + columns) % columns, precision);
}
