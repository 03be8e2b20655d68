/** Buttons on the map at the corners of a polygon, and between them, for pointers, fingers and the keyboard. */
import maplibregl, { type Map as MapLibreMap } from "maplibre-gl";
import { html } from "../base/dom.ts";
import type { Point } from "../data/area.ts";
import type { Position } from "../data/outlines.ts";

/** What people do with handles; corners are named by their index. */
interface HandleActions {
  readonly move: (corner: number, to: Point) => void;
  readonly remove: (corner: number) => void;
  /** A corner has the focus, or is being moved. */
  readonly select: (corner: number) => void;
  /** A click on a corner, or the space bar. */
  readonly press: (corner: number) => void;
  /** Adds a corner before another one. */
  readonly insert: (before: number, at: Point) => void;
}

/** How far an arrow key moves a corner, in pixels; less with Shift. */
const [farStep, nearStep] = [12, 2];

const steps: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The handles of one drawing. */
export class Handles {
  readonly #map: MapLibreMap;
  readonly #actions: HandleActions;
  readonly #corners: maplibregl.Marker[] = [];
  readonly #middles: maplibregl.Marker[] = [];

  constructor(map: MapLibreMap, actions: HandleActions) {
    this.#map = map;
    this.#actions = actions;
  }

  /** Shows a handle at each corner and, if corners may be added, between them. Handles keep the focus. */
  show(corners: readonly Position[], mayInsert: boolean): void {
    resize(this.#corners, corners.length, (index) => this.#corner(index));
    for (const [index, marker] of this.#corners.entries()) {
      marker.setLngLat(corners[index] ?? [0, 0]);
      marker.getElement().setAttribute("aria-label", `Corner ${index + 1} of ${corners.length}`);
    }
    resize(this.#middles, mayInsert ? corners.length : 0, (index) => this.#middle(index));
    for (const [index, marker] of this.#middles.entries()) {
      const next = (index + 1) % corners.length;
      marker.setLngLat(this.#between(corners[index] ?? [0, 0], corners[next] ?? [0, 0]));
      marker.getElement().setAttribute("aria-label", `Add a corner between ${index + 1} and ${next + 1}`);
    }
  }

  /** Focuses a corner. */
  focus(corner: number): void {
    this.#corners[corner]?.getElement().focus({ preventScroll: true });
  }

  remove(): void {
    resize(this.#corners, 0, () => new maplibregl.Marker());
    resize(this.#middles, 0, () => new maplibregl.Marker());
  }

  #corner(index: number): maplibregl.Marker {
    const { move, press, select } = this.#actions;
    const button = html("button", {
      type: "button",
      class: "corner",
      focus: () => select(index),
      click: () => {
        // A tap does not focus a button in every browser.
        select(index);
        press(index);
      },
      keydown: (event: Event) => this.#onKey(event as KeyboardEvent, index),
    });
    const marker = new maplibregl.Marker({ element: button, draggable: true }).setLngLat([0, 0]);
    marker.on("dragstart", () => select(index));
    marker.on("drag", () => move(index, pointAt(marker)));
    return marker.addTo(this.#map);
  }

  #middle(index: number): maplibregl.Marker {
    const button = html("button", { type: "button", class: "corner-between" });
    const marker = new maplibregl.Marker({ element: button }).setLngLat([0, 0]);
    button.addEventListener("click", () => this.#actions.insert(index + 1, pointAt(marker)));
    return marker.addTo(this.#map);
  }

  #onKey(event: KeyboardEvent, index: number): void {
    const step = steps[event.key];
    const isRemoval = event.key === "Delete" || event.key === "Backspace";
    if (step === undefined && !isRemoval) return;
    // The arrow keys would also move the map.
    event.preventDefault();
    event.stopPropagation();
    if (step === undefined) this.#actions.remove(index);
    else this.#step(index, step, event.shiftKey ? nearStep : farStep);
  }

  #step(index: number, [dx, dy]: readonly [number, number], pixels: number): void {
    const marker = this.#corners[index];
    if (marker === undefined) return;
    const { x, y } = this.#map.project(marker.getLngLat());
    this.#actions.move(index, pointOf(this.#map.unproject([x + dx * pixels, y + dy * pixels])));
  }

  /** Halfway on the screen. */
  #between(one: Position, other: Position): maplibregl.LngLat {
    const [{ x: x1, y: y1 }, { x: x2, y: y2 }] = [this.#map.project(one), this.#map.project(other)];
    return this.#map.unproject([(x1 + x2) / 2, (y1 + y2) / 2]);
  }
}

/** Makes as many markers as are wanted, and removes the last ones beyond. */
function resize(
  markers: maplibregl.Marker[],
  count: number,
  make: (index: number) => maplibregl.Marker,
): void {
  while (markers.length < count) markers.push(make(markers.length));
  for (const marker of markers.splice(count)) marker.remove();
}

function pointAt(marker: maplibregl.Marker): Point {
  return pointOf(marker.getLngLat());
}

/** The point at a place of the map, which may be beyond the antimeridian. */
export function pointOf(place: maplibregl.LngLat): Point {
  const { lat, lng } = place.wrap();
  return { latitude: lat, longitude: lng };
}
