import type { FeatureCollection } from "geojson";
import type { LayerSpecification, Map as MapLibreMap } from "maplibre-gl";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import { boundsOf } from "../answer/cells.ts";
import type { Densities, Value } from "../answer/densities.ts";
import type { Scale } from "../answer/scale.ts";
import { isDark, themeColours } from "../theme.ts";
import { colourByState, stateOf } from "./cell-state.ts";
import { empty, rectangle, rectangles } from "./geojson.ts";
import { cellLayers, lowestLines, repaint, selectedLayer } from "./layers.ts";

/** The state of a cell before its first hour is shown. */
const unknownState = 127;

/** The map source with the cells of an answer. */
export class CellSource {
  readonly #map: MapLibreMap;
  #geohashes: readonly string[] = [];
  #scale: Scale | undefined;
  #states: Int8Array = new Int8Array();
  #isMarked = false;

  /** Adds the source, without cells. */
  constructor(map: MapLibreMap) {
    this.#map = map;
    this.#replace(empty);
  }

  /** Shows the cells of an answer, not yet coloured for an hour; removes them for undefined. */
  show(densities: Densities | undefined, scale: Scale): void {
    this.#geohashes = densities?.geohashes ?? [];
    this.#scale = scale;
    this.#mark(undefined);
    this.#states = new Int8Array(this.#geohashes.length).fill(unknownState);
    this.#replace(densities === undefined ? empty : rectangles(densities));
  }

  /** Changes the scale of the cells, not yet coloured for an hour. */
  showScale(scale: Scale): void {
    this.#scale = scale;
    this.#states.fill(unknownState);
    this.repaint();
  }

  /** Colours the cells for an hour. */
  showHour(values: readonly Value[]): void {
    if (this.#scale === undefined) return;
    for (const [id, value] of values.entries()) {
      const state = stateOf(value, this.#scale);
      if (this.#states[id] === state) continue;
      this.#states[id] = state;
      this.#map.setFeatureState({ source: "cells", id }, { state });
    }
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

  /** Applies the colours of the current theme. */
  repaint(): void {
    repaint(this.#map, this.#layers());
  }

  /**
   * Replaces the source rather than its data: if data changes while the map moves, some tiles may keep the old data.
   */
  #replace(data: FeatureCollection): void {
    const layers = this.#cellLayers();
    this.#remove("cells", layers);
    this.#map.addSource("cells", { type: "geojson", data, maxzoom: tileZoom(this.#precision) });
    for (const layer of layers) this.#map.addLayer(layer, lowestLines);
  }

  /** Marks a cell, or none. */
  #mark(geohash: string | undefined): void {
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
    return cellLayers(themeColours(), fill, this.#precision);
  }
}

/** The zoom of the smallest tiles of cells: one is 128 cells wide. More tiles would take longer in every frame. */
function tileZoom(precision: number): number {
  return Math.max(0, Math.floor(Math.log2(360 / (128 * gridOf(precision).cellWidth))));
}
