/** Two fields for the hour on view: its day of the week, and its hour of the day. */
import { html } from "../base/dom.ts";
import { hourOfDay, weekdayOf } from "../base/time.ts";
import { clocks, weekdays } from "./day-and-hour.ts";

interface DayAndHourFields {
  readonly element: HTMLElement;
  readonly show: (hour: Date) => void;
}

/** Creates the fields. @param onPick is called with the day of the week and the hour of the day that are wanted */
export function dayAndHourFields(onPick: (weekday: string, clock: string) => void): DayAndHourFields {
  const pick = (): void => onPick(day.value, hour.value);
  const field = (label: string, options: readonly string[]) =>
    html(
      "select",
      { "aria-label": label, change: pick },
      ...options.map((option) => html("option", { value: option }, option)),
    );
  const day = field("Day of the week", weekdays);
  const hour = field("Hour of the day", clocks);
  const element = html("div", { class: "day-and-hour" }, day, hour);
  const show = (shown: Date) => {
    day.value = weekdayOf(shown);
    hour.value = clocks[hourOfDay(shown)] ?? "";
  };
  return { element, show };
}
