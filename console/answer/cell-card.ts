/** The card of a cell: its values in the current hour, and a chart of all hours. */

import { beside, type Rectangle } from "../base/beside.ts";
import { buttonTo, element, html } from "../base/dom.ts";
import { percent, squareKilometres, whole } from "../base/numbers.ts";
import { hourLabel, timeLabel } from "../base/time.ts";
import { basisText } from "../data/basis.ts";
import { cellArea } from "../data/cells.ts";
import { type Densities, isPartlyCovered, type Value } from "../data/densities.ts";
import { cellChart } from "./cell-chart.ts";
import { foldLegend } from "./legend.ts";

interface ShownCell {
  readonly densities: Densities;
  /** The index of the cell in the answer. */
  readonly index: number;
  readonly hour: number;
  /** Smaller counts are not published. */
  readonly threshold: number;
  readonly close: () => void;
}

/** Shows the card of a cell, or hides it. */
export function showCell(shown: ShownCell | undefined): void {
  const place = element("cell");
  const wasOpen = place.querySelector("details")?.open ?? false;
  place.replaceChildren();
  const card = shown && cellCard(shown, wasOpen);
  if (card !== undefined) place.append(card);
}

/**
 * Moves the card beside its cell on the map, where it covers neither the legend nor, if possible, the map's buttons. A
 * legend that leaves no room is folded, unless the user has opened it since the cell was chosen. On a phone, the card
 * stays below the map.
 */
export function placeCell(cell: Rectangle): void {
  const place = element("cell");
  const card = place.firstElementChild;
  if (!(card instanceof HTMLElement) || getComputedStyle(card).position === "static") return;
  card.style.maxHeight = "";
  const size = { width: card.offsetWidth, height: card.offsetHeight };
  const stage = { width: place.clientWidth, height: place.clientHeight };
  const placeAvoiding = (...selectors: readonly string[]) =>
    beside(cell, size, stage, selectors.flatMap(rectanglesOf));
  const placeAfterFolding = () => {
    foldLegend();
    return placeAvoiding("#legend > *");
  };
  const { left, top } =
    placeAvoiding("#legend > *", "#map-note > *", ".maplibregl-ctrl-group") ??
    placeAvoiding("#legend > *") ??
    placeAfterFolding() ??
    aboveLegend(card, stage.width);
  card.style.left = `${Math.round(left)}px`;
  card.style.top = `${Math.round(top)}px`;
}

/** The upper right corner, where a card is only as high as the folded legend leaves room. */
function aboveLegend(card: HTMLElement, width: number): Pick<Rectangle, "left" | "top"> {
  const [gap, minHeight] = [12, 160];
  const [legend] = rectanglesOf("#legend > *");
  if (legend !== undefined) card.style.maxHeight = `${Math.max(minHeight, legend.top - 2 * gap)}px`;
  return { left: width - card.offsetWidth - gap, top: gap };
}

/** Where elements are, in pixels of the stage. */
function rectanglesOf(selector: string): Rectangle[] {
  const origin = element("cell").getBoundingClientRect();
  return [...document.querySelectorAll(selector)].map((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return { left: left - origin.left, top: top - origin.top, width, height };
  });
}

function cellCard(
  { densities, index, hour, threshold, close }: ShownCell,
  isOpen: boolean,
): HTMLElement | undefined {
  const geohash = densities.geohashes[index];
  const shown = densities.hours[hour];
  const value = shown?.values[index];
  if (geohash === undefined || shown === undefined || value === undefined) return undefined;
  const basis = basisText(shown);
  const title = html(
    "h2",
    { id: "cell-title" },
    html("span", { class: "note" }, "Cell "),
    html("code", {}, geohash),
  );
  return html(
    "section",
    { class: "card cell", "aria-labelledby": "cell-title" },
    html(
      "div",
      { class: "row spread" },
      title,
      buttonTo("×", close, { class: "close", "aria-label": "Close the cell" }),
    ),
    html("p", { class: "note" }, hourLabel(shown.start, shown.end), basis !== "" && ` · ${basis}`),
    html("p", { class: "figure" }, describe(value, threshold)),
    coverageNote(value, densities.coveredShares[index] ?? 1),
    figures(value, cellArea(geohash)),
    densities.hours.some(({ values: all }) => all[index]?.density !== undefined) &&
      cellChart(densities, index, hour),
    html(
      "details",
      { open: isOpen },
      html("summary", {}, "All hours"),
      html(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "All hours" },
        hourTable(densities, index, threshold),
      ),
    ),
  );
}

/** A value in words. */
function describe({ dataType, density = 0 }: Value, threshold: number): string {
  if (dataType === "NO_DATA") return "No data";
  return dataType === "LOW_DENSITY"
    ? `Below ${threshold} people: not published`
    : `${whole(density)} people per km²`;
}

/** Says how much of a cell at the edge is covered, and how dense that part is. */
function coverageNote({ density }: Value, share: number): HTMLElement | false {
  if (!isPartlyCovered(share)) return false;
  const there = density === undefined ? "" : `; there about ${whole(density / share)} per km²`;
  return html("p", { class: "note coverage-note" }, `${percent(share)} covered${there}`);
}

/** The area of a cell and, if its density is published, range and people. */
function figures({ density, min, max }: Value, area: number): HTMLElement {
  const published =
    density === undefined || min === undefined || max === undefined
      ? []
      : [
          ["Range", `${whole(min)}–${whole(max)} per km²`],
          ["People in the cell", `about ${whole(density * area)}`],
        ];
  const size = ["Area", squareKilometres(area)];
  return html(
    "dl",
    {},
    ...[...published, size].flatMap(([term, text]) => [html("dt", {}, term), html("dd", {}, text)]),
  );
}

function hourTable({ hours }: Densities, index: number, threshold: number): HTMLTableElement {
  const rows = hours.map(({ start, values }) => {
    const value = values[index] ?? { dataType: "NO_DATA" };
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, timeLabel(start)),
      html("td", {}, describe(value, threshold)),
    );
  });
  const head = html("tr", {}, html("th", { scope: "col" }, "Hour"), html("th", { scope: "col" }, "Density"));
  return html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
}
