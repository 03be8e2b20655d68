/** The map on paper: browsers print nothing of what is drawn with WebGL. */
import type { Map as MapLibreMap } from "maplibre-gl";
import { html } from "../base/dom.ts";
import { drawnMap } from "./picture.ts";

/** Puts a picture of the map in its place while the page is printed. */
export function followPrinting(map: MapLibreMap): void {
  const printed = html("div", { class: "printed-map" });
  addEventListener("beforeprint", () => {
    printed.replaceChildren(drawnMap(map));
    map.getContainer().append(printed);
  });
  addEventListener("afterprint", () => printed.remove());
}
