import {
  CellsByClass,
  type GroundRiskClass,
  populationBandOf,
} from "../../functions/population-density/summary/ground-risk.ts";
import { html } from "../base/dom.ts";
import { percent, squareKilometres, whole } from "../base/numbers.ts";
import { hourLabel } from "../base/time.ts";
import type { Hour } from "../data/densities.ts";
import type { CellSizes } from "./cell-sizes.ts";
import { headlineOf, peopleIn } from "./headline.ts";
import { type HourTable, hourTable } from "./hour-table.ts";

const labels: Readonly<Record<GroundRiskClass, string>> = {
  BELOW_5: "Below 5",
  BELOW_50: "5 to 50",
  BELOW_500: "50 to 500",
  BELOW_5000: "500 to 5,000",
  BELOW_50000: "5,000 to 50,000",
  FROM_50000: "50,000 and more",
  LOW_DENSITY: "Suppressed",
  NO_DATA: "No data",
};

const tableNote =
  "Population bands of SORA 2.5 in this hour, by the upper end of each range. Ground is that of whole cells.";

/** Creates the table of the cells in each population band of SORA 2.5 in an hour, with their ground. */
export function groundRisk({ whole: areas }: CellSizes): HourTable {
  const columns = ["People per km²", "Cells", "Ground"];
  const options = { title: "Ground risk", name: "ground-risk", note: tableNote, columns };
  return hourTable(options, (hour) => rowsOf(hour, areas));
}

/** What the densities of an hour mean for a flight, in a sentence. */
export function riskText({ values }: Hour, { whole: areas }: CellSizes): string {
  const classes = classesOf(values, areas).list();
  const bands = classes.filter(
    ({ class: name, cells }) => cells > 0 && name !== "LOW_DENSITY" && name !== "NO_DATA",
  );
  const highest = bands.at(-1);
  if (highest === undefined) return "";
  const area = bands.reduce((sum, { areaKm2 }) => sum + areaKm2, 0);
  const share = percent(highest.areaKm2 / area);
  return `Ground risk (SORA 2.5): highest band ${labels[highest.class].toLowerCase()} per km², on ${share} of the ground.`;
}

/** A row for each class that has a cell. */
function rowsOf({ values }: Hour, areas: readonly number[]): HTMLElement[] {
  return classesOf(values, areas)
    .list()
    .filter(({ cells }) => cells > 0)
    .map(({ class: name, cells, areaKm2 }) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, labels[name]),
        html("td", { class: "number" }, whole(cells)),
        html("td", { class: "number" }, squareKilometres(areaKm2)),
      ),
    );
}

function classesOf(values: Hour["values"], areas: readonly number[]): CellsByClass {
  const classes = new CellsByClass();
  for (const [index, { dataType, max }] of values.entries()) {
    const isEstimate = dataType === "DENSITY_ESTIMATION";
    classes.add(isEstimate ? populationBandOf(max ?? 0) : dataType, areas[index] ?? 0);
  }
  return classes;
}

/** The hours with the fewest and the most people, the first of equals; nothing for a single hour. */
export function extremesOf(hours: readonly Hour[], sizes: CellSizes): HTMLElement | false {
  const known = hours
    .filter(({ counts }) => counts.DENSITY_ESTIMATION > 0)
    .map((hour) => ({ hour, people: peopleIn(hour, sizes) }));
  const [quietest] = known.toSorted((one, other) => one.people - other.people);
  const [busiest] = known.toSorted((one, other) => other.people - one.people);
  if (quietest === undefined || busiest === undefined || quietest === busiest) return false;
  const row = (term: string, { hour }: { readonly hour: Hour }) =>
    html(
      "div",
      {},
      html("dt", {}, term),
      html("dd", {}, `${headlineOf(hour, sizes).people}, ${hourLabel(hour.start, hour.end)}`),
    );
  return html("dl", { class: "extremes" }, row("Quietest hour", quietest), row("Busiest hour", busiest));
}
