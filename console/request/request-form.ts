/** The form for a request: area, period, precision, and the size of the answer. */
import { html } from "../dom.ts";
import { answerSize } from "./answer-size.ts";
import { type Area, cellCount } from "./area.ts";
import { type AreaDrawing, areaField } from "./area-field.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Example } from "./examples.ts";
import { periodField } from "./period-field.ts";
import { finestOf, precisionField } from "./precision-field.ts";

/** The body of `POST /populationdensitydata/retrieve`. */
export interface DensityRequest {
  readonly area: Area;
  readonly startTime: string;
  readonly endTime: string;
  readonly precision: number;
}

interface FormOptions {
  readonly capabilities: Capabilities;
  readonly examples: readonly Example[];
  readonly drawing: AreaDrawing;
  readonly onArea: (area: Area | undefined) => void;
  readonly onSubmit: (request: DensityRequest) => void;
}

/** Creates the form, with the first example as its area. */
export function requestForm(options: FormOptions): HTMLFormElement {
  const { capabilities, examples, drawing, onArea, onSubmit } = options;
  const { precisions, limits } = capabilities;
  const limit = limits.synchronous.slots;
  let area: Area | undefined;

  const submit = html("button", { class: "primary wide" }, "Show densities");
  const size = answerSize(limit);
  const update = () => {
    precision.showCellSize(area);
    size.show(area && cellCount(area, precision.precision()), period.hours());
    submit.disabled = area === undefined;
  };
  const period = periodField(capabilities.period.maxHours, update);
  const precision = precisionField(precisions, update);
  /** The finest precision at which an example has a synchronous answer. */
  const finestFor = (example: Area) =>
    precisions.findLast((one) => cellCount(example, one) * period.hours() <= limit) ?? finestOf(precisions);
  const areas = areaField({
    examples,
    limits: capabilities.area,
    drawing,
    onExample: (example) => precision.set(finestFor(example)),
    onChange: (next) => {
      area = next;
      onArea(area);
      update();
    },
  });
  const sendRequest = (event: Event) => {
    event.preventDefault();
    if (area !== undefined) onSubmit({ area, ...period.period(), precision: precision.precision() });
  };
  const form = html(
    "form",
    { class: "request", submit: sendRequest },
    areas.fieldset,
    period.fieldset,
    html("fieldset", {}, html("legend", {}, "Precision"), ...precision.elements, ...size.elements),
    submit,
  );
  areas.start();
  return form;
}
