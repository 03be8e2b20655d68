/** The field for the areas: an example, areas drawn on the map, or areas as people have them. */
import { otherGround } from "../demo.ts";
import { html } from "../dom.ts";
import { counted } from "../numbers.ts";
import type { ViewState } from "./address.ts";
import { type Area, type AreaLimits, areDegrees, noDegrees, type Point } from "./area.ts";
import type { Coverage } from "./capabilities.ts";
import { swapped, touchesCoverage } from "./covered.ts";
import type { Example } from "./examples.ts";
import { fitAreas } from "./fit-areas.ts";
import { differenceRemarks } from "./geohash-list.ts";
import { type GivenAreas, parseGivenAreas } from "./given-areas.ts";
import { importWay } from "./import-way.ts";
import { segments } from "./segments.ts";

/** Draws an area on the map. */
export interface AreaDrawing {
  /** Starts drawing, or changing the corners of an area; `done` receives undefined if the user cancels. */
  readonly start: (area: Area | undefined, done: (area: Area | undefined) => void) => void;
  /** Cancels drawing, if active. */
  readonly cancel: () => void;
}

interface AreaFieldOptions {
  readonly examples: readonly Example[];
  readonly limits: AreaLimits;
  /** Absent before the first import. */
  readonly coverage: Coverage | undefined;
  readonly drawing: AreaDrawing;
  /** Called when the user wants to see what is covered. */
  readonly onCoverage: () => void;
  /** Called before `onChange` if the user chooses an example. */
  readonly onExample: (area: Area) => void;
  /** Called before `onChange` with period and precision of a request. */
  readonly onRequest: (state: ViewState, areas: readonly Area[]) => void;
  /** @param outlines the outlines of simplified areas, as they were given */
  readonly onChange: (areas: readonly Area[], outlines: readonly (readonly Point[])[]) => void;
}

type WayName = "Example" | "Draw" | "Import";

/** One way to choose areas. */
interface Way {
  readonly element: HTMLElement;
  /** Called when the user selects this way. */
  readonly open?: () => void;
}

/** The field. */
export class AreaField {
  readonly #options: AreaFieldOptions;
  readonly #example: HTMLSelectElement;
  readonly #ways: Readonly<Record<WayName, Way>>;
  readonly #choice: HTMLElement;
  readonly #note = html("p", { class: "note", "aria-live": "polite" });
  readonly #change: HTMLButtonElement;
  #areas: readonly Area[] = [];

