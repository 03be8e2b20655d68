/** The field for the areas: a city, areas as people have them, drawn on the map, or an example. */
import { buttonTo, html } from "../base/dom.ts";
import { counted, metres, squareKilometres } from "../base/numbers.ts";
import { type Area, type AreaLimits, isSameArea, type Point } from "../data/area.ts";
import type { Coverage } from "../data/capabilities.ts";
import { areCovered, swapped } from "../data/covered.ts";
import { areaRing, squareKilometresOf } from "../data/outlines.ts";
import type { City } from "../data/regions.ts";
import type { ViewState } from "./address.ts";
import { squareAround } from "./coordinates.ts";
import type { Example } from "./examples.ts";
import { fitAreas } from "./fit-areas.ts";
import { differenceRemarks } from "./geohash-list.ts";
import { type GivenAreas, parseGivenAreas } from "./given-areas.ts";
import { fileButton } from "./given-files.ts";
import { isName, searchField } from "./search-field.ts";

/** Draws an area on the map. */
export interface AreaDrawing {
  /** Starts drawing, or changing the corners of an area; `done` is not called if the user cancels. */
  readonly start: (area: Area | undefined, done: (area: Area) => void) => void;
  /** Cancels drawing, if active. */
  readonly cancel: () => void;
}

interface AreaFieldOptions {
  readonly examples: readonly Example[];
  readonly limits: AreaLimits;
  /** Absent before the first import. */
  readonly coverage: Coverage | undefined;
  /** Resolves once they are loaded. */
  readonly cities: Promise<readonly City[]>;
  readonly drawing: AreaDrawing;
  /** Called when the user wants to see what is covered. */
  readonly onCoverage: () => void;
  /** Called before `onChange` if the user chooses an example. */
  readonly onExample: (area: Area) => void;
  /** Called before `onChange` with period and precision of a request. */
  readonly onRequest: (state: ViewState, areas: readonly Area[]) => void;
  /**
   * @param outlines the outlines of simplified areas, as they were given
   * @param name what people call the areas; absent where nobody does
   * @param city the name of the city that was chosen; absent for other areas
   */
  readonly onChange: (
    areas: readonly Area[],
    outlines: readonly (readonly Point[])[],
    name?: string,
    city?: string,
  ) => void;
  /** Called after `onChange` if the user has typed or chosen something of which something is covered. */
  readonly onFound: () => void;
}

/** A city is asked for as far as this from its middle, to each side. */
const cityKilometres = 1.5;

const notFound =
  "The map has the large cities of the world, and smaller ones around what is covered. Coordinates (45.76, 4.83), a " +
  "box, geohashes, GeoJSON and WKT are read, too.";

/** The field. */
export class AreaField {
  /** Where people search, give or draw an area, and what becomes of it. */
  readonly element: HTMLElement;
  readonly #options: AreaFieldOptions;
  readonly #example: HTMLSelectElement;
  readonly #note = html("p", { class: "note", "aria-live": "polite" });
  readonly #change: HTMLButtonElement;
  readonly #search: ReturnType<typeof searchField>;
  #areas: readonly Area[] = [];
  /** The last ones of which something was covered. */
  #coveredAreas: readonly Area[];

