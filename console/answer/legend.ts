import { element, html } from "../base/dom.ts";
import { compact, counted, whole } from "../base/numbers.ts";
import { segments } from "../base/segments.ts";
import { isDark } from "../base/theme.ts";
import {
  cellOpacity,
  coloursOf,
  labelledClasses,
  type Scale,
  type ScaleName,
  scaleNames,
} from "../data/scale.ts";
import { dots, hatching, strokes, swatchOf } from "../map/patterns.ts";

interface LegendOptions {
  readonly scale: Scale;
  readonly name: ScaleName;
  /** Smaller counts are not published. */
  readonly threshold: number;
  /** Whether a cell of the answer is covered in part. */
  readonly hasPartlyCovered: boolean;
  /** Called when the user chooses another scale. */
  readonly onScale: (name: ScaleName) => void;
}

/** Shows the meaning of the map's colours, patterns and lines. The colours stay when the rest is folded. */
export function showLegend({ scale, name, threshold, hasPartlyCovered, onScale }: LegendOptions): void {
  const place = element("legend");
  const isOpen = place.querySelector("details")?.open ?? matchMedia("(min-width: 760px)").matches;
  const choice = segments("scale", scaleNames, name, onScale);
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-label", "Scale of colours");
  place.replaceChildren(
    html(
      "section",
      { class: "card legend", "aria-label": "Legend" },
      html("h2", {}, scale.isOfDifferences ? "More or fewer people per km²" : "People per km²"),
      ramp(scale),
      html(
        "details",
        { open: isOpen },
        html("summary", { click: leaveToUser }, "Patterns and lines"),
        html(
          "ul",
          { class: "symbols" },
          patternRow(hatching(), `Below ${threshold} people: not published`),
          patternRow(dots(), "No data"),
          hasPartlyCovered && patternRow(strokes(), "Covered in part"),
          lineRow("area-line", "Edge of the area"),
          lineRow("coverage-line", "Edge of what is covered"),
        ),
        !scale.isOfDifferences && choice,
      ),
    ),
  );
}

/** Shows how many cells have each colour in the hour that is shown. */
export function showHistogram(counts: readonly number[], scale: Scale): void {
  const max = Math.max(1, ...counts);
  for (const [index, item] of [...element("legend").querySelectorAll<HTMLElement>(".ramp li")].entries()) {
    const count = counts[index] ?? 0;
    const bar = item.querySelector<HTMLElement>(".count");
    if (bar !== null) bar.style.height = `${count === 0 ? 0 : Math.max(4, (100 * count) / max)}%`;
    const text = item.querySelector(".hidden-text");
    if (text !== null) text.textContent = `${classText(index, scale)}: ${counted(count, "cell")}`;
    item.title = text?.textContent ?? "";
  }
}

/** Whether the legend was open before it was folded for a card. */
let isFoldedForCard = false;

/** Whether the user has opened or folded the legend since the cell was chosen. */
let isLeftToUser = false;

function leaveToUser(): void {
  isFoldedForCard = false;
  isLeftToUser = true;
}

/** Folds the legend to make room for a card; does nothing if it is folded, or the user has opened it. */
export function foldLegend(): void {
  const details = element("legend").querySelector("details");
  if (details === null || !details.open || isLeftToUser) return;
  details.open = false;
  isFoldedForCard = true;
}

/** Opens the legend again that was folded to make room; the next card may fold it again. */
export function unfoldLegend(): void {
  const details = element("legend").querySelector("details");
  if (isFoldedForCard && details !== null) details.open = true;
  isFoldedForCard = false;
  isLeftToUser = false;
}

/** The colours in ascending order, each with the share of cells that have it above, and the bounds below. */
function ramp(scale: Scale): HTMLElement {
  const labelled = labelledClasses(scale);
  const middle = scale.isOfDifferences && scale.breaks.length > 0 ? scale.breaks.length / 2 : undefined;
  const items = coloursOf(scale, isDark()).map((colour, index) => {
    const swatch = html("span", { class: "colour" });
    swatch.style.backgroundColor = colour;
    swatch.style.opacity = String(cellOpacity);
    const bar = html("span", { class: "count" });
    bar.style.backgroundColor = colour;
    return html(
      "li",
      {},
      html("span", { class: "counts-of-class" }, bar),
      swatch,
      html("span", { class: "hidden-text" }, classText(index, scale)),
      scale.breaks.length === 0 &&
        html("span", { class: "only bound", "aria-hidden": "true" }, onlyClassText(scale)),
      labelled.includes(index) && boundLabel(scale.breaks[index] ?? 0, scale),
      index === middle && html("span", { class: "bound zero", "aria-hidden": "true" }, "0"),
    );
  });
  return html("ul", { class: "ramp" }, ...items);
}

/** The upper bound of a class, at its right edge. */
function boundLabel(bound: number, { isOfDifferences = false }: Scale): HTMLElement {
  const sign = bound < 0 ? "−" : isOfDifferences ? "+" : "";
  const size = Math.abs(bound);
  // Bounds that are close have more than three digits.
  const text = sign + (size === Number(size.toPrecision(3)) ? compact(size).replace(" ", "") : whole(size));
  return html("span", { class: "bound", "aria-hidden": "true" }, text);
}

function classText(index: number, scale: Scale): string {
  const [from, to] = [scale.breaks[index - 1], scale.breaks[index]];
  const text = (bound: number) => whole(bound).replace("-", "−");
  if (from === undefined) return to === undefined ? onlyClassText(scale) : `Below ${text(to)}`;
  return to === undefined ? `${text(from)} and more` : `${text(from)} to ${text(to)}`;
}

/** The numbers of a scale that has one class. */
function onlyClassText({ range }: Scale): string {
  if (range === undefined) return "No cell has a number";
  const [least, greatest] = range.map(whole);
  return least === greatest ? `${least}` : `${least} to ${greatest}`;
}

function patternRow(pattern: ImageData, text: string): HTMLElement {
  return html("li", {}, html("span", { class: "swatch" }, swatchOf(pattern)), text);
}

function lineRow(line: string, text: string): HTMLElement {
  return html("li", {}, html("span", { class: `line-swatch ${line}` }), text);
}
