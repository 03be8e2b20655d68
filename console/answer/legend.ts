import { element, html } from "../dom.ts";
import { dots, hatching, swatchOf } from "../map/patterns.ts";
import { whole } from "../numbers.ts";
import { isDark } from "../theme.ts";
import { coloursOf, type Scale } from "./scale.ts";

/** Shows the meaning of the cells' colours and patterns. */
export function showLegend(scale: Scale, threshold: number): void {
  element("legend").replaceChildren(
    html(
      "details",
      { class: "card legend", open: matchMedia("(min-width: 760px)").matches },
      html("summary", {}, "People per km²"),
      html(
        "ul",
        {},
        ...classRows(scale).toReversed(),
        patternRow(hatching(), `Below ${threshold} people: not published`),
        patternRow(dots(), "No data"),
      ),
    ),
  );
}

/** Hides the legend. */
export function hideLegend(): void {
  element("legend").replaceChildren();
}

/** One row for each class of the scale, in ascending order. */
function classRows(scale: Scale): HTMLElement[] {
  const ends = [scale.min, ...scale.breaks];
  return coloursOf(scale, isDark()).map((colour, index) => {
    const swatch = html("span", { class: "swatch" });
    swatch.style.backgroundColor = colour;
    const from = whole(ends[index] ?? 0);
    const to = ends[index + 1];
    return html("li", {}, swatch, to === undefined ? `${from} and more` : `${from}–${whole(to)}`);
  });
}

function patternRow(pattern: ImageData, text: string): HTMLElement {
  return html("li", {}, html("span", { class: "swatch" }, swatchOf(pattern)), text);
}
