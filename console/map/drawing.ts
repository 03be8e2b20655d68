/** Drawing an area on the map, with a pointer or the keyboard. */
import type { MapMouseEvent } from "maplibre-gl";
import { announce, element, html } from "../dom.ts";
import { type Area, type AreaLimits, areaOf, areaProblem, type Point } from "../request/area.ts";
import type { DensityMap } from "./density-map.ts";

/** Ends a drawing that is under way, without an area. */
export type StopDrawing = () => void;

/**
 * Starts to draw. A click adds a corner, and so does Enter in the middle of the map, which the arrow keys move;
 * Backspace removes the last one, a double click or Finish ends, Escape gives up.
 */
export function startDrawing(
  map: DensityMap,
  limits: AreaLimits,
  done: (area: Area | undefined) => void,
): StopDrawing {
  const { library } = map;
  const canvas = library.getCanvas();
  const bar = element("drawing");
  const points: Point[] = [];
  const hint = html("p", {}, "Click the corners of an area.");
  const finish = html("button", { type: "button", class: "primary", click: () => end() }, "Finish");
  const undo = html("button", { type: "button", click: () => removeLast() }, "Undo");

  const show = (pointer?: Point) => {
    map.showDraft(pointer === undefined ? points : [...points, pointer], pointer === undefined);
    const problem = areaProblem(areaOf(points), limits);
    finish.disabled = problem !== undefined;
    undo.disabled = points.length === 0;
    const count = `${points.length} of at most ${limits.maxPoints} points.`;
    const next = problem === undefined ? "Finish, or add another." : problem;
    hint.textContent = points.length === 0 ? "Click the corners of an area." : `${count} ${next}`;
  };
  const add = (point: Point) => {
    if (points.length >= limits.maxPoints) return;
    points.push(point);
    show();
    announce(`Point ${points.length} added.`);
  };
  const removeLast = () => {
    points.pop();
    show();
  };
  const addMiddle = () => {
    const { lat, lng } = library.getCenter().wrap();
    add({ latitude: lat, longitude: lng });
  };
  const end = () => {
    const area = areaOf(points);
    if (areaProblem(area, limits) !== undefined) return;
    stop();
    done(area);
  };

  const onClick = ({ lngLat }: MapMouseEvent) => {
    const { lat, lng } = lngLat.wrap();
    add({ latitude: lat, longitude: lng });
  };
  const onMove = ({ lngLat }: MapMouseEvent) => {
    if (points.length > 0) show({ latitude: lngLat.lat, longitude: lngLat.lng });
  };
  const onDoubleClick = (event: MapMouseEvent) => {
    event.preventDefault();
    // The second click of the two has added the last corner once more.
    points.pop();
    end();
  };
  const onKey = (event: KeyboardEvent) => {
    const actions: Readonly<Record<string, () => void>> = {
      Enter: addMiddle,
      Backspace: removeLast,
      Escape: () => {
        stop();
        done(undefined);
      },
    };
    const action = actions[event.key];
    if (action === undefined || (event.target !== canvas && event.key !== "Escape")) return;
    event.preventDefault();
    action();
  };
  const stop = () => {
    library.off("click", onClick);
    library.off("mousemove", onMove);
    library.off("dblclick", onDoubleClick);
    removeEventListener("keydown", onKey);
    library.doubleClickZoom.enable();
    document.body.classList.remove("is-drawing");
    map.showDraft([], false);
    bar.replaceChildren();
  };

  library.on("click", onClick);
  library.on("mousemove", onMove);
  library.on("dblclick", onDoubleClick);
  addEventListener("keydown", onKey);
  library.doubleClickZoom.disable();
  document.body.classList.add("is-drawing");
  const cancel = () => {
    stop();
    done(undefined);
  };
  bar.replaceChildren(
    html("div", { class: "crosshair", "aria-hidden": "true" }),
    html(
      "div",
      { class: "card drawing-bar", role: "group", "aria-label": "Drawing" },
      hint,
      html(
        "p",
        { class: "note" },
        "With the keyboard: arrow keys move the map, Enter adds its middle, Backspace removes.",
      ),
      html(
        "div",
        { class: "row" },
        finish,
        html("button", { type: "button", click: addMiddle }, "Add the middle"),
        undo,
        html("button", { type: "button", click: cancel }, "Cancel"),
      ),
    ),
  );
  show();
  canvas.focus();
  return stop;
}
