/** Two fields for the hour on view, its day of the week and its hour of the day, and a button for the current hour. */
import { buttonTo, html } from "../base/dom.ts";
import { clockLabel, weekdayOf } from "../base/time.ts";
import { clocksOf, weekdays } from "./day-and-hour.ts";

interface DayAndHourFields {
  readonly element: HTMLElement;
  readonly show: (hour: Date) => void;
}

/**
 * Creates the fields.
 * @param onPick is called with the day of the week and the hour of the day that are wanted
 * @param onNow is called where the current hour is wanted
 */
export function dayAndHourFields(
  onPick: (weekday: string, clock: string) => void,
  onNow: () => void,
): DayAndHourFields {
  const pick = (): void => onPick(day.value, hour.value);
  const field = (label: string) => html("select", { "aria-label": label, change: pick });
  const fill = (select: HTMLSelectElement, options: readonly string[]) =>
    select.replaceChildren(...options.map((option) => html("option", { value: option }, option)));
  const day = field("Day of the week");
  const hour = field("Hour of the day");
  fill(day, weekdays);
  const now = buttonTo("Now", onNow, { class: "chip", title: "Show the current hour" });
  const element = html("div", { class: "day-and-hour" }, day, hour, now);
  const show = (shown: Date) => {
    const clocks = clocksOf(shown);
    // Zones, and the same zone in another half of the year, have hours that begin at other minutes.
    if (hour.options[0]?.value !== clocks[0]) fill(hour, clocks);
    day.value = weekdayOf(shown);
    hour.value = clocks.find((clock) => clock.slice(0, 2) === clockLabel(shown).slice(0, 2)) ?? "";
  };
  return { element, show };
}
