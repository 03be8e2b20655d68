import type { FeatureCollection } from "geojson";
import type { LayerSpecification, Map as MapLibreMap } from "maplibre-gl";
import { geohashAt, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { isDark, themeColours } from "../base/theme.ts";
import type { Box } from "../data/area.ts";
import { boundsOf } from "../data/cells.ts";
import type { Densities } from "../data/densities.ts";
import type { Position } from "../data/outlines.ts";
import { fixedScale, type Scale } from "../data/scale.ts";
import { edgesOf } from "./cell-edges.ts";
import { colourByState, stateOf } from "./cell-state.ts";
import { Fade } from "./fade.ts";
import { empty, rectangle, rectangles } from "./geojson.ts";
import { cellLayers, edgesZoom, lowestLines, repaint, selectedLayer } from "./layers.ts";

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
  #densities: Densities | undefined;
  #indexes = new Map<string, number>();
  #scale: Scale | undefined;
  #isMarked = false;

  /** Adds the source, without cells. @param showEdges draws the edges between cells */
  constructor(map: MapLibreMap, showEdges: (edges: Position[][]) => void) {
    this.#map = map;
    this.#showEdges = showEdges;
    this.#fade = new Fade((id, state) => map.setFeatureState({ source: "cells", id }, { state }));
    this.#replace(empty);
  }

  /**
   * Shows the cells of an answer, not yet coloured for an hour; removes them for undefined. Cells that are on view stay
   * there, with their colours.
   */
  show(densities: Densities | undefined, scale: Scale): void {
    const before = this.#geohashes;
    this.#densities = densities;
    if (before.join() !== this.#geohashes.join()) this.#draw(scale);
  }

  #draw(scale: Scale): void {
    const densities = this.#densities;
    this.#indexes = new Map(densities?.geohashes.map((geohash, index) => [geohash, index]));
    this.#scale = scale;
    this.#mark(undefined);
    this.#fade.reset(this.#geohashes.length);
    this.#replace(densities === undefined ? empty : rectangles(densities));
    this.#map.setLayerZoomRange("edges", edgesZoom(this.#precision), 24);
    this.#showEdges(edgesOf(this.#geohashes));
  }

  /** Shows the cells again, not yet coloured, after the map has lost what was changed. */
  restore(): void {
    this.#map.removeLayer("columns");
    this.#draw(this.#scale ?? fixedScale);
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

  /** Shows the edges between cells, or hides them while hours are played: they take half of a frame. */
  hideEdges(areHidden: boolean): void {
    this.#map.setPaintProperty("edges", "line-opacity", areHidden ? 0 : 1);
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
