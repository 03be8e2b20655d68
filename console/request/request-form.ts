/** The form for a request: areas, period, precision, and the size of the answer. */
import { otherGround } from "../base/demo.ts";
import { buttonTo, html } from "../base/dom.ts";
import { serviceTime } from "../base/time.ts";
import type { Area, Point } from "../data/area.ts";
import type { Capabilities } from "../data/capabilities.ts";
import type { Query } from "../data/query.ts";
import type { City } from "../data/regions.ts";
import type { ViewState } from "./address.ts";
import { answerSize } from "./answer-size.ts";
import { type AreaDrawing, AreaField } from "./area-field.ts";
import { aroundOption } from "./around.ts";
import { costOf } from "./cost.ts";
import type { Example } from "./examples.ts";
import { periodField } from "./period-field.ts";
import { precisionField } from "./precision-field.ts";
import { finestFor, largestCount, type QueryProblem, validate } from "./validation.ts";

/** What a form is made from, and whom it tells. */
export interface FormOptions {
  readonly capabilities: Capabilities;
  readonly examples: readonly Example[];
  /** Resolves once they are loaded. */
  readonly cities: Promise<readonly City[]>;
  readonly drawing: AreaDrawing;
  /** @param outlines the outlines of simplified areas, as they were given */
  readonly onAreas: (areas: readonly Area[], outlines: readonly (readonly Point[])[]) => void;
  /** Called after every change, with what keeps the form from being sent. */
  readonly onChange: (problem: QueryProblem | undefined) => void;
  /** Called when the user wants to see what is covered. */
  readonly onCoverage: () => void;
  readonly onSubmit: (query: Query) => void;
  /** Called when something that is covered was searched for, with what the form asks for then. */
  readonly onFound: (query: Query) => void;
}

/** The form. */
export interface RequestForm {
  readonly element: HTMLFormElement;
  /** The field in which people search, give or draw an area, which is not in the form. */
  readonly where: HTMLElement;
  /** Fills in what a state names, and leaves the other fields as they are. */
  readonly fill: (state: ViewState) => void;
  /** Reads areas, and what else a request has, from texts as of dropped files. */
  readonly take: (texts: readonly string[]) => void;
  /** What the form asks for; undefined while something keeps it from being asked. */
  readonly query: () => Query | undefined;
}

/** The areas of the form, what people call them, and the name of the city that was chosen. */
interface ChosenAreas {
  readonly asked: Pick<Query, "areas" | "name">;
  readonly city: string | undefined;
}

/** Creates the form, without an area. */
export function requestForm(options: FormOptions): RequestForm {
  const { capabilities, examples, cities, drawing, onAreas, onChange, onCoverage } = options;
  const { precisions, limits } = capabilities;
  let chosen: ChosenAreas = { asked: { areas: [] }, city: undefined };

  const submit = submission((state) => fill(state));
  const values = () => ({
    ...chosen.asked,
    from: period.from(),
    hours: period.hours(),
    precision: precision.precision(),
  });
  const found = () => validate(values(), capabilities, examples, serviceTime());
  const update = () => {
    const problem = found();
    precision.show(values());
    submit.show(problem, aroundOption(chosen.asked.areas, chosen.city));
    // What is wrong with the areas is said where they are chosen.
    (problem?.areas === undefined ? submit.element : field.element).append(submit.note);
    onChange(problem);
  };
  const period = periodField(capabilities.period.maxHours, update);
  const precision = precisionAndSize(precisions, limits.synchronous.slots, update);
  /** Sets the finest precision at which areas have a synchronous answer. */
  const fitPrecision = (fitted: readonly Area[]) =>
    precision.set(finestFor({ areas: fitted, hours: period.hours() }, capabilities) ?? precisions[0] ?? 1);
  /** Sets what a state names of period and precision, and a precision that fits areas where it names none. */
  const set = (state: ViewState, given = state.areas) => {
    period.set(state);
    if (state.precision !== undefined) precision.set(state.precision);
    else if (given !== undefined) fitPrecision(given);
  };
  const field = new AreaField({
    examples,
    limits: capabilities.area,
    coverage: capabilities.coverage,
    cities,
    drawing,
    onCoverage,
    onExample: (area) => fitPrecision([area]),
    onRequest: set,
    onChange: (areas, outlines, name, city) => {
      chosen = { asked: { areas, ...(name !== undefined && { name }) }, city };
      onAreas(areas, outlines);
      update();
    },
    onFound: () => sendTo(options.onFound),
  });
  const fill = (state: ViewState) => {
    set(state);
    if (state.areas !== undefined) field.set(state.areas, state.name);
    else update();
  };
  const query = () => {
    const { from, ...others } = values();
    return from === undefined || found() !== undefined ? undefined : { from, ...others };
  };
  const sendTo = (receive: (query: Query) => void) => {
    const asked = query();
    if (asked !== undefined) receive(asked);
    else update();
  };
  const send = (event: Event) => {
    event.preventDefault();
    sendTo(options.onSubmit);
  };
  const parts = [field.fieldset(), period.fieldset, precision.fieldset, submit.element];
  const element = html("form", { class: "request", submit: send }, ...parts);
  update();
  return { element, where: field.element, fill, take: (texts) => void field.take(texts), query };
}

/** What the form asks for, perhaps without a start. */
type Asked = Omit<Query, "from"> & { readonly from: Date | undefined };

/** The precision, with the size that cells and the answer have by it. */
function precisionAndSize(precisions: readonly number[], slots: number, onChange: () => void) {
  const { precision, set, showCellSize, elements } = precisionField(precisions, onChange);
  const size = answerSize(slots);
  const legend = html("legend", {}, "Precision");
  const fieldset = html("fieldset", {}, legend, ...elements, ...size.elements);
  const show = ({ areas, from, hours, precision }: Asked) => {
    const [first] = areas;
    showCellSize(first);
    const cost = from === undefined ? 0 : costOf({ areas, from, hours, precision }, serviceTime());
    size.show(first && largestCount({ areas }, precision), hours, areas.length, cost);
  };
  return { fieldset, precision, set, show };
}

/** The button that sends, with what keeps the form from being sent. */
function submission(fill: (state: ViewState) => void) {
  const button = html(
    "button",
    { class: "primary wide", "aria-describedby": "validation" },
    "Show densities",
  );
  const note = html("div", { id: "validation", class: "validation", "aria-live": "polite" });
  const show = (problem: QueryProblem | undefined, around: string) => {
    button.disabled = problem !== undefined;
    note.replaceChildren(...(problem === undefined ? [] : problemElements(problem, around, fill)));
  };
  return { element: html("div", { class: "submit" }, button, note), note, show };
}

function problemElements(
  { areas, reason, remedies }: QueryProblem,
  around: string,
  fill: (state: ViewState) => void,
): HTMLElement[] {
  const buttons = remedies.map(({ label, change }) => buttonTo(label, () => fill(change)));
  const [command, rest = ""] = otherGround(around) ?? [];
  return [
    html("p", { class: "problem" }, reason),
    ...(areas === "uncovered" && command !== undefined
      ? [html("p", { class: "note" }, html("code", {}, command), rest)]
      : []),
    ...(buttons.length === 0 ? [] : [html("div", { class: "row" }, ...buttons)]),
  ];
}
