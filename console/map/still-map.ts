/**
 * A map that stands still while hours change: only its cells are drawn again, between a picture of what is below them
 * and one of what is above. Without graphics hardware, a frame of the whole map takes a tenth
 * of a second.
 */
import type { CustomLayerInterface, Map as MapLibreMap } from "maplibre-gl";
import { cellOf } from "../../functions/population-density/cover/geohash.ts";
import { boundsOf } from "../answer/cells.ts";
import { blendedColour, cellOpacity, coloursOf, type Scale } from "../answer/scale.ts";
import { html } from "../dom.ts";
import { isDark } from "../theme.ts";
import { noDataState, suppressedState } from "./cell-state.ts";
import { lowestLines } from "./layers.ts";
import { dots, hatching, strokes, tileOf } from "./patterns.ts";

/** The layer below which the cells are; it draws nothing. */
export const aboveCells = "above-cells";

/** Layers whose drawing the picture of what is above can have: others may be drawn before the cells. */
const typesAbove = ["custom", "line", "symbol", "circle"];

/** Cells, and how they are coloured. */
interface StillCells {
  readonly geohashes: readonly string[];
  /** Whether a part of a cell, but not all of it, is covered. */
  readonly arePartlyCovered: readonly boolean[];
  readonly scale: Scale;
}

/** A rectangle in pixels of the map. */
interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where a cell is: its pixels, its exact edges, and its row and column in the grid of cells. */
interface Place extends Rectangle {
  readonly index: number;
  readonly row: number;
  readonly column: number;
  readonly left: number;
  readonly right: number;
}

/** The grid of cells: a picture with a pixel for each, and where its columns and rows are. */
interface Grid {
  readonly pixels: ImageData;
  readonly columns: { readonly x: number; readonly width: number };
  readonly rows: ReadonlyMap<number, { readonly y: number; readonly height: number }>;
}

type Fill = string | CanvasPattern;

/** The patterns of cells in the colours of a theme, at the size in which the map draws them. */
interface Patterns {
  readonly ofStates: ReadonlyMap<number, Fill>;
  readonly partlyCovered: Fill;
}

/** What is upon a map while it stands still. */
export class StillMap {
  readonly #map: MapLibreMap;
  readonly #onRender: () => void;
  readonly #cells = html("canvas", { class: "still-map" });
  readonly #above = html("canvas", { class: "still-map" });
  /** What the map draws of itself at the moment; all of it otherwise. */
  #part: "below" | "above" | undefined;
  #places: readonly Place[] | undefined;
  #patterns: Patterns | undefined;
  /** The cells with a pixel each, which is quicker than filling them in their size. */
  readonly #small = document.createElement("canvas");
  #grid: Grid = { pixels: new ImageData(1, 1), columns: { x: 0, width: 0 }, rows: new Map() };

