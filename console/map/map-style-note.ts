import type { Map as MapLibreMap } from "maplibre-gl";
import { element, html } from "../dom.ts";

/** From this zoom on, one would expect streets. */
const streetZoom = 10;

/** Says, where the base map has no streets, how the operator gets some. */
export function offerMapStyle(map: MapLibreMap): void {
  const text = [
    "This map has what the service has itself. With the setting ",
    html("code", {}, "MAP_STYLE"),
    ", it shows the operator’s own: the https address of a MapLibre style, or of a ",
    html("code", {}, ".pmtiles"),
    " archive.",
  ];
  const offer = html(
    "details",
    { class: "card map-style-offer" },
    html("summary", {}, "No streets?"),
    html("p", {}, ...text),
  );
  const show = () => {
    offer.hidden = map.getZoom() < streetZoom;
  };
  map.on("zoomend", show);
  show();
  element("map-note").replaceChildren(offer);
}

/** Says why the base map is shown instead of the operator's. */
export function showMapStyleProblem({ message }: Error): void {
  const note = html(
    "div",
    { class: "card map-style-offer", role: "status" },
    html("p", {}, "The operator’s map cannot be loaded, so this is the service’s own. ", message),
  );
  element("map-note").replaceChildren(note);
}
