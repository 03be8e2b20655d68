import { element, html } from "../dom.ts";
import { dots, hatching, swatchOf } from "../map/patterns.ts";
import { whole } from "../numbers.ts";
import { isDark } from "../theme.ts";
import { coloursOf, type Scale } from "./scale.ts";

/** Shows what the colours and the patterns of the cells mean; hides the legend without a scale. */
export function showLegend(scale: Scale | undefined, threshold: number): void {
  const legend = element("legend");
  legend.replaceChildren();
  if (scale === undefined) return;
  const ends = [scale.min, ...scale.breaks];
  const rows = coloursOf(scale, isDark()).map((colour, index) => {
    const swatch = html("span", { class: "swatch" });
    swatch.style.backgroundColor = colour;
    const next = ends[index + 1];
    const from = whole(ends[index] ?? 0);
    return html("li", {}, swatch, next === undefined ? `${from} and more` : `${from}–${whole(next)}`);
  });
  const patterned = (image: ImageData, text: string) =>
    html("li", {}, html("span", { class: "swatch" }, swatchOf(image)), text);
  legend.replaceChildren(
    html(
      "details",
      { class: "card legend", open: matchMedia("(min-width: 760px)").matches },
      html("summary", {}, "People per km²"),
      html(
        "ul",
        {},
        ...rows.toReversed(),
        patterned(hatching(), `Below ${threshold} people: not published`),
        patterned(dots(), "No data"),
      ),
    ),
  );
}
