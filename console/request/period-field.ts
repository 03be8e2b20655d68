/** The field for the period: its first hour and its length. */
import { buttonTo, html } from "../base/dom.ts";
import { counted } from "../base/numbers.ts";
import { hoursFromNow, inputValue, momentOf, nextHour } from "../base/time.ts";
import { lengths } from "./validation.ts";

interface PeriodField {
  readonly fieldset: HTMLFieldSetElement;
  readonly hours: () => number;
  /** Start of the period; undefined while the field is empty. */
  readonly from: () => Date | undefined;
  readonly set: (period: { readonly from?: Date; readonly hours?: number }) => void;
}

/** Creates the field, set to the 24 hours from `nextHour`. */
export function periodField(maxHours: number, onChange: () => void): PeriodField {
  let chosen: Date | undefined = nextHour();
  const from = html("input", {
    id: "from",
    type: "datetime-local",
    step: 3_600,
    required: true,
    value: inputValue(chosen),
    input: () => {
      chosen = momentOf(from.value);
      onChange();
    },
  });
  const length = html(
    "select",
    { id: "hours", change: onChange },
    ...lengths
      .filter(({ hours }) => hours <= maxHours)
      .map(({ hours, name }) => html("option", { value: hours, selected: hours === 24 }, name)),
  );
  const set: PeriodField["set"] = ({ from: start, hours }) => {
    chosen = start ?? chosen;
    // The time zone may be another one than before.
    if (chosen !== undefined) from.value = inputValue(chosen);
    if (hours === undefined) return;
    const isOffered = [...length.options].some(({ value }) => value === String(hours));
    if (!isOffered) length.append(html("option", { value: hours }, counted(hours, "hour")));
    length.value = String(hours);
  };
  const preset = (name: string, start: () => Date) => {
    const choose = () => {
      set({ from: start(), hours: 24 });
      onChange();
    };
    return buttonTo(name, choose, { class: "chip" });
  };
  const fieldset = html(
    "fieldset",
    {},
    html("legend", {}, "Period"),
    html(
      "div",
      { class: "row" },
      preset("Next 24 hours", nextHour),
      preset("Last 24 hours", () => hoursFromNow(-24)),
    ),
    html(
      "div",
      { class: "columns" },
      html("div", {}, html("label", { for: "from" }, "From"), from),
      html("div", {}, html("label", { for: "hours" }, "For"), length),
    ),
  );
  return { fieldset, hours: () => Number(length.value), from: () => chosen, set };
}