  /** Creates the field, without an area. */
  constructor(options: AreaFieldOptions) {
    this.#options = options;
    const { examples, cities } = options;
    this.#coveredAreas = examples.slice(0, 1).map(({ area }) => area);
    this.#example = html(
      "select",
      { id: "example", change: () => this.#chooseExample() },
      html("option", { value: "", hidden: true }, "Own area"),
      ...examples.map(({ name }) => html("option", { value: name }, name)),
    );
    this.#change = buttonTo("Move corners", () => this.#draw(this.#areas[0]), {
      class: "chip draws",
      hidden: true,
    });
    this.#search = searchField({
      cities,
      isCovered: (city) => this.#isCovered([squareAround(city, cityKilometres)]),
      onCity: (city) => this.#takeCity(city),
      onText: (text) => {
        if (this.take([text])) options.onFound();
      },
    });
    const chip = (name: string, click: () => void) => buttonTo(name, click, { class: "chip" });
    const actions = html(
      "div",
      { class: "row area-actions" },
      buttonTo("Draw", () => this.#draw(undefined), { class: "chip draws" }),
      fileButton((texts) => this.take(texts)),
      chip("Show what is covered", () => this.#showCovered()),
    );
    const { element: search } = this.#search;
    search.addEventListener("input", () => {
      if (this.#note.classList.contains("problem")) this.#note.replaceChildren();
    });
    this.element = html("div", { class: "where" }, search, actions, this.#note);
  }

  /** What the form has of it: examples, and a change of the area. */
  fieldset(): HTMLFieldSetElement {
    const { examples } = this.#options;
    const label = html("label", { for: "example", class: "hidden-text" }, "Example");
    const legend = html("legend", {}, "Area");
    return html(
      "fieldset",
      {},
      legend,
      ...(examples.length > 0 ? [label, this.#example] : []),
      html("div", {}, this.#change),
    );
  }

  /** Sets areas that are not the user's choice in this field, as those of the address. */
  set(areas: readonly Area[], name?: string): void {
    this.#areas = [];
    const isExample = this.#exampleOf(areas) !== undefined;
    const rings = areas.map(({ boundary }) => boundary);
    this.#fit({ rings, state: name === undefined ? {} : { name }, remarks: [] }, { namesSize: !isExample });
  }

  /**
   * Reads areas from texts, as of dropped files. Where they hold none, what was chosen before stays.
   * @returns whether something of them is covered
   */
  take(texts: readonly string[]): boolean {
    try {
      const { understood, ...given } = parseGivenAreas(...texts);
      const kinds = [...new Set(understood)].join("; ");
      const named = given.state.name === undefined ? "" : `: “${given.state.name}”`;
      return this.#fit(given, { understood: `Understood as ${kinds}${named}.`, namesSize: true });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const [text = ""] = texts;
      this.#refuse(isName(text) ? new Error(`0 cities found for “${text.trim()}”. ${notFound}`) : error);
      return false;
    }
  }

  #takeCity(city: City): void {
    const rings = [squareAround(city, cityKilometres)];
    const side = metres(2_000 * cityKilometres);
    const understood = `${city.name}: ${side} × ${side} around its middle.`;
    if (this.#fit({ rings, state: { name: city.name }, remarks: [] }, { understood, city: city.name }))
      this.#options.onFound();
  }

  #isCovered(rings: readonly (readonly Point[])[]): boolean {
    return areCovered(rings, this.#options.coverage);
  }

  #exampleOf(areas: readonly Area[]): Example | undefined {
    return this.#options.examples.find(({ area }) => areas.length === 1 && isSameArea(area, areas[0]));
  }

  /** Leaves an area of which nothing is covered. */
  #showCovered(): void {
    if (!this.#isCovered(this.#areas.map(({ boundary }) => boundary))) this.set(this.#coveredAreas);
    this.#options.onCoverage();
  }

  #chooseExample(): void {
    const area = this.#options.examples.find(({ name }) => name === this.#example.value)?.area;
    if (area === undefined) return;
    this.#options.onExample(area);
    this.#setAreas([area], "");
  }

  #draw(area: Area | undefined): void {
    this.#options.drawing.start(area, (drawn) => this.set([drawn]));
  }

  /**
   * Makes areas of rings that the API takes. Where it takes none, those that were chosen before stay.
   * @param given whose `state` has period and precision, of a request
   * @returns whether there are any of which something is covered
   */
  #fit(given: Omit<GivenAreas, "understood">, { understood, city, namesSize = false }: Told): boolean {
    const { rings, state, remarks, cells } = given;
    const isCovered = this.#isCovered(rings);
    try {
      const { areas, outlines, remarks: changes } = fitAreas(rings, this.#options.limits);
      if (understood !== undefined && isCovered) this.#options.onRequest(state, areas);
      const size = namesSize ? [sizeOf(areas)] : [];
      const differences = cells === undefined ? [] : differenceRemarks(areas, cells);
      const sentences = [understood ?? [], size, remarks, changes, differences].flat();
      this.#setAreas(areas, sentences.join(" "), outlines, state.name, city);
      return isCovered;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (this.#areas.length === 0) this.#options.onChange([], []);
      this.#refuse(error);
      return false;
    } finally {
      if (!isCovered) this.#offerSwap(given);
    }
  }

  /** Offers to exchange latitude and longitude where something is covered then. */
  #offerSwap(given: Omit<GivenAreas, "understood">): void {
    const rings = given.rings.flatMap((ring) => {
      const other = swapped(ring);
      return other === undefined ? [] : [other];
    });
    if (!this.#isCovered(rings)) return;
    const swap = () => this.#fit({ ...given, rings }, { namesSize: true });
    const button = buttonTo("Swap latitude and longitude", swap);
    this.#note.append(html("span", { class: "row" }, button));
  }

  /** Says what is wrong with an area. The one that was chosen before stays. */
  #refuse({ message }: Error): void {
    this.#note.textContent = this.#areas.length > 0 ? `${message} The former area stays.` : message;
    this.#note.className = "note problem";
    this.#note.scrollIntoView({ block: "nearest" });
  }

  #setAreas(
    areas: readonly Area[],
    text: string,
    outlines: readonly (readonly Point[])[] = [],
    name?: string,
    city?: string,
  ): void {
    this.#options.drawing.cancel();
    this.#areas = areas;
    this.#search.clear();
    if (this.#isCovered(areas.map(({ boundary }) => boundary))) this.#coveredAreas = areas;
    this.#example.value = this.#exampleOf(areas)?.name ?? "";
    this.#note.textContent = text;
    this.#note.className = "note";
    this.#change.hidden = areas.length !== 1;
    this.#options.onChange(areas, outlines, name, city);
  }
}

/** What is said of areas that were given. */
interface Told {
  /** The sentence about what was given; absent for areas that nobody has given in this field. */
  readonly understood?: string;
  /** The name of the city that was chosen. */
  readonly city?: string;
  readonly namesSize?: boolean;
}

/** `A triangle of 0.66 km².`, `A polygon of 12 km² with 6 points.`, `3 areas, asked for one by one.` */
function sizeOf(areas: readonly Area[]): string {
  const [first] = areas;
  if (first === undefined || areas.length > 1)
    return `${counted(areas.length, "area")}, asked for one by one.`;
  const points = first.boundary.length;
  const size = squareKilometres(squareKilometresOf(areaRing(first)));
  return points === 3 ? `A triangle of ${size}.` : `A polygon of ${size} with ${points} points.`;
}
