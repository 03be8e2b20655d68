/** The panel beside the map: the form, what is said of it and of its answer, and what else an account has. */
import { element, html, linksTo } from "../base/dom.ts";
import { loadPart } from "../base/lazy.ts";
import { panel } from "../base/panel.ts";
import { allowedPlaces } from "../base/session.ts";
import { type Box, boxArea } from "../data/area.ts";
import type { Capabilities } from "../data/capabilities.ts";
import { type Query, requestsOf } from "../data/query.ts";
import type { City } from "../data/regions.ts";
import type { DensityMap } from "../map/density-map.ts";
import { citiesAround, detailAround } from "../map/detail.ts";
import { Drawing } from "../map/drawing.ts";
import { empty } from "../map/geojson.ts";
import type { AreaDrawing } from "../request/area-field.ts";
import { dayAndHourFields } from "../request/day-and-hour-fields.ts";
import { type Example, examplesIn } from "../request/examples.ts";
import { requestFold } from "../request/request-fold.ts";
import { type FormOptions, type RequestForm, requestForm } from "../request/request-form.ts";
import { zoneText } from "../request/zone.ts";
import { OperationList } from "./operations.ts";
import { placesPanel } from "./places-panel.ts";
import { webhookSecrets } from "./webhook-secrets.ts";

interface FormPanelOptions
  extends Pick<FormOptions, "capabilities" | "onAreas" | "onChange" | "onSubmit" | "onFound"> {
  readonly map: DensityMap;
  /** Says that the API is being asked. */
  readonly asking: HTMLElement;
  /** Called with the day of the week and the hour of the day that are wanted. */
  readonly onHour: (weekday: string, clock: string) => void;
  /** Called when the current hour is wanted. */
  readonly onNow: () => void;
  /** Called when the user starts to draw an area. */
  readonly onDraw: () => void;
}

/** What the page has while somebody is logged in. */
export class FormPanel {
  readonly capabilities: Capabilities;
  readonly examples: readonly Example[];
  readonly form: RequestForm;
  readonly fold: ReturnType<typeof requestFold>;
  readonly dayAndHour: ReturnType<typeof dayAndHourFields>;
  /** Where an answer is summed up. */
  readonly result = html("div", { class: "result" });
  readonly #map: DensityMap;
  readonly #unread = html("div");
  /** Says that the numbers on view are not of what the form asks for. */
  readonly #outdated = html("div", { "aria-live": "polite" });
  /** Says that an area has another time zone than the data. */
  readonly #zone = html("div", { class: "note", "aria-live": "polite" });
  readonly #places = html("div");
  #drawing: Drawing | undefined;
  #nameCities: (cities: readonly City[]) => void = () => undefined;

