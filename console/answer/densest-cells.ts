import { html } from "../base/dom.ts";
import { whole } from "../base/numbers.ts";
import { panel } from "../base/panel.ts";
import type { Densities, Hour } from "../data/densities.ts";
import { whileOpen } from "./while-open.ts";

const maxListed = 10;

interface DensestCells {
  readonly element: HTMLElement;
  readonly showHour: (hour: Hour) => void;
}

/** Creates the list of the densest cells, which makes cells accessible by keyboard. */
export function densestCells({ geohashes }: Densities, onCell: (index: number) => void): DensestCells {
  const rows = html("tbody");
  const row = ({ cell, density }: { readonly cell: number; readonly density: number }) => {
    const choose = html(
      "button",
      { type: "button", class: "link", click: () => onCell(cell) },
      geohashes[cell],
    );
    return html("tr", {}, html("td", {}, choose), html("td", { class: "number" }, whole(density)));
  };
  const head = html(
    "tr",
    {},
    html("th", { scope: "col" }, "Cell"),
    html("th", { scope: "col", class: "number" }, "People per km²"),
  );
  const element = panel("Densest cells", {}, html("table", {}, html("thead", {}, head), rows));
  return {
    element,
    showHour: whileOpen(element, (hour) => rows.replaceChildren(...densestOf(hour).map(row))),
  };
}

function densestOf({ values }: Hour) {
  return values
    .flatMap(({ density }, cell) => (density === undefined ? [] : [{ cell, density }]))
    .sort((one, other) => other.density - one.density)
    .slice(0, maxListed);
}
