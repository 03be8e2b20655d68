/** The field for the area: an example, or an area drawn on the map or pasted. */
import { html } from "../dom.ts";
import { type Area, type AreaLimits, areaProblem } from "./area.ts";
import type { Example } from "./examples.ts";
import { parseArea } from "./parse-area.ts";
import { segments } from "./segments.ts";

/** Draws an area on the map. */
export interface AreaDrawing {
  /** Starts drawing; `done` receives undefined if the user cancels. */
  readonly start: (done: (area: Area | undefined) => void) => void;
  /** Cancels drawing, if active. */
  readonly cancel: () => void;
}

interface AreaFieldOptions {
  readonly examples: readonly Example[];
  readonly limits: AreaLimits;
  readonly drawing: AreaDrawing;
  /** Called before `onChange` if the area is an example. */
  readonly onExample: (area: Area) => void;
  readonly onChange: (area: Area | undefined) => void;
}

interface AreaField {
  readonly fieldset: HTMLFieldSetElement;
  /** Sets the initial area: the first example or, without examples, starts drawing one. */
  readonly start: () => void;
}

/** One way to choose an area. */
interface Way {
  readonly element: HTMLElement;
  /** Called when this way is selected. */
  readonly open?: () => void;
}

/** Sets the field's area, or clears it, with a note below it. */
type SetArea = (area: Area | undefined, note?: string) => void;

/** Creates the field. */
export function areaField({ examples, limits, drawing, onExample, onChange }: AreaFieldOptions): AreaField {
  const note = html("p", { class: "note", "aria-live": "polite" });
  const setArea: SetArea = (area, text = "") => {
    note.textContent = text;
    note.className = area === undefined ? "note problem" : "note";
    onChange(area);
  };
  const ways: Readonly<Record<"Example" | "Draw" | "Paste", Way>> = {
    Example: exampleWay(examples, onExample, setArea),
    Draw: drawWay(drawing, setArea),
    Paste: pasteWay(limits, setArea),
  };
  const choose = (chosen: keyof typeof ways) => {
    for (const way of Object.values(ways)) way.element.hidden = way !== ways[chosen];
    if (chosen !== "Draw") drawing.cancel();
    ways[chosen].open?.();
  };
  const initial = examples.length > 0 ? "Example" : "Draw";
  const fieldset = html(
    "fieldset",
    {},
    html("legend", {}, "Area"),
    segments("way", Object.keys(ways) as (keyof typeof ways)[], initial, choose),
    ...Object.values(ways).map(({ element }) => element),
    note,
  );
  return { fieldset, start: () => choose(initial) };
}

function exampleWay(examples: readonly Example[], onExample: (area: Area) => void, setArea: SetArea): Way {
  const choose = () => {
    const area = examples.find(({ name }) => name === select.value)?.area;
    if (area !== undefined) onExample(area);
    setArea(area);
  };
  const select = html(
    "select",
    { id: "example", change: choose },
    ...examples.map(({ name }) => html("option", { value: name }, name)),
  );
  return {
    element: html("div", {}, html("label", { for: "example", class: "hidden-text" }, "Example"), select),
    open: () => {
      if (examples.length > 0) choose();
    },
  };
}

function drawWay(drawing: AreaDrawing, setArea: SetArea): Way {
  const draw = () =>
    drawing.start((area) => {
      if (area !== undefined) setArea(area, `${area.boundary.length} points, as drawn.`);
    });
  return {
    element: html(
      "div",
      {},
      html("button", { type: "button", class: "wide", click: draw }, "Draw on the map"),
    ),
    open: draw,
  };
}

function pasteWay(limits: AreaLimits, setArea: SetArea): Way {
  const text = html("textarea", {
    id: "pasted",
    rows: 5,
    spellcheck: "false",
    placeholder: '{"type":"Polygon","coordinates":[[[4.83,45.76],…]]}',
  });
  const usePasted = () => {
    try {
      const area = parseArea(text.value);
      const problem = areaProblem(area, limits);
      setArea(problem === undefined ? area : undefined, problem ?? `${area.boundary.length} points.`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      setArea(undefined, error.message);
    }
  };
  return {
    element: html(
      "div",
      {},
      html("label", { for: "pasted" }, "GeoJSON, or an area of the API"),
      text,
      html("button", { type: "button", click: usePasted }, "Use this area"),
    ),
  };
}
