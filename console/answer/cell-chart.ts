/** What is known of one cell: its values in the chosen hour, and a chart over all hours. */

import { element, html, svg } from "../dom.ts";
import { whole } from "../numbers.ts";
import { clockLabel, hourLabel, timeLabel } from "../time.ts";
import { cellArea, type Densities, type Value } from "./cells.ts";

const width = 320;
const height = 120;
const margin = { top: 8, right: 6, bottom: 20, left: 54 };

/** What a value says, in words. */
function valueText({ dataType, density = 0 }: Value, threshold: number): string {
  if (dataType === "NO_DATA") return "No data";
  return dataType === "LOW_DENSITY"
    ? `Below ${threshold} people: not published`
    : `${whole(density)} people per km²`;
}

interface ShownCell {
  readonly densities: Densities;
  readonly index: number;
  readonly hour: number;
  readonly threshold: number;
  readonly close: () => void;
}

/** Shows a cell, or hides what was shown. */
export function showCell(shown: ShownCell | undefined): void {
  const place = element("cell");
  const wasOpen = place.querySelector("details")?.open ?? false;
  place.replaceChildren();
  if (shown === undefined) return;
  const { densities, index, hour, threshold, close } = shown;
  const geohash = densities.geohashes[index];
  const at = densities.hours[hour];
  const value = at?.values[index];
  if (geohash === undefined || at === undefined || value === undefined) return;
  const { density, min, max } = value;
  const area = cellArea(geohash);
  const figures =
    density === undefined || min === undefined || max === undefined
      ? []
      : [
          ["Range", `${whole(min)}–${whole(max)} per km²`],
          ["People in the cell", `about ${whole(density * area)}`],
        ];
  place.replaceChildren(
    html(
      "section",
      { class: "card cell", "aria-labelledby": "cell-title" },
      html(
        "div",
        { class: "row spread" },
        html("h2", { id: "cell-title" }, html("span", { class: "note" }, "Cell "), html("code", {}, geohash)),
        html("button", { type: "button", class: "close", "aria-label": "Close the cell", click: close }, "×"),
      ),
      html("p", { class: "note" }, hourLabel(at.start, at.end)),
      html("p", { class: "figure" }, valueText(value, threshold)),
      html(
        "dl",
        {},
        ...[...figures, ["Area", `${area < 1 ? area.toPrecision(3) : whole(area)} km²`]].flatMap(
          ([term, text]) => [html("dt", {}, term), html("dd", {}, text)],
        ),
      ),
      chart(densities, index, hour),
      html(
        "details",
        { open: wasOpen },
        html("summary", {}, "All hours"),
        html(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "All hours" },
          table(densities, index, threshold),
        ),
      ),
    ),
  );
}

function table({ hours }: Densities, index: number, threshold: number): HTMLTableElement {
  const rows = hours.map(({ start, values }) => {
    const value = values[index] ?? { dataType: "NO_DATA" };
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, timeLabel(start)),
      html("td", {}, valueText(value, threshold)),
    );
  });
  const head = html("tr", {}, html("th", { scope: "col" }, "Hour"), html("th", { scope: "col" }, "Density"));
  return html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
}

/** Density by hour as a line, its range as a band; hours without a number are marked at the bottom. */
function chart({ hours }: Densities, index: number, hour: number): SVGSVGElement {
  const values = hours.map(({ values: all }) => all[index] ?? { dataType: "NO_DATA" as const });
  const top = niceTop(Math.max(10, ...values.map(({ max = 0 }) => max)));
  const step = (width - margin.left - margin.right) / values.length;
  const x = (at: number) => margin.left + (at + 0.5) * step;
  const bottom = height - margin.bottom;
  const y = (density: number) => bottom - (density / top) * (bottom - margin.top);
  const point = (at: number, density: number) => `${x(at).toFixed(1)},${y(density).toFixed(1)}`;
  const runs = publishedRuns(values);
  const bands = runs.map((run) => {
    const upper = run.map((at) => point(at, values[at]?.max ?? 0));
    const lower = run.toReversed().map((at) => point(at, values[at]?.min ?? 0));
    return svg("polygon", { points: [...upper, ...lower].join(" "), class: "band" });
  });
  const lines = runs.map((run) =>
    svg("polyline", {
      points: run.map((at) => point(at, values[at]?.density ?? 0)).join(" "),
      class: "line",
    }),
  );
  const marks = values.flatMap(({ dataType }, at) =>
    dataType === "DENSITY_ESTIMATION"
      ? []
      : [
          svg("rect", {
            x: x(at) - step / 2,
            y: bottom - 4,
            width: step,
            height: 4,
            class: `mark ${dataType}`,
          }),
        ],
  );
  const current = values[hour];
  const labels = [0, top / 2, top].map((density) =>
    svg(
      "g",
      {},
      svg("line", {
        x1: margin.left,
        x2: width - margin.right,
        y1: y(density),
        y2: y(density),
        class: "grid",
      }),
      svg("text", { x: margin.left - 6, y: y(density) + 4, "text-anchor": "end" }, whole(density)),
    ),
  );
  const hourLabels = [...new Set([0, Math.floor((hours.length - 1) / 2), hours.length - 1])].map(
    (at, place, all) =>
      svg(
        "text",
        {
          x: x(at),
          y: height - 5,
          "text-anchor":
            all.length === 1 ? "middle" : place === 0 ? "start" : place === all.length - 1 ? "end" : "middle",
        },
        clockLabel(hours[at]?.start ?? new Date()),
      ),
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      class: "chart",
      role: "img",
      "aria-label": "Density by hour, with its range",
    },
    ...labels,
    ...bands,
    svg("line", { x1: x(hour), x2: x(hour), y1: margin.top, y2: bottom, class: "now" }),
    ...marks,
    ...lines,
    current?.density !== undefined &&
      svg("circle", { cx: x(hour), cy: y(current.density), r: 4, class: "dot" }),
    ...hourLabels,
  );
}

/** Hours one after the other that have a number. */
function publishedRuns(values: readonly Value[]): number[][] {
  const runs: number[][] = [];
  for (const [at, { dataType }] of values.entries()) {
    if (dataType !== "DENSITY_ESTIMATION") continue;
    const run = runs.at(-1);
    if (run?.at(-1) === at - 1) run.push(at);
    else runs.push([at]);
  }
  return runs;
}

/** The next of 1, 2, 4, 5, 10, 20, … that is not below a density. */
function niceTop(max: number): number {
  const unit = 10 ** Math.floor(Math.log10(max));
  return ([1, 2, 4, 5, 10].find((factor) => factor * unit >= max) ?? 10) * unit;
}
