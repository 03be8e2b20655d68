/** The chart of one cell: its density by hour as a line, with its range as a band. */
import { svg } from "../base/dom.ts";
import { whole } from "../base/numbers.ts";
import { clockLabel } from "../base/time.ts";
import type { Densities, Value } from "../data/densities.ts";
import { ticksFor } from "./ticks.ts";

const width = 320;
const height = 108;
const margin = { top: 8, right: 6, bottom: 20, left: 54 };
const bottom = height - margin.bottom;

/** The scales of the chart. */
interface Axes {
  /** The width of an hour. */
  readonly step: number;
  /** Densities with a label, from the bottom of the chart to its top. */
  readonly ticks: readonly number[];
  /** The middle of an hour. */
  readonly x: (hour: number) => number;
  readonly y: (density: number) => number;
}

/** Draws the chart; hours without a number are marked at the bottom. */
export function cellChart({ hours }: Densities, index: number, hour: number): SVGSVGElement {
  const values = hours.map(({ values: all }) => all[index] ?? { dataType: "NO_DATA" as const });
  const axes = axesFor(values);
  const { x, y } = axes;
  const runs = publishedRuns(values);
  const density = values[hour]?.density;
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      class: "chart",
      role: "img",
      "aria-label": "Density by hour, with its range",
    },
    ...densityLabels(axes),
    ...runs.map((run) => rangeBand(run, values, axes)),
    svg("line", { x1: x(hour), x2: x(hour), y1: margin.top, y2: bottom, class: "now" }),
    ...missingMarks(values, axes),
    ...runs.map((run) => densityLine(run, values, axes)),
    density !== undefined && svg("circle", { cx: x(hour), cy: y(density), r: 4, class: "dot" }),
    ...hourLabels(
      hours.map(({ start }) => start),
      axes,
    ),
  );
}

function axesFor(values: readonly Value[]): Axes {
  const ticks = ticksFor(Math.max(...values.flatMap(({ max }) => max ?? [])));
  const high = ticks.at(-1) ?? 1;
  const step = (width - margin.left - margin.right) / values.length;
  return {
    step,
    ticks,
    x: (hour) => margin.left + (hour + 0.5) * step,
    y: (density) => bottom - (density / high) * (bottom - margin.top),
  };
}

/** Runs of successive hours with a number. */
function publishedRuns(values: readonly Value[]): number[][] {
  const runs: number[][] = [];
  for (const [hour, { dataType }] of values.entries()) {
    if (dataType !== "DENSITY_ESTIMATION") continue;
    const run = runs.at(-1);
    if (run?.at(-1) === hour - 1) run.push(hour);
    else runs.push([hour]);
  }
  return runs;
}

/** The points of an SVG shape. */
function pointsOf(hours: readonly number[], { x, y }: Axes, density: (hour: number) => number): string {
  return hours.map((hour) => `${x(hour).toFixed(1)},${y(density(hour)).toFixed(1)}`).join(" ");
}

function rangeBand(run: readonly number[], values: readonly Value[], axes: Axes): SVGElement {
  const upper = pointsOf(run, axes, (hour) => values[hour]?.max ?? 0);
  const lower = pointsOf(run.toReversed(), axes, (hour) => values[hour]?.min ?? 0);
  return svg("polygon", { points: `${upper} ${lower}`, class: "band" });
}

function densityLine(run: readonly number[], values: readonly Value[], axes: Axes): SVGElement {
  return svg("polyline", {
    points: pointsOf(run, axes, (hour) => values[hour]?.density ?? 0),
    class: "line",
  });
}

function missingMarks(values: readonly Value[], { step, x }: Axes): SVGElement[] {
  return [...values.entries()]
    .filter(([, { dataType }]) => dataType !== "DENSITY_ESTIMATION")
    .map(([hour, { dataType }]) =>
      svg("rect", {
        x: x(hour) - step / 2,
        y: bottom - 4,
        width: step,
        height: 4,
        class: `mark ${dataType}`,
      }),
    );
}

function densityLabels({ ticks, y }: Axes): SVGElement[] {
  return ticks.map((density) =>
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
}

/** Labels with the times of the first, the middle and the last hour. */
function hourLabels(starts: readonly Date[], { x }: Axes): SVGElement[] {
  const last = starts.length - 1;
  const labelled = [...new Set([0, Math.floor(last / 2), last])];
  return labelled.map((hour, place) => {
    const isFirst = place === 0 && labelled.length > 1;
    const isLast = place === labelled.length - 1 && labelled.length > 1;
    const anchor = isFirst ? "start" : isLast ? "end" : "middle";
    return svg(
      "text",
      { x: x(hour), y: height - 5, "text-anchor": anchor },
      clockLabel(starts[hour] ?? new Date()),
    );
  });
}