  /** Creates the panel, and shows it. */
  constructor({ map, capabilities, asking, onDraw, onHour, onNow, ...ofForm }: FormPanelOptions) {
    this.#map = map;
    this.capabilities = capabilities;
    this.examples = examplesIn(capabilities.coverage);
    this.form = requestForm({
      ...ofForm,
      capabilities,
      examples: this.examples,
      cities: new Promise((resolve) => {
        this.#nameCities = resolve;
      }),
      drawing: this.#areaDrawing(onDraw),
      onCoverage: () => map.moveToCoverage(),
    });
    this.fold = requestFold(this.form.element, this.examples);
    this.dayAndHour = dayAndHourFields(onHour, onNow);
    const requests = () => {
      const query = this.form.query();
      return query && requestsOf(query);
    };
    element("panel").replaceChildren(
      html("div", { class: "notice" }, this.#unread, asking, this.#outdated),
      this.form.where,
      this.dayAndHour.element,
      this.#zone,
      this.fold.element,
      this.result,
      this.#places,
      new OperationList(requests).element,
      webhookSecrets(),
      ...otherApis(),
      provenance(capabilities),
    );
  }

  /** Whether an area is being drawn. */
  get isDrawing(): boolean {
    return this.#drawing !== undefined;
  }

  /** Draws the ground in detail, and names what is covered. @returns the cities of the map */
  async showGround(): Promise<readonly City[]> {
    const { coverage } = this.capabilities;
    const detail = coverage === undefined ? empty : await detailAround(coverage);
    this.#map.showDetail(detail);
    const cities = await citiesAround(detail);
    this.#nameCities(cities);
    if (coverage === undefined) return cities;
    const onRegions = (boxes: readonly Box[]) => {
      if (boxes[0] !== undefined && boxes.length === 1) this.#map.moveToBox(boxes[0]);
      const areas = boxes.flatMap((box) => boxArea(box) ?? []);
      if (areas.length > 0) this.form.fill({ areas });
    };
    this.#places.replaceChildren(placesPanel({ coverage, cities, onRegions }));
    return cities;
  }

  #areaDrawing(onDraw: () => void): AreaDrawing {
    const start: AreaDrawing["start"] = (initial, done) => {
      this.cancelDrawing();
      const { library } = this.#map;
      if (library === undefined) return;
      onDraw();
      this.#drawing = new Drawing(this.#map, library, this.capabilities.area, initial, (area) => {
        this.#drawing = undefined;
        if (area === undefined) this.form.fill({});
        else done(area);
      });
    };
    return { start, cancel: () => this.cancelDrawing() };
  }

  cancelDrawing(): void {
    this.#drawing?.stop();
    this.#drawing = undefined;
  }

  /** Names the members of the address that cannot be read. */
  showUnread(names: readonly string[]): void {
    const text = `The address has parts that cannot be read: ${names.join(", ")}.`;
    this.#unread.replaceChildren(...(names.length === 0 ? [] : [html("p", { class: "warning" }, text)]));
  }

  /**
   * Dims and names numbers that are not of what the form asks for.
   * @param next how that is asked for; undefined where the numbers are of what the form asks for
   */
  showOutdated(next: string | undefined): void {
    const isOutdated = next !== undefined;
    for (const one of [element("timeline"), element("legend"), this.result])
      one.toggleAttribute("inert", isOutdated);
    element("map-view").classList.toggle("is-outdated", isOutdated);
    this.#zone.hidden = isOutdated;
    const note = `These numbers are of the request before. ${next}`.trim();
    this.#outdated.replaceChildren(...(isOutdated ? [html("p", { class: "warning" }, note)] : []));
  }

  /** Opens the form of what cannot be asked for. */
  showNoAnswer(): void {
    this.result.replaceChildren();
    this.#zone.textContent = "";
    this.fold.describe(undefined);
    this.fold.element.open = true;
  }

  /** Says so where the clocks of an area differ from those of the data. @param isAsked whether the query still is */
  async showZone({ areas, from }: Query, isAsked: () => boolean): Promise<void> {
    const { timeZone } = this.capabilities.typicalWeek;
    await loadPart(this.#zone, async () => {
      const { default: lookUp } = await import("@photostructure/tz-lookup");
      if (isAsked()) this.#zone.textContent = zoneText(areas, from, timeZone, lookUp) ?? "";
    });
  }
}

/** Links to the forms of the other APIs that the account may use. */
function otherApis(): HTMLElement[] {
  const others = allowedPlaces().filter(({ href }) => href !== "./");
  return others.length === 0 ? [] : [html("p", { class: "other-apis" }, "Other APIs: ", ...linksTo(others))];
}

/** Shows the source of the numbers. */
function provenance({ provenance: sources }: Capabilities): HTMLElement {
  return panel(
    "Where the numbers come from",
    { name: "note", isOpen: true },
    html(
      "p",
      {},
      sources.length > 0 ? "In all that is covered, the latest first:" : "No import has said it.",
    ),
    ...sources.map(({ source, licence }) =>
      html("p", {}, licence === undefined ? source : `${source} (${licence})`),
    ),
  );
}
