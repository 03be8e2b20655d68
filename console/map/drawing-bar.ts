import { html } from "../dom.ts";
import { type Area, type AreaLimits, areaProblem } from "../request/area.ts";

interface DrawingActions {
  readonly finish: () => void;
  readonly addMiddle: () => void;
  readonly undo: () => void;
  readonly cancel: () => void;
}

interface DrawingBar {
  /** The bar, and a cross in the middle of the map. */
  readonly elements: readonly HTMLElement[];
  /** Shows what the drawn area still needs. */
  readonly update: (area: Area) => void;
}

/** Creates the bar with the buttons for drawing. */
export function drawingBar(
  limits: AreaLimits,
  { finish, addMiddle, undo, cancel }: DrawingActions,
): DrawingBar {
  const hint = html("p");
  const finishButton = html("button", { type: "button", class: "primary", click: finish }, "Finish");
  const undoButton = html("button", { type: "button", click: undo }, "Undo");
  const keys = "With the keyboard: arrow keys move the map, Enter adds its middle, Backspace removes.";
  const bar = html(
    "div",
    { class: "card drawing-bar", role: "group", "aria-label": "Drawing" },
    hint,
    html("p", { class: "note" }, keys),
    html(
      "div",
      { class: "row" },
      finishButton,
      html("button", { type: "button", click: addMiddle }, "Add the middle"),
      undoButton,
      html("button", { type: "button", click: cancel }, "Cancel"),
    ),
  );
  const update = (area: Area) => {
    const problem = areaProblem(area, limits);
    const count = area.boundary.length;
    finishButton.disabled = problem !== undefined;
    undoButton.disabled = count === 0;
    const next = problem ?? "Finish, or add another.";
    hint.textContent =
      count === 0
        ? "Click the corners of an area."
        : `${count} of at most ${limits.maxPoints} points. ${next}`;
  };
  return { elements: [html("div", { class: "crosshair", "aria-hidden": "true" }), bar], update };
}
