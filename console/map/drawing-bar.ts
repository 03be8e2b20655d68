import { buttonTo, html } from "../base/dom.ts";
import { type Area, type AreaLimits, areaProblem } from "../data/area.ts";

interface DrawingActions {
  readonly finish: () => void;
  readonly addMiddle: () => void;
  /** Removes the selected corner, or the last one. */
  readonly remove: () => void;
  readonly cancel: () => void;
}

interface DrawingBar {
  /** The bar and, while corners can be added anywhere, a cross in the middle of the map. */
  readonly elements: readonly HTMLElement[];
  /** Shows what the drawn area still needs, and which corner can be removed. */
  readonly update: (area: Area, selected: number | undefined) => void;
}

/** Creates the bar with the buttons for drawing. @param isClosed whether corners of an area are being changed */
export function drawingBar(
  limits: AreaLimits,
  isClosed: boolean,
  { finish, addMiddle, remove, cancel }: DrawingActions,
): DrawingBar {
  const hint = html("p");
  const finishButton = buttonTo("Finish", finish, { class: "primary" });
  const removeButton = html("button", { type: "button", click: remove });
  const keys = isClosed
    ? "With the keyboard: Tab goes to the corners, arrow keys move one, Delete removes it, Enter finishes."
    : "With the keyboard: arrow keys move the map, the space bar adds its middle, Enter finishes.";
  const bar = html(
    "div",
    { class: "card drawing-bar", role: "group", "aria-label": "Drawing" },
    hint,
    html("p", { class: "note" }, keys),
    html(
      "div",
      { class: "row" },
      finishButton,
      !isClosed && buttonTo("Add the middle", addMiddle),
      removeButton,
      buttonTo("Cancel", cancel),
    ),
  );
  const update = (area: Area, selected: number | undefined) => {
    const problem = areaProblem(area, limits);
    const count = area.boundary.length;
    finishButton.disabled = problem !== undefined;
    removeButton.disabled =
      count <= (isClosed ? limits.minPoints : 0) || (isClosed && selected === undefined);
    removeButton.textContent = selected === undefined ? "Remove the last" : `Remove corner ${selected + 1}`;
    hint.textContent = hintFor(count, problem);
  };
  const doubleClick = matchMedia("(pointer: coarse)").matches ? "Double-tap" : "Double-click";
  const hintFor = (count: number, problem: string | undefined) => {
    if (isClosed) return problem ?? "Drag corners, or click between two to add one.";
    if (count === 0) return "Click or tap the corners of an area.";
    const next = problem ?? `${doubleClick} the last one to finish, or drag any.`;
    return `${count} of at most ${limits.maxPoints} corners. ${next}`;
  };
  return { elements: [...(isClosed ? [] : [crosshair()]), bar], update };
}

function crosshair(): HTMLElement {
  return html("div", { class: "crosshair", "aria-hidden": "true" });
}
