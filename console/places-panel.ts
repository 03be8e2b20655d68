/** Finds one's place: a search of cities, and the regions that are covered, as a list and on a small map. */
import { announce, html, svg } from "./dom.ts";
import { counted, squareKilometres } from "./numbers.ts";
import { panel } from "./panel.ts";
import type { Box } from "./request/area.ts";
import type { Coverage } from "./request/capabilities.ts";
import { type City, citiesNamed, type Region, regionsOf } from "./request/regions.ts";

interface PlacesOptions {
  readonly coverage: Coverage;
  readonly cities: readonly City[];
  /** Shows a region: its box, with an area to ask for. */
  readonly onRegion: (box: Box) => void;
  /** Shows a city. */
  readonly onCity: (city: City) => void;
}

/** Regions that are listed at most. */
const maxListed = 30;

/** Creates the panel. */
export function placesPanel({ coverage, cities, onRegion, onCity }: PlacesOptions): HTMLElement {
  const regions = regionsOf(coverage, cities);
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
    regions.length > 1 && overview(regions, onRegion),
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

function regionItem(region: Region, onRegion: (box: Box) => void): HTMLElement {
  return html(
    "li",
    {},
    html("button", { type: "button", click: () => onRegion(region.box) }, nameOf(region)),
    html("span", { class: "note" }, squareKilometres(region.squareKilometres)),
  );
}

/** The regions on a map of the part of the world that has them. Each is in the list, too. */
function overview(regions: readonly Region[], onRegion: (box: Box) => void): SVGElement {
  const boxes = regions.map(({ box }) => box);
  const [west, east] = [Math.min(...boxes.map((box) => box.west)), Math.max(...boxes.map((box) => box.east))];
  const [south, north] = [
    Math.min(...boxes.map((box) => box.south)),
    Math.max(...boxes.map((box) => box.north)),
  ];
  const stretch = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const [width, height] = [300, 150];
  const scale = Math.min(
    (width - 80) / Math.max(0.1, (east - west) * stretch),
    (height - 40) / Math.max(0.1, north - south),
  );
  const x = (longitude: number) => width / 2 + (longitude - (west + east) / 2) * stretch * scale;
  const y = (latitude: number) => height / 2 - (latitude - (south + north) / 2) * scale;
  const mark = (region: Region) => {
    const { box } = region;
    const [cx, cy] = [x((box.west + box.east) / 2), y((box.south + box.north) / 2)];
    return svg(
      "g",
      { click: () => onRegion(box) },
      svg("circle", { cx, cy, r: 4 + Math.min(8, Math.sqrt(region.squareKilometres) / 20) }),
      svg("text", { x: cx, y: cy - 10, "text-anchor": "middle" }, nameOf(region)),
    );
  };
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "overview", "aria-hidden": "true" },
    ...regions.slice(0, maxListed).map(mark),
  );
}
