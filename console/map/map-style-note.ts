import type { Map as MapLibreMap } from "maplibre-gl";
import { copyText } from "../base/copy.ts";
import { buttonTo, element, html } from "../base/dom.ts";
import { extractCommand } from "./extract-command.ts";

/** From this zoom on, one would expect streets. */
const streetZoom = 10;

/** Says, where the base map has no streets, what it lacks, and how the operator gets a map of what is on view. */
export function offerMapStyle(map: MapLibreMap): void {
  const command = html("code", { class: "command" });
  const builds = "https://maps.protomaps.com/builds";
  const offer = html(
    "details",
    { class: "card map-style-offer" },
    html("summary", {}, "No streets?"),
    html(
      "p",
      {},
      "This is the service’s own map. Coasts and borders are coarse, often a kilometre off; roads, buildings, lakes " +
        "and small islands are missing. A map of what is on view by OpenStreetMap (ODbL), with ",
      html("a", { href: builds, target: "_blank", rel: "noopener noreferrer" }, "Protomaps’ builds"),
      ":",
    ),
    html(
      "p",
      {},
      command,
      " ",
      buttonTo("Copy", () => void copyText(command)),
    ),
    html(
      "p",
      {},
      "The setting ",
      html("code", {}, "MAP_STYLE"),
      " has the address where the file is served.",
    ),
  );
  const showCommand = () => {
    const bounds = map.getBounds();
    const [west, south, east, north] = [
      bounds.getWest(),
      bounds.getSouth(),
      bounds.getEast(),
      bounds.getNorth(),
    ];
    command.textContent = extractCommand({ west, south, east, north }, new Date());
  };
  offer.addEventListener("toggle", showCommand);
  map.on("moveend", showCommand);
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
