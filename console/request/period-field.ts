/** The field for the period: its first hour and its length. */
import { html } from "../dom.ts";
import { afterHours, hoursFromNow, inputValue } from "../time.ts";

const lengths: readonly { readonly hours: number; readonly name: string }[] = [
  { hours: 1, name: "1 hour" },
  { hours: 6, name: "6 hours" },
  { hours: 24, name: "1 day" },
  { hours: 48, name: "2 days" },
  { hours: 168, name: "7 days" },
];

interface PeriodField {
  readonly fieldset: HTMLFieldSetElement;
  readonly hours: () => number;
  /** In the API's format. */
  readonly period: () => { readonly startTime: string; readonly endTime: string };
}

/** Creates the field, set to the next 24 hours. */
export function periodField(maxHours: number, onChange: () => void): PeriodField {
  const from = html("input", {
    id: "from",
    type: "datetime-local",
    step: 3_600,
    required: true,
    value: inputValue(hoursFromNow(1)),
    input: onChange,
  });
  const length = html(
    "select",
    { id: "hours", change: onChange },
    ...lengths
      .filter(({ hours }) => hours <= maxHours)
      .map(({ hours, name }) => html("option", { value: hours, selected: hours === 24 }, name)),
  );
  const preset = (name: string, offset: number) => {
    const choose = () => {
      from.value = inputValue(hoursFromNow(offset));
      length.value = "24";
      onChange();
    };
    return html("button", { type: "button", class: "chip", click: choose }, name);
  };
  const fieldset = html(
    "fieldset",
    {},
    html("legend", {}, "Period"),
    html("div", { class: "row" }, preset("Next 24 hours", 1), preset("Last 24 hours", -24)),
    html(
      "div",
      { class: "columns" },
      html("div", {}, html("label", { for: "from" }, "From"), from),
      html("div", {}, html("label", { for: "hours" }, "For"), length),
    ),
  );
  const hours = () => Number(length.value);
  const period = () => {
    const start = new Date(from.value);
    return { startTime: start.toISOString(), endTime: afterHours(start, hours()).toISOString() };
  };
  return { fieldset, hours, period };
}
