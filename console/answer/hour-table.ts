/** Tables of the hour on view, each folded into its title. */
import { html } from "../base/dom.ts";
import { panel } from "../base/panel.ts";
import type { Hour } from "../data/densities.ts";

/** A table in its panel. */
export interface HourTable {
  readonly element: HTMLElement;
  readonly showHour: (hour: Hour) => void;
}

interface HourTableOptions {
  readonly title: string;
  /** Names the panel for its style. */
  readonly name?: string;
  readonly note?: string;
  /** The titles of the columns, of which all but the first have numbers. */
  readonly columns: readonly string[];
}

/** Creates a table, and fills it only while it is open: one that is folded costs nothing while hours are played. */
export function hourTable(options: HourTableOptions, rowsOf: (hour: Hour) => HTMLElement[]): HourTable {
  const { title, note, columns, ...style } = options;
  const rows = html("tbody");
  const head = columns.map((text, index) => html("th", { scope: "col", class: index > 0 && "number" }, text));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...head)), rows);
  let [latest, shown]: readonly (Hour | undefined)[] = [];
  const show = () => {
    if (!element.open || latest === undefined || latest === shown) return;
    shown = latest;
    rows.replaceChildren(...rowsOf(latest));
  };
  const notes = note !== undefined && html("p", { class: "note" }, note);
  const element = panel(title, { ...style, onOpen: show }, notes, table);
  const showHour = (hour: Hour) => {
    latest = hour;
    show();
  };
  return { element, showHour };
}
