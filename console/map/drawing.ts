/**
 * Draws an area on the map, or changes its corners: with a mouse, a finger or the keyboard. Each corner is a button that
 * MapLibre moves with the map, so it has a name for screen readers and the focus. Terra Draw (1.35), which was tried,
 * draws corners into the canvas, where no keyboard can reach one.
 */
import type { Map as MapLibreMap, MapMouseEvent } from "maplibre-gl";
import { announce, element } from "../base/dom.ts";
import { type Area, type AreaLimits, areaOf, areaProblem, type Point } from "../data/area.ts";
import { areaRing } from "../data/outlines.ts";
import type { DensityMap } from "./density-map.ts";
import { drawingBar } from "./drawing-bar.ts";
import { Handles, pointOf } from "./handles.ts";

/**
 * One drawing, which starts at once. While it is open, a click adds a corner there, and the space bar one in the middle
 * of the map, which the arrow keys move. At any time corners can be moved and removed. A double click, Enter or Finish
 * ends the drawing, Escape cancels it.
 */
export class Drawing {
  readonly #map: DensityMap;
  readonly #library: MapLibreMap;
  readonly #limits: AreaLimits;
  readonly #done: (area: Area | undefined) => void;
  readonly #bar: ReturnType<typeof drawingBar>;
  readonly #handles: Handles;
  /** Whether the ring is closed: corners are then added between others only. */
  readonly #isClosed: boolean;
  #points: readonly Point[];
  /** The corner that had the focus last. */
  #selected: number | undefined;

  /**
   * @param initial the area whose corners to change; undefined to draw one
   * @param done is called with the area, or with undefined if the user cancels; never after `stop`
   */
  constructor(
    map: DensityMap,
    library: MapLibreMap,
    limits: AreaLimits,
    initial: Area | undefined,
    done: (area: Area | undefined) => void,
  ) {
    this.#map = map;
    this.#library = library;
    this.#limits = limits;
    this.#done = done;
    this.#isClosed = initial !== undefined;
    this.#points = initial?.boundary ?? [];
    this.#bar = drawingBar(limits, this.#isClosed, {
      finish: this.#finish,
      addMiddle: this.#addMiddle,
      remove: () => this.#remove(this.#selected ?? this.#points.length - 1),
      cancel: this.#cancel,
    });
    this.#handles = new Handles(library, {
      move: (corner, to) => this.#replace(corner, 1, to),
      remove: (corner) => this.#remove(corner),
      select: (corner) => this.#select(corner),
      press: (corner) => {
        if (corner === 0 && !this.#isClosed) this.#finish();
      },
      insert: (before, at) => this.#insert(before, at),
    });
    this.#start();
  }

  #start(): void {
    const library = this.#library;
    library.on("click", this.#onClick);
    library.on("mousemove", this.#onMove);
    library.getCanvasContainer().addEventListener("dblclick", this.#onDoubleClick);
    addEventListener("keydown", this.#onKey);
    library.doubleClickZoom.disable();
    document.body.classList.add("is-drawing");
    element("drawing").replaceChildren(...this.#bar.elements);
    this.#show();
    // On a phone, the form from which drawing starts is below the map.
    element("stage").scrollIntoView({ block: "start" });
    if (this.#isClosed) this.#handles.focus(0);
    else library.getCanvas().focus({ preventScroll: true });
  }

  /** Cancels drawing, without calling `done`. */
  stop(): void {
    const library = this.#library;
    library.off("click", this.#onClick);
    library.off("mousemove", this.#onMove);
    library.getCanvasContainer().removeEventListener("dblclick", this.#onDoubleClick);
    removeEventListener("keydown", this.#onKey);
    library.doubleClickZoom.enable();
    document.body.classList.remove("is-drawing");
    this.#handles.remove();
    this.#map.showDraft([]);
    element("drawing").replaceChildren();
  }

  /** Shows the corners, and a line to the pointer. */
  #show(pointer?: Point): void {
    const area = areaOf(this.#points);
    const [first] = this.#points;
    const closesRing = pointer === undefined && first !== undefined;
    this.#map.showDraft([...this.#points, ...(closesRing ? [first] : []), ...(pointer ? [pointer] : [])]);
    const mayInsert = this.#isClosed && this.#points.length < this.#limits.maxPoints;
    this.#handles.show(areaRing(area).slice(0, -1), mayInsert);
    this.#bar.update(area, this.#selected);
  }

  /** Replaces some corners. */
  #replace(at: number, count: number, ...by: readonly Point[]): void {
    this.#points = this.#points.toSpliced(at, count, ...by);
    this.#show();
  }

  #select(corner: number): void {
    this.#selected = corner;
    this.#bar.update(areaOf(this.#points), corner);
  }

  #add(point: Point): void {
    if (this.#isClosed || this.#points.length >= this.#limits.maxPoints) return;
    this.#selected = undefined;
    this.#replace(this.#points.length, 0, point);
    announce(`Corner ${this.#points.length} added.`);
  }

  #insert(before: number, at: Point): void {
    this.#replace(before, 0, at);
    this.#handles.focus(before);
    announce(`Corner ${before + 1} added.`);
  }

  #remove(corner: number): void {
    const fewest = this.#isClosed ? this.#limits.minPoints : 0;
    if (corner < 0 || this.#points.length <= fewest) return;
    const hadSelection = this.#selected !== undefined;
    this.#selected = undefined;
    this.#replace(corner, 1);
    announce(`Corner ${corner + 1} removed.`);
    if (hadSelection && this.#points.length > 0)
      this.#handles.focus(Math.min(corner, this.#points.length - 1));
    else this.#library.getCanvas().focus();
  }

  readonly #addMiddle = () => this.#add(pointOf(this.#library.getCenter()));

  readonly #finish = () => {
    const area = areaOf(this.#points);
    const problem = areaProblem(area, this.#limits);
    if (problem !== undefined) {
      announce(problem);
      return;
    }
    this.stop();
    this.#done(area);
  };

  readonly #cancel = () => {
    this.stop();
    this.#done(undefined);
  };

  readonly #onClick = ({ lngLat, originalEvent }: MapMouseEvent) => {
    // Clicks on handles are not for the map.
    if (originalEvent.target === this.#library.getCanvas()) this.#add(pointOf(lngLat));
  };

  readonly #onMove = ({ lngLat }: MapMouseEvent) => {
    if (!this.#isClosed && this.#points.length > 0) this.#show(pointOf(lngLat));
  };

  /** The first click of the two has added the last corner; the second one was on its handle. */
  readonly #onDoubleClick = (event: Event) => {
    event.preventDefault();
    if (!this.#isClosed) this.#finish();
  };

  readonly #onKey = (event: KeyboardEvent) => {
    const isOnMap = event.target instanceof Node && this.#library.getContainer().contains(event.target);
    const isOnCanvas = event.target === this.#library.getCanvas();
    const actions: Readonly<Record<string, (() => void) | false>> = {
      Escape: this.#cancel,
      Enter: isOnMap && !isMiddle(event.target) && this.#finish,
      " ": isOnCanvas && this.#addMiddle,
      Backspace: isOnCanvas && (() => this.#remove(this.#points.length - 1)),
    };
    const action = actions[event.key];
    if (typeof action !== "function") return;
    event.preventDefault();
    action();
  };
}

/** Whether something is a handle between corners, where Enter adds one. */
function isMiddle(target: EventTarget | null): boolean {
  return target instanceof Element && target.classList.contains("corner-between");
}