  /** Creates the field, without an area. */
  constructor(options: AreaFieldOptions) {
    this.#options = options;
    const { examples } = options;
    this.#example = html(
      "select",
      { id: "example", change: () => this.#chooseExample() },
      ...examples.map(({ name }) => html("option", { value: name }, name)),
    );
    this.#ways = this.#createWays();
    this.#change = html(
      "button",
      { type: "button", class: "chip", hidden: true, click: () => this.#draw(this.#areas[0]) },
      "Move corners",
    );
    const initial = examples.length > 0 ? "Example" : "Draw";
    this.#choice = segments("way", ["Example", "Draw", "Import"], initial, (chosen) => {
      this.#show(chosen);
      // What was wrong with another way says nothing of this one.
      if (this.#note.classList.contains("problem")) this.#note.textContent = "";
      this.#ways[chosen].open?.();
    });
    this.#show(initial);
  }

  /** The elements, for a form. */
  fieldset(): HTMLFieldSetElement {
    return html(
      "fieldset",
      {},
      html("legend", {}, "Area"),
      this.#choice,
      ...Object.values(this.#ways).map(({ element }) => element),
      this.#note,
      html("div", {}, this.#change),
    );
  }

  /** Sets areas that are not the user's choice in this field, as those of the address. */
  set(areas: readonly Area[]): void {
    this.#areas = [];
    const { examples } = this.#options;
    const example = examples.find(({ area }) => areas.length === 1 && isSame(area, areas[0]));
    this.#show(example === undefined ? "Draw" : "Example");
    if (example !== undefined) this.#example.value = example.name;
    const rings = areas.map(({ boundary }) => boundary);
    this.#fit({ understood: [], rings, state: {}, remarks: [] }, example === undefined);
  }

  /** Reads areas from texts, as of dropped files. Where they hold none to ask for, what was chosen before stays. */
  take(texts: readonly string[]): void {
    this.#show("Import");
    try {
      const given = parseGivenAreas(...texts);
      if (this.#isCovered(given.rings)) this.#fit(given, true);
      else this.#refuseUncovered(given);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#refuse(error);
    }
  }

  #isCovered(rings: readonly (readonly Point[])[]): boolean {
    const { coverage } = this.#options;
    return coverage === undefined || rings.some((ring) => touchesCoverage(ring, coverage));
  }

  /** Says that nothing is covered, and offers to exchange latitude and longitude where something is covered then. */
  #refuseUncovered(given: GivenAreas): void {
    const { rings } = given;
    const others = rings.flatMap((ring) => {
      const other = swapped(ring);
      return other === undefined ? [] : [other];
    });
    const outside = rings.flat().find((point) => !areDegrees([point]));
    const hasDegrees = rings.some(areDegrees);
    const reason =
      outside === undefined || hasDegrees
        ? "Nothing of this is covered."
        : noDegrees([outside.longitude, outside.latitude]);
    this.#refuse(new Error([...understoodAs(given.understood), reason].join(" ")));
    const swap = () => this.#fit({ ...given, rings: others }, true);
    this.#note.append(
      html(
        "span",
        { class: "row" },
        this.#isCovered(others) &&
          html("button", { type: "button", click: swap }, "Swap latitude and longitude"),
        html("button", { type: "button", click: this.#options.onCoverage }, "Show what is covered"),
        html("span", {}, otherGround),
      ),
    );
    this.#note.scrollIntoView({ block: "nearest" });
  }

  #createWays(): Readonly<Record<WayName, Way>> {
    const label = html("label", { for: "example", class: "hidden-text" }, "Example");
    const draw = () => this.#draw(undefined);
    return {
      Example: { element: html("div", {}, label, this.#example), open: () => this.#chooseExample() },
      Draw: {
        element: html(
          "div",
          {},
          html("button", { type: "button", class: "wide", click: draw }, "Draw on the map"),
        ),
        open: draw,
      },
      Import: { element: importWay((texts) => this.take(texts)) },
    };
  }

  #show(shown: WayName): void {
    for (const way of Object.values(this.#ways)) way.element.hidden = way !== this.#ways[shown];
    for (const input of this.#choice.querySelectorAll("input")) input.checked = input.value === shown;
    this.#options.drawing.cancel();
  }

  #chooseExample(): void {
    const area = this.#options.examples.find(({ name }) => name === this.#example.value)?.area;
    if (area === undefined) return;
    this.#options.onExample(area);
    this.#setAreas([area], "");
  }

  #draw(area: Area | undefined): void {
    this.#options.drawing.start(area, (drawn) => {
      if (drawn !== undefined) this.set([drawn]);
    });
  }

  /** Makes areas of rings that the API takes. @param given whose `state` has period and precision, of a request */
  #fit({ rings, understood, state, remarks, cells }: GivenAreas, namesSize: boolean): void {
    try {
      const { areas, outlines, remarks: changes } = fitAreas(rings, this.#options.limits);
      if (understood.length > 0) this.#options.onRequest(state, areas);
      const size = namesSize ? [sizeOf(areas)] : [];
      const differences = cells === undefined ? [] : differenceRemarks(areas, cells);
      const sentences = [...understoodAs(understood), ...size, ...remarks, ...changes, ...differences];
      this.#setAreas(areas, sentences.join(" "), outlines);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (this.#areas.length === 0) this.#options.onChange([], []);
      this.#refuse(error);
    }
  }

  /** Says what is wrong with an area. The one that was chosen before stays. */
  #refuse({ message }: Error): void {
    this.#note.textContent = this.#areas.length > 0 ? `${message} The former area stays.` : message;
    this.#note.className = "note problem";
    this.#note.scrollIntoView({ block: "nearest" });
  }

  #setAreas(areas: readonly Area[], text: string, outlines: readonly (readonly Point[])[] = []): void {
    this.#areas = areas;
    this.#note.textContent = text;
    this.#note.className = "note";
    this.#change.hidden = areas.length !== 1;
    this.#options.onChange(areas, outlines);
  }
}

function isSame(one: Area, other: Area | undefined): boolean {
  return JSON.stringify(one.boundary) === JSON.stringify(other?.boundary);
}

function understoodAs(texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : [`Understood as ${[...new Set(texts)].join("; ")}.`];
}

/** `6 points.`, `3 areas, asked for one by one.` */
function sizeOf(areas: readonly Area[]): string {
  const [first] = areas;
  return areas.length > 1
    ? `${counted(areas.length, "area")}, asked for one by one.`
    : `${counted(first?.boundary.length ?? 0, "point")}.`;
}
