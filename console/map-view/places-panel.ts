/** The regions that are covered, as a list and on a small map. */
import { buttonTo, html } from "../base/dom.ts";
import { counted, squareKilometres } from "../base/numbers.ts";
import { panel } from "../base/panel.ts";
import type { Box } from "../data/area.ts";
import type { Coverage } from "../data/capabilities.ts";
import { type City, type Region, regionsOf } from "../data/regions.ts";
import { maxAreas } from "../request/fit-areas.ts";
import { overview } from "./overview.ts";

interface PlacesOptions {
  readonly coverage: Coverage;
  readonly cities: readonly City[];
  /** Shows regions: their boxes, with areas to ask for. */
  readonly onRegions: (boxes: readonly Box[]) => void;
}

/** Regions that are listed at most. */
const maxListed = 30;

/** Creates the panel. */
export function placesPanel({ coverage, cities, onRegions }: PlacesOptions): HTMLElement {
  const regions = regionsOf(coverage, cities).map((region) => ({ ...region, name: nameOf(region) }));
  const onRegion = (box: Box) => onRegions([box]);
  const all = regions.map(({ box }) => box);
  return panel(
    "Places",
    { name: "places", isOpen: regions.length > 1 },
    html("p", { class: "note" }, `${counted(regions.length, "covered region")}, the largest first:`),
    html(
      "ul",
      { class: "place-list" },
      ...regions.slice(0, maxListed).map((region) => regionItem(region, onRegion)),
    ),
    regions.length > 1 && regions.length <= maxAreas && buttonTo("Ask for all of them", () => onRegions(all)),
    regions.length > 1 && overview(regions.slice(0, maxListed), onRegion),
  );
}

function nameOf({ name }: Region): string {
  return name ?? "Region without a city";
}

function regionItem(
  { name, box, squareKilometres: size }: Region,
  onRegion: (box: Box) => void,
): HTMLElement {
  return html(
    "li",
    {},
    buttonTo(name, () => onRegion(box)),
    html("span", { class: "note" }, squareKilometres(size)),
  );
}
