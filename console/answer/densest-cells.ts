import { buttonTo, html } from "../base/dom.ts";
import { whole } from "../base/numbers.ts";
import type { Densities, Hour } from "../data/densities.ts";
import { type HourTable, hourTable } from "./hour-table.ts";

const maxListed = 10;

/** Creates the list of the densest cells, which makes cells accessible by keyboard. */
export function densestCells({ geohashes }: Densities, onCell: (index: number) => void): HourTable {
  const row = ({ cell, density }: { readonly cell: number; readonly density: number }) => {
    const choose = buttonTo(geohashes[cell], () => onCell(cell), { class: "link" });
    return html("tr", {}, html("td", {}, choose), html("td", { class: "number" }, whole(density)));
  };
  const columns = ["Cell", "People per km²"];
  return hourTable({ title: "Densest cells", columns }, (hour) => densestOf(hour).map(row));
}

function densestOf({ values }: Hour) {
  return values
    .flatMap(({ density }, cell) => (density === undefined ? [] : [{ cell, density }]))
    .sort((one, other) => other.density - one.density)
    .slice(0, maxListed);
}
