/** Draws an area on the map, with a pointer or the keyboard. */
import type { MapMouseEvent } from "maplibre-gl";
import { announce, element } from "../dom.ts";
import { type Area, type AreaLimits, areaOf, areaProblem, type Point } from "../request/area.ts";
import type { DensityMap } from "./density-map.ts";
import { drawingBar } from "./drawing-bar.ts";

/**
 * One drawing, which starts at once. A click adds a corner there, Enter in the middle of the map; the arrow keys move
 * the map. Backspace removes the last corner, a double click or Finish ends the drawing, Escape cancels it.
 */
export class Drawing {
  readonly #map: DensityMap;
  readonly #limits: AreaLimits;
  readonly #done: (area: Area | undefined) => void;
  readonly #bar: ReturnType<typeof drawingBar>;
  #points: readonly Point[] = [];

  /** @param done is called with the area, or with undefined if the user cancels; never after `stop` */
  constructor(map: DensityMap, limits: AreaLimits, done: (area: Area | undefined) => void) {
    this.#map = map;
    this.#limits = limits;
    this.#done = done;
    this.#bar = drawingBar(limits, {
      finish: this.#finish,
      addMiddle: this.#addMiddle,
      undo: this.#removeLast,
      cancel: this.#cancel,
    });
    this.#start();
  }

  #start(): void {
    const { library } = this.#map;
    library.on("click", this.#onClick);
    library.on("mousemove", this.#onMove);
    library.on("dblclick", this.#onDoubleClick);
    addEventListener("keydown", this.#onKey);
    library.doubleClickZoom.disable();
    document.body.classList.add("is-drawing");
    element("drawing").replaceChildren(...this.#bar.elements);
    this.#show();
    library.getCanvas().focus();
  }

  /** Cancels drawing, without calling `done`. */
  stop(): void {
    const { library } = this.#map;
    library.off("click", this.#onClick);
    library.off("mousemove", this.#onMove);
    library.off("dblclick", this.#onDoubleClick);
    removeEventListener("keydown", this.#onKey);
    library.doubleClickZoom.enable();
    document.body.classList.remove("is-drawing");
    this.#map.showDraft([], false);
    element("drawing").replaceChildren();
  }

  /** Shows the corners, and a line to the pointer. */
  #show(pointer?: Point): void {
    this.#map.showDraft(
      pointer === undefined ? this.#points : [...this.#points, pointer],
      pointer === undefined,
    );
    this.#bar.update(areaOf(this.#points));
  }

  #add(point: Point): void {
    if (this.#points.length >= this.#limits.maxPoints) return;
    this.#points = [...this.#points, point];
    this.#show();
    announce(`Point ${this.#points.length} added.`);
  }

  readonly #addMiddle = () => {
    const { lat, lng } = this.#map.library.getCenter().wrap();
    this.#add({ latitude: lat, longitude: lng });
  };

  readonly #removeLast = () => {
    this.#points = this.#points.slice(0, -1);
    this.#show();
  };

  readonly #finish = () => {
    const area = areaOf(this.#points);
    if (areaProblem(area, this.#limits) !== undefined) return;
    this.stop();
    this.#done(area);
  };

  readonly #cancel = () => {
    this.stop();
    this.#done(undefined);
  };

  readonly #onClick = ({ lngLat }: MapMouseEvent) => {
    const { lat, lng } = lngLat.wrap();
    this.#add({ latitude: lat, longitude: lng });
  };

  readonly #onMove = ({ lngLat }: MapMouseEvent) => {
    if (this.#points.length > 0) this.#show({ latitude: lngLat.lat, longitude: lngLat.lng });
  };

  readonly #onDoubleClick = (event: MapMouseEvent) => {
    event.preventDefault();
    // The second click of a double click has added the last corner again.
    this.#points = this.#points.slice(0, -1);
    this.#finish();
  };

  readonly #onKey = (event: KeyboardEvent) => {
    const actions: Readonly<Record<string, () => void>> = {
      Enter: this.#addMiddle,
      Backspace: this.#removeLast,
      Escape: this.#cancel,
    };
    const action = actions[event.key];
    if (action === undefined || (event.target !== this.#map.library.getCanvas() && event.key !== "Escape"))
      return;
    event.preventDefault();
    action();
  };
}
