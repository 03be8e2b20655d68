/** The form with what is asked for: area, period and precision, and how large the answer will be. */

import { cellSize } from "../answer/cells.ts";
import { html } from "../dom.ts";
import { counted, metres, whole } from "../numbers.ts";
import { afterHours, hoursFromNow, inputValue } from "../time.ts";
import { type Area, cellsIn, type Example, parseArea, problemWith } from "./area.ts";
import type { Capabilities } from "./capabilities.ts";

/** The body of a request. */
export interface DensityRequest {
  readonly area: Area;
  readonly startTime: string;
  readonly endTime: string;
  readonly precision: number;
}

interface FormActions {
  /** The area was chosen, drawn or pasted; undefined while there is none. */
  readonly onArea: (area: Area | undefined) => void;
  readonly draw: (done: (area: Area | undefined) => void) => void;
  /** The person would rather not draw; nothing if nobody does. */
  readonly stopDrawing: () => void;
  readonly send: (request: DensityRequest) => Promise<void>;
}

const periods: readonly { readonly hours: number; readonly name: string }[] = [
  { hours: 1, name: "1 hour" },
  { hours: 6, name: "6 hours" },
  { hours: 24, name: "1 day" },
  { hours: 48, name: "2 days" },
  { hours: 168, name: "7 days" },
];