  /**
   * Adds the layers that tell what is below the cells from what is above.
   * @param onRender is called when the map draws itself while they are shown
   */
  constructor(map: MapLibreMap, onRender: () => void) {
    this.#map = map;
    this.#onRender = onRender;
    map.addLayer(
      divider("below-cells", (gl) => {
        if (this.#part !== "below") return;
        // Nothing of what follows is drawn.
        gl.enable(gl.SCISSOR_TEST);
        gl.scissor(0, 0, 0, 0);
      }),
      lowestLines,
    );
    map.addLayer(
      divider(aboveCells, (gl) => {
        if (this.#part !== "above") return;
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT);
      }),
      lowestLines,
    );
    map.on("render", () => {
      if (this.isShown && this.#part === undefined) this.#onRender();
    });
  }

  /** Whether the pictures are shown. */
  get isShown(): boolean {
    return this.#places !== undefined;
  }

  /** Draws cells by their states. @returns false without drawing where the map moves, is tilted, or is being loaded. */
  draw(cells: StillCells, states: ArrayLike<number>): boolean {
    if (!this.isShown && !this.#take(cells.geohashes)) return false;
    const context = this.#cells.getContext("2d");
    const { pixels, columns, rows } = this.#grid;
    if (context === null) return false;
    const colours = coloursOf(cells.scale, isDark());
    const bytes = new Map<number, readonly number[]>();
    pixels.data.fill(0);
    for (const { index, column, row } of this.#places ?? []) {
      const state = states[index] ?? noDataState;
      if (state < 0) continue;
      const colour = bytes.get(state) ?? bytesOf(blendedColour(state, colours));
      bytes.set(state, colour);
      pixels.data.set(colour, 4 * (row * pixels.width + column));
    }
    this.#small.getContext("2d", { willReadFrequently: true })?.putImageData(pixels, 0, 0);
    context.clearRect(0, 0, this.#cells.width, this.#cells.height);
    context.imageSmoothingEnabled = false;
    context.globalAlpha = cellOpacity;
    for (const [row, { y, height }] of rows) {
      context.drawImage(this.#small, 0, row, pixels.width, 1, columns.x, y, columns.width, height);
    }
    context.globalAlpha = 1;
    for (const { index, x, y, width, height } of this.#places ?? []) {
      for (const fill of this.#patternsOf(states[index] ?? noDataState, cells.arePartlyCovered[index])) {
        context.fillStyle = fill;
        context.fillRect(x, y, width, height);
      }
    }
    return true;
  }

  #patternsOf(state: number, isPartlyCovered = false): Fill[] {
    const { ofStates, partlyCovered = "transparent" } = this.#patterns ?? {};
    const ofState = ofStates?.get(state);
    return [...(ofState === undefined ? [] : [ofState]), ...(isPartlyCovered ? [partlyCovered] : [])];
  }

  /** Removes the pictures. */
  hide(): void {
    this.#places = undefined;
    this.#cells.remove();
    this.#above.remove();
  }

  /** Puts a picture of what is above the cells upon the map, which is left with what is below them. */
  #take(geohashes: readonly string[]): boolean {
    const map = this.#map;
    if (!map.loaded() || map.isMoving() || map.getPitch() > 0 || map.getBearing() !== 0) return false;
    const order = map.getLayersOrder();
    const above = order.slice(order.indexOf(lowestLines) + 1).map((id) => map.getLayer(id)?.type ?? "");
    if (!above.every((type) => typesAbove.includes(type))) return false;
    const drawn = map.getCanvas();
    const ratio = drawn.width / drawn.clientWidth;
    const found = this.#find(geohashes, ratio);
    if (found === undefined) return false;
    [this.#above.width, this.#above.height] = [drawn.width, drawn.height];
    Object.assign(this.#above.style, {
      left: 0,
      top: 0,
      width: drawn.style.width,
      height: drawn.style.height,
    });
    this.#part = "above";
    map.redraw();
    // What is drawn can be read only before the browser shows it.
    this.#above.getContext("2d")?.drawImage(drawn, 0, 0);
    this.#part = "below";
    map.redraw();
    const gl = drawn.getContext("webgl2") ?? drawn.getContext("webgl");
    gl?.disable(gl.SCISSOR_TEST);
    this.#part = undefined;
    this.#places = found.places;
    this.#grid = found.grid;
    // As the map draws it, a pattern grows up to the next whole zoom.
    this.#patterns = patternsAt(ratio * 2 ** (map.getZoom() - Math.floor(map.getZoom())));
    const { x, y, width, height } = found.frame;
    [this.#cells.width, this.#cells.height] = [width, height];
    [this.#small.width, this.#small.height] = [found.grid.pixels.width, found.grid.pixels.height];
    Object.assign(this.#cells.style, {
      left: `${x / ratio}px`,
      top: `${y / ratio}px`,
      width: `${width / ratio}px`,
      height: `${height / ratio}px`,
    });
    drawn.after(this.#cells, this.#above);
    return true;
  }

  /** Finds the cells in view; none where there are more than pixels. */
  #find(geohashes: readonly string[], ratio: number) {
    const { width, height } = this.#map.getCanvas();
    const within = (pixels: number, most: number) => Math.max(0, Math.min(most, Math.round(pixels * ratio)));
    const places = geohashes.flatMap((geohash, index): Place[] => {
      const { west, south, east, north } = boundsOf(geohash);
      const from = this.#map.project([west, north]);
      const to = this.#map.project([east, south]);
      const [x, y] = [within(from.x, width), within(from.y, height)];
      const [right, bottom] = [within(to.x, width), within(to.y, height)];
      if (right === x || bottom === y) return [];
      const edges = { left: from.x * ratio, right: to.x * ratio };
      const { row, column } = cellOf(geohash);
      return [{ index, row: -row, column, x, y, width: right - x, height: bottom - y, ...edges }];
    });
    const frame = frameOf(places);
    const [first] = places;
    if (first === undefined) return undefined;
    const west = places.reduce((one, other) => (other.column < one.column ? other : one), first);
    const east = places.reduce((one, other) => (other.column > one.column ? other : one), first);
    const north = places.reduce((one, other) => (other.row < one.row ? other : one), first);
    const south = places.reduce((one, other) => (other.row > one.row ? other : one), first);
    const [across, down] = [east.column - west.column + 1, south.row - north.row + 1];
    if (across > width || down > height) return undefined;
    const moved = places.map((place) => ({
      ...place,
      row: place.row - north.row,
      column: place.column - west.column,
      x: place.x - frame.x,
      y: place.y - frame.y,
    }));
    const grid: Grid = {
      pixels: new ImageData(across, down),
      columns: { x: west.left - frame.x, width: east.right - west.left },
      rows: new Map(moved.map(({ row, y, height }) => [row, { y, height }])),
    };
    return { places: moved, grid, frame };
  }
}

function divider(id: string, render: CustomLayerInterface["render"]): CustomLayerInterface {
  return { id, type: "custom", render };
}

/** The smallest rectangle around others. */
function frameOf(places: readonly Rectangle[]): Rectangle {
  const bound = places.reduce(
    ({ x, y, right, bottom }, place) => ({
      x: Math.min(x, place.x),
      y: Math.min(y, place.y),
      right: Math.max(right, place.x + place.width),
      bottom: Math.max(bottom, place.y + place.height),
    }),
    { x: Number.POSITIVE_INFINITY, y: Number.POSITIVE_INFINITY, right: 0, bottom: 0 },
  );
  return { x: bound.x, y: bound.y, width: bound.right - bound.x, height: bound.bottom - bound.y };
}

/** Red, green, blue and alpha of `#rrggbb`. */
function bytesOf(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)).concat(255);
}

/** @param scale by which patterns are greater than on a screen with a pixel for each pixel of the page */
function patternsAt(scale: number): Patterns {
  const pattern = (image: ImageData): Fill => {
    const made = document.createElement("canvas").getContext("2d")?.createPattern(tileOf(image), "repeat");
    made?.setTransform(new DOMMatrix().scale(scale / 2));
    return made ?? "transparent";
  };
  return {
    ofStates: new Map([
      [suppressedState, pattern(hatching())],
      [noDataState, pattern(dots())],
    ]),
    partlyCovered: pattern(strokes()),
  };
}
