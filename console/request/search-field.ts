/** The field in which people say where: the name of a city, or an area as they have it. */
import { announce, buttonTo, html } from "../base/dom.ts";
import { type City, citiesNamed, type FoundCity } from "../data/regions.ts";

interface SearchOptions {
  /** Resolves once they are loaded. */
  readonly cities: Promise<readonly City[]>;
  readonly isCovered: (city: City) => boolean;
  readonly onCity: (city: City) => void;
  /** Called with coordinates, geohashes, GeoJSON and all else that is no name of a city. */
  readonly onText: (text: string) => void;
}

interface SearchField {
  readonly element: HTMLElement;
  /** Empties the field, as what it names is not the area any more. */
  readonly clear: () => void;
}

/** Creates the field. Its cities are found while somebody types; Enter takes the first, or else the text itself. */
export function searchField({ cities, isCovered, onCity, onText }: SearchOptions): SearchField {
  const list = html("ul", { class: "place-list", "aria-label": "Cities found" });
  const none = html("p", { class: "note", "aria-live": "polite" });
  const find = async () => citiesNamed(input.value, await cities, isCovered);
  const close = () => {
    list.replaceChildren();
    none.textContent = "";
  };
  const choose = (city: City) => {
    close();
    onCity(city);
    input.value = city.name;
  };
  const show = async () => {
    const typed = input.value;
    const found = await find();
    if (input.value !== typed) return;
    list.replaceChildren(...found.map((city) => cityItem(city, found, () => choose(city))));
    none.textContent = found.length === 0 && isName(typed) ? "0 cities found." : "";
    if (found.length > 0) announce(found.length === 1 ? "1 city found." : `${found.length} cities found.`);
  };
  const take = async (event: Event) => {
    event.preventDefault();
    const [first] = await find();
    if (first !== undefined) choose(first);
    else if (input.value.trim() !== "") {
      const typed = input.value;
      close();
      onText(typed);
      input.value = typed;
    }
  };
  // A field of one line would join the lines of a table.
  const paste = (event: Event) => {
    const text = (event as ClipboardEvent).clipboardData?.getData("text/plain") ?? "";
    if (!text.trim().includes("\n")) return;
    event.preventDefault();
    close();
    onText(text);
  };
  const input = html("input", {
    type: "search",
    id: "where",
    placeholder: "City, 45.76, 4.83, geohashes, GeoJSON…",
    "aria-label": "Search a city, or give coordinates, a box, geohashes, GeoJSON, WKT or a table",
    autocomplete: "off",
    spellcheck: "false",
    input: () => void show(),
    paste,
    keydown: (event) => {
      const { key } = event as KeyboardEvent;
      if (key === "ArrowDown") list.querySelector("button")?.focus();
      if (key === "Escape") close();
    },
  });
  const element = html("form", { role: "search", submit: (event) => void take(event) }, input, list, none);
  const clear = () => {
    input.value = "";
    close();
  };
  return { element, clear };
}

/** Whether a text without a city of this name is more likely a name than anything else. */
export function isName(text: string): boolean {
  return /\p{L}/u.test(text) && !/[\d{}[\]()<>]/.test(text);
}

function cityItem(city: FoundCity, all: readonly City[], choose: () => void): HTMLElement {
  const isAmbiguous = all.filter(({ name }) => name === city.name).length > 1;
  const notes = [...(isAmbiguous ? [degreesOf(city)] : []), city.isCovered ? "covered" : "not covered"];
  return html("li", {}, buttonTo(city.name, choose), html("span", { class: "note" }, notes.join(" · ")));
}

/** `45.8° N, 4.8° E`. */
function degreesOf({ latitude, longitude }: City): string {
  const degrees = (value: number, [positive, negative]: readonly [string, string]) =>
    `${Math.abs(value).toFixed(1)}° ${value < 0 ? negative : positive}`;
  return `${degrees(latitude, ["N", "S"])}, ${degrees(longitude, ["E", "W"])}`;
}