/** Makes the form. Submitting it sends what it says. */
export function requestForm(
  capabilities: Capabilities,
  examples: readonly Example[],
  { onArea, draw, stopDrawing, send }: FormActions,
): HTMLFormElement {
  let area: Area | undefined;
  const button = html("button", { class: "primary wide" }, "Show densities");
  const areaNote = html("p", { class: "note", "aria-live": "polite" });
  const setArea = (next: Area | undefined, note = "") => {
    area = next;
    areaNote.textContent = note;
    areaNote.className = next === undefined ? "note problem" : "note";
    onArea(next);
    showSize();
  };

  // Area
  const example: HTMLSelectElement = html(
    "select",
    { id: "example", change: () => chooseExample() },
    ...examples.map(({ name }) => html("option", { value: name }, name)),
  );
  const chooseExample = () => {
    const chosen = examples.find(({ name }) => name === example.value)?.area;
    if (chosen !== undefined) setPrecision(finestThatFits(chosen));
    setArea(chosen);
  };
  const pasted = html("textarea", {
    id: "pasted",
    rows: 5,
    spellcheck: "false",
    placeholder: '{"type":"Polygon","coordinates":[[[4.83,45.76],…]]}',
  });
  const takePasted = () => {
    try {
      const next = parseArea(pasted.value);
      const problem = problemWith(next, capabilities.area);
      setArea(problem === undefined ? next : undefined, problem ?? `${next.boundary.length} points.`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      setArea(undefined, error.message);
    }
  };
  const drawNow = () =>
    draw((drawn) => {
      if (drawn !== undefined) setArea(drawn, `${drawn.boundary.length} points, as drawn.`);
    });
  const ways = {
    Example: html("div", {}, html("label", { for: "example", class: "hidden-text" }, "Example"), example),
    Draw: html(
      "div",
      {},
      html("button", { type: "button", class: "wide", click: drawNow }, "Draw on the map"),
    ),
    Paste: html(
      "div",
      {},
      html("label", { for: "pasted" }, "GeoJSON, or an area of the API"),
      pasted,
      html("button", { type: "button", click: takePasted }, "Use this area"),
    ),
  } as const;
  const choose = (chosen: keyof typeof ways) => {
    for (const way of Object.keys(ways) as (keyof typeof ways)[]) ways[way].hidden = way !== chosen;
    if (chosen !== "Draw") stopDrawing();
    if (chosen === "Example" && examples.length > 0) chooseExample();
    if (chosen === "Draw") drawNow();
  };
  const firstWay = examples.length > 0 ? "Example" : "Draw";
  const waysOfArea = segments("way", Object.keys(ways), firstWay, (way) => choose(way as keyof typeof ways));

  // Period
  const from = html("input", {
    id: "from",
    type: "datetime-local",
    step: 3_600,
    required: true,
    value: inputValue(hoursFromNow(1)),
    input: () => showSize(),
  });
  const hours = html(
    "select",
    { id: "hours", change: () => showSize() },
    ...periods
      .filter(({ hours: count }) => count <= capabilities.period.maxHours)
      .map(({ hours: count, name }) => html("option", { value: count, selected: count === 24 }, name)),
  );
  const setStart = (offset: number, count: number) => {
    from.value = inputValue(hoursFromNow(offset));
    hours.value = String(count);
    showSize();
  };
  const presets = html(
    "div",
    { class: "row" },
    html("button", { type: "button", class: "chip", click: () => setStart(1, 24) }, "Next 24 hours"),
    html("button", { type: "button", class: "chip", click: () => setStart(-24, 24) }, "Last 24 hours"),
  );

  // Precision
  const finest = capabilities.precisions.at(-1) ?? 7;
  let precision = finest;
  const setPrecision = (next: number) => {
    precision = next;
    for (const input of precisions.querySelectorAll("input")) input.checked = input.value === String(next);
  };
  /** An example is one that can be shown as it is. */
  const finestThatFits = (of: Area) =>
    capabilities.precisions.findLast((one) => cellsIn(of, one) * Number(hours.value) <= limit) ?? finest;
  const precisions = segments(
    "precision",
    capabilities.precisions.map(String),
    String(precision),
    (chosen) => {
      precision = Number(chosen);
      showSize();
    },
  );
  const sizeNote = html("p", { class: "note" });
  const limit = capabilities.limits.synchronous.slots;
  const meter = html("meter", {
    min: 0,
    max: limit,
    low: limit * 0.8,
    high: limit,
    optimum: 0,
    "aria-label": "Size of the answer",
  });
  const slots = html("p", { class: "size" });

  const showSize = () => {
    const latitude = area === undefined ? 0 : middleLatitude(area);
    const { width, height } = cellSize(precision, latitude);
    const where = area === undefined ? " at the equator" : "";
    sizeNote.textContent = `Cells of about ${metres(width)} × ${metres(height)}${where}.`;
    const hourCount = Number(hours.value);
    const cells = area === undefined ? 0 : cellsIn(area, precision);
    const size = cells * hourCount;
    meter.value = size;
    const fits = size <= limit;
    slots.classList.toggle("problem", !fits);
    const text = `${counted(cells, "cell")} × ${counted(hourCount, "hour")} = ${whole(size)} of at most ${whole(limit)}`;
    slots.textContent =
      area === undefined
        ? `At most ${whole(limit)} cells × hours.`
        : `${text}${fits ? "" : ": choose a lower precision, a smaller area or a shorter period"}.`;
    button.disabled = area === undefined;
  };

  const form = html(
    "form",
    {
      class: "request",
      submit: (event) => {
        event.preventDefault();
        if (area === undefined) return;
        const start = new Date(from.value);
        void send({
          area,
          startTime: start.toISOString(),
          endTime: afterHours(start, Number(hours.value)).toISOString(),
          precision,
        });
      },
    },
    html("fieldset", {}, html("legend", {}, "Area"), waysOfArea, ...Object.values(ways), areaNote),
    html(
      "fieldset",
      {},
      html("legend", {}, "Period"),
      presets,
      html(
        "div",
        { class: "columns" },
        html("div", {}, html("label", { for: "from" }, "From"), from),
        html("div", {}, html("label", { for: "hours" }, "For"), hours),
      ),
    ),
    html("fieldset", {}, html("legend", {}, "Precision"), precisions, sizeNote, meter, slots),
    button,
  );
  choose(firstWay);
  return form;
}

/** Radio buttons beside each other. */
function segments(
  name: string,
  values: readonly string[],
  first: string,
  onChange: (value: string) => void,
): HTMLElement {
  const options = values.flatMap((value) => {
    const id = `${name}-${value}`;
    const input = html("input", {
      type: "radio",
      name,
      id,
      value,
      checked: value === first,
      change: () => onChange(value),
    });
    return [input, html("label", { for: id }, value)];
  });
  return html("div", { class: "segments" }, ...options);
}

function middleLatitude({ boundary }: Area): number {
  const latitudes = boundary.map(({ latitude }) => latitude);
  return (Math.min(...latitudes) + Math.max(...latitudes)) / 2;
}
