/** The field for the area: an example, or an area drawn on the map or pasted. */
import { html } from "../dom.ts";
import { counted } from "../numbers.ts";
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
  /** Called before `onChange` if the user chooses an example. */
  readonly onExample: (area: Area) => void;
  readonly onChange: (areas: readonly Area[]) => void;
}

interface AreaField {
  readonly fieldset: HTMLFieldSetElement;
  /** Sets areas that are not the user's choice in this field, as those of the address. */
  readonly set: (areas: readonly Area[]) => void;
}

/** One way to choose an area. */
interface Way {
  readonly element: HTMLElement;
  /** Called when this way is selected. */
  readonly open?: () => void;
}

/** Sets the field's areas, with a note below them. */
type SetAreas = (areas: readonly Area[], note?: string) => void;

/** Creates the field. */
export function areaField({ examples, limits, drawing, onExample, onChange }: AreaFieldOptions): AreaField {
  const note = html("p", { class: "note", "aria-live": "polite" });
  const setAreas: SetAreas = (areas, text = "") => {
    note.textContent = text;
    note.className = areas.length === 0 ? "note problem" : "note";
    onChange(areas);
  };
  const select = html(
    "select",
    { id: "example" },
    ...examples.map(({ name }) => html("option", { value: name }, name)),
  );
  const ways: Readonly<Record<"Example" | "Draw" | "Paste", Way>> = {
    Example: exampleWay(select, examples, onExample, setAreas),
    Draw: drawWay(drawing, setAreas),
    Paste: pasteWay(limits, setAreas),
  };
  const show = (shown: keyof typeof ways) => {
    for (const way of Object.values(ways)) way.element.hidden = way !== ways[shown];
    drawing.cancel();
  };
  const choose = (chosen: keyof typeof ways) => {
    show(chosen);
    ways[chosen].open?.();
  };
  const initial = examples.length > 0 ? "Example" : "Draw";
  const choice = segments("way", Object.keys(ways) as (keyof typeof ways)[], initial, choose);
  const set = (areas: readonly Area[]) => {
    const example = examples.find(({ area }) => areas.length === 1 && isSame(area, areas[0]));
    const way = example === undefined ? "Draw" : "Example";
    for (const input of choice.querySelectorAll("input")) input.checked = input.value === way;
    show(way);
    if (example !== undefined) select.value = example.name;
    const problem = areas.map((area) => areaProblem(area, limits)).find((reason) => reason !== undefined);
    if (problem === undefined) setAreas(areas, example === undefined ? sizeOf(areas) : "");
    else setAreas([], problem);
  };
  const fieldset = html(
    "fieldset",
    {},
    html("legend", {}, "Area"),
    choice,
    ...Object.values(ways).map(({ element }) => element),
    note,
  );
  show(initial);
  return { fieldset, set };
}

function isSame(one: Area, other: Area | undefined): boolean {
  return JSON.stringify(one.boundary) === JSON.stringify(other?.boundary);
}

/** `6 points.`, `3 areas.` */
function sizeOf(areas: readonly Area[]): string {
  const [first] = areas;
  const size =
    areas.length > 1 ? counted(areas.length, "area") : counted(first?.boundary.length ?? 0, "point");
  return `${size}.`;
}

function exampleWay(
  select: HTMLSelectElement,
  examples: readonly Example[],
  onExample: (area: Area) => void,
  setAreas: SetAreas,
): Way {
  const choose = () => {
    const area = examples.find(({ name }) => name === select.value)?.area;
    if (area !== undefined) onExample(area);
    setAreas(area === undefined ? [] : [area]);
  };
  select.addEventListener("change", choose);
  return {
    element: html("div", {}, html("label", { for: "example", class: "hidden-text" }, "Example"), select),
    open: () => {
      if (examples.length > 0) choose();
    },
  };
}

function drawWay(drawing: AreaDrawing, setAreas: SetAreas): Way {
  const draw = () =>
    drawing.start((area) => {
      if (area !== undefined) setAreas([area], sizeOf([area]));
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

function pasteWay(limits: AreaLimits, setAreas: SetAreas): Way {
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
      setAreas(problem === undefined ? [area] : [], problem ?? sizeOf([area]));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      setAreas([], error.message);
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
