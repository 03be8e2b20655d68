import { element, html } from "../dom.ts";
import { dots, hatching, swatchOf } from "../map/patterns.ts";
import { whole } from "../numbers.ts";
import { segments } from "../request/segments.ts";
import { isDark } from "../theme.ts";
import { cellOpacity, coloursOf, type Scale } from "./scale.ts";

/** The scales to choose from: the same for all answers, or made for the one that is shown. */
const scaleNames = ["All answers", "This answer"] as const;

/** The name of a scale. */
export type ScaleName = (typeof scaleNames)[number];

interface LegendOptions {
  readonly scale: Scale;
  readonly name: ScaleName;
  /** Smaller counts are not published. */
  readonly threshold: number;
  /** Called when the user chooses another scale. */
  readonly onScale: (name: ScaleName) => void;
}

/** Shows the meaning of the map's colours, patterns and lines. */
export function showLegend({ scale, name, threshold, onScale }: LegendOptions): void {
  const place = element("legend");
  const isOpen = place.querySelector("details")?.open ?? matchMedia("(min-width: 760px)").matches;
  const choice = segments("scale", scaleNames, name, onScale);
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-labelledby", "scale-label");
  place.replaceChildren(
    html(
      "details",
      { class: "card legend", open: isOpen },
      html("summary", { click: leaveToUser }, "People per km²"),
      html(
        "ul",
        {},
        ...classRows(scale).toReversed(),
        patternRow(hatching(), `Below ${threshold} people: not published`),
        patternRow(dots(), "No data"),
        lineRow("area-line", "Edge of the area"),
        lineRow("coverage-line", "Edge of what is covered"),
      ),
      html("p", { class: "note", id: "scale-label" }, "One scale for"),
      choice,
    ),
  );
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

/** Hides the legend. */
export function hideLegend(): void {
  element("legend").replaceChildren();
}

/** One row for each class of the scale, in ascending order. */
function classRows({ breaks }: Scale): HTMLElement[] {
  return coloursOf({ breaks }, isDark()).map((colour, index) => {
    const swatch = html("span", { class: "swatch" });
    swatch.style.backgroundColor = colour;
    swatch.style.opacity = String(cellOpacity);
    return html("li", {}, swatch, classText(breaks[index - 1], breaks[index]));
  });
}

function classText(from: number | undefined, to: number | undefined): string {
  if (from === undefined) return to === undefined ? "All" : `Below ${whole(to)}`;
  return to === undefined ? `${whole(from)} and more` : `${whole(from)}–${whole(to)}`;
}

function patternRow(pattern: ImageData, text: string): HTMLElement {
  return html("li", {}, html("span", { class: "swatch" }, swatchOf(pattern)), text);
}

function lineRow(line: string, text: string): HTMLElement {
  return html("li", {}, html("span", { class: `line-swatch ${line}` }), text);
}
