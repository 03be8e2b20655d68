/** The map on paper, in the theme of the page: browsers print nothing of what is drawn with WebGL. */
import type { Map as MapLibreMap } from "maplibre-gl";
import { html } from "../base/dom.ts";

/** Puts a picture of the map in its place while the page is printed. */
export function followPrinting(map: MapLibreMap): void {
  const picture = html("canvas");
  const credits = html("p", { class: "note" });
  const printed = html("div", { class: "printed-map" }, picture, credits);
  addEventListener("beforeprint", () => {
    // What is drawn can be read only before the browser shows it.
    map.redraw();
    const drawn = map.getCanvas();
    [picture.width, picture.height] = [drawn.width, drawn.height];
    picture.getContext("2d")?.drawImage(drawn, 0, 0);
    credits.textContent = document.querySelector(".maplibregl-ctrl-attrib-inner")?.textContent ?? "";
    map.getContainer().append(printed);
  });
  addEventListener("afterprint", () => printed.remove());
}
