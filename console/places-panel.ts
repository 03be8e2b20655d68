/** Finds one's place: a search of cities, and the regions that are covered, as a list and on a small map. */
import { announce, html } from "./dom.ts";
import { counted, squareKilometres } from "./numbers.ts";
import { overview } from "./overview.ts";
import { panel } from "./panel.ts";
import type { Box } from "./request/area.ts";
import type { Coverage } from "./request/capabilities.ts";
import { maxAreas } from "./request/fit-areas.ts";
import { type City, citiesNamed, type Region, regionsOf } from "./request/regions.ts";

interface PlacesOptions {
  readonly coverage: Coverage;
  readonly cities: readonly City[];
  /** Shows regions: their boxes, with areas to ask for. */
  readonly onRegions: (boxes: readonly Box[]) => void;
  /** Shows a city. */
  readonly onCity: (city: City) => void;
}

/** Regions that are listed at most. */
const maxListed = 30;

/** Creates the panel. */
export function placesPanel({ coverage, cities, onRegions, onCity }: PlacesOptions): HTMLElement {
  const regions = regionsOf(coverage, cities).map((region) => ({ ...region, name: nameOf(region) }));
  const onRegion = (box: Box) => onRegions([box]);
  const all = regions.map(({ box }) => box);
  return panel(
    "Places",
    { name: "places", isOpen: regions.length > 1 },
    searchField(cities, onCity),
    html("p", { class: "note" }, `${counted(regions.length, "covered region")}, the largest first:`),
    html(
      "ul",
      { class: "place-list" },
      ...regions.slice(0, maxListed).map((region) => regionItem(region, onRegion)),
    ),
    regions.length > 1 &&
      regions.length <= maxAreas &&
      html("button", { type: "button", click: () => onRegions(all) }, "All that is covered"),
    regions.length > 1 && overview(regions.slice(0, maxListed), onRegion),
  );
}

function searchField(cities: readonly City[], onCity: (city: City) => void): HTMLElement {
  const list = html("ul", { class: "place-list", "aria-label": "Cities found" });
  const choose = (city: City) => {
    input.value = city.name;
    list.replaceChildren();
    onCity(city);
  };
  const show = () => {
    const found = citiesNamed(input.value, cities);
    const buttons = found.map((city) =>
      html("button", { type: "button", click: () => choose(city) }, city.name),
    );
    list.replaceChildren(...buttons.map((button) => html("li", {}, button)));
    if (input.value.trim() !== "")
      announce(`${counted(found.length, "city").replace("citys", "cities")} found.`);
  };
  const input = html("input", {
    type: "search",
    placeholder: "Search a city",
    "aria-label": "Search a city",
    input: show,
    keydown: (event) => {
      const { key } = event as KeyboardEvent;
      const [first] = citiesNamed(input.value, cities);
      if (key === "Enter" && first !== undefined) choose(first);
      if (key === "ArrowDown") list.querySelector("button")?.focus();
    },
  });
  return html("div", { role: "search" }, input, list);
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
    html("button", { type: "button", click: () => onRegion(box) }, name),
    html("span", { class: "note" }, squareKilometres(size)),
  );
}
