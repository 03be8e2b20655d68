/** The map view: the panel with the form, and the answer on the map. */
import { AnswerView } from "./answer/answer-view.ts";
import type { Densities } from "./answer/densities.ts";
import { resultPanel } from "./answer/result.ts";
import { retrieveDensities } from "./answer/retrieval.ts";
import { announce, element, html } from "./dom.ts";
import { ApiError } from "./http.ts";
import { createMap, type DensityMap } from "./map/density-map.ts";
import { Drawing } from "./map/drawing.ts";
import { counted } from "./numbers.ts";
import { operationList } from "./operations.ts";
import type { Area } from "./request/area.ts";
import type { AreaDrawing } from "./request/area-field.ts";
import { type Capabilities, readCapabilities } from "./request/capabilities.ts";
import { examplesIn } from "./request/examples.ts";
import { type DensityRequest, requestForm } from "./request/request-form.ts";
import { onLoginChange } from "./session.ts";
import { onThemeChange } from "./theme.ts";

/** Shows the map and, while somebody is logged in, the panel. */
export async function showMapView(mapStyle: string): Promise<void> {
  let view: MapView | undefined;
  const map = await createMap(element("map"), mapStyle, (index) => view?.select(index));
  const shown = new MapView(map);
  view = shown;
  onThemeChange(() => shown.showLegend());
  onLoginChange((login) => {
    if (login === undefined) shown.clear();
    else void shown.open();
  });
}

class MapView {
  readonly #map: DensityMap;
  readonly #panel = element("panel");
  #answer: AnswerView | undefined;
  #drawing: Drawing | undefined;
  /** Aborts the request in progress. */
  #retrieval: AbortController | undefined;

  constructor(map: DensityMap) {
    this.#map = map;
  }

  /** Shows the panel, and the answer to its first request. */
  async open(): Promise<void> {
    this.#panel.replaceChildren(html("p", { class: "note" }, "Reading what can be asked for…"));
    try {
      this.#showPanel(await readCapabilities());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#panel.replaceChildren(...this.#refusal(error));
    }
  }

  /** Removes everything that belongs to the previous login. */
  clear(): void {
    this.#retrieval?.abort();
    this.#cancelDrawing();
    this.#setAnswer(undefined);
    this.#map.showArea(undefined);
    this.#panel.replaceChildren();
  }

  /** Shows the card of a cell; hides it for undefined. Does nothing while an area is being drawn. */
  select(index: number | undefined): void {
    if (this.#drawing === undefined) this.#answer?.select(index);
  }

  /** Shows the legend in the colours of the current theme. */
  showLegend(): void {
    this.#answer?.showLegend();
  }

  #showPanel(capabilities: Capabilities): void {
    const { coverage } = capabilities;
    if (coverage !== undefined) this.#map.showCoverage(coverage);
    const examples = examplesIn(coverage);
    const result = html("div", { class: "result" });
    const form = requestForm({
      capabilities,
      examples,
      drawing: this.#areaDrawing(capabilities),
      onArea: (area) => this.#showArea(area),
      onSubmit: (request) => void this.#retrieve(request, capabilities, result),
    });
    this.#panel.replaceChildren(form, result, operationList(), provenance(capabilities));
    if (examples.length > 0) form.requestSubmit();
  }

  /** Replaces the form in the panel if the API refuses to return its capabilities. */
  #refusal(error: ApiError): HTMLElement[] {
    if (error.status === 403) {
      const advice = "Log out, and log in with an account that has it. The reference stays open.";
      return [alertBox(error, html("p", { class: "note" }, advice))];
    }
    return [alertBox(error), html("button", { type: "button", click: () => this.open() }, "Try again")];
  }

  #areaDrawing(capabilities: Capabilities): AreaDrawing {
    const start: AreaDrawing["start"] = (done) => {
      this.#cancelDrawing();
      this.#drawing = new Drawing(this.#map, capabilities.area, (area) => {
        this.#drawing = undefined;
        done(area);
      });
    };
    return { start, cancel: () => this.#cancelDrawing() };
  }

  #cancelDrawing(): void {
    this.#drawing?.stop();
    this.#drawing = undefined;
  }

  #showArea(area: Area | undefined): void {
    this.#map.showArea(area);
    if (area !== undefined) this.#map.moveTo(area);
  }

  /** Sends a request, aborting one in progress, and shows the answer. */
  async #retrieve(request: DensityRequest, capabilities: Capabilities, result: HTMLElement): Promise<void> {
    this.#retrieval?.abort();
    const retrieval = new AbortController();
    this.#retrieval = retrieval;
    result.replaceChildren(html("p", { class: "note" }, "Asking…"));
    try {
      const densities = await retrieveDensities(request, retrieval.signal);
      if (!retrieval.signal.aborted) this.#show(densities, request, capabilities, result);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      if (!(error instanceof ApiError)) throw error;
      this.#setAnswer(undefined);
      result.replaceChildren(alertBox(error, html("p", { class: "note" }, html("code", {}, error.code))));
    }
  }

  #show(densities: Densities, request: DensityRequest, capabilities: Capabilities, place: HTMLElement): void {
    this.#setAnswer(undefined);
    const threshold = capabilities.suppressionThreshold;
    const onCell = (index: number) => {
      this.select(index);
      // On a phone, the card is above the list.
      element("cell").firstElementChild?.scrollIntoView({ block: "nearest" });
    };
    const result = resultPanel({ densities, request, threshold, onCell });
    place.replaceChildren(result.element);
    if (densities.geohashes.length === 0) return;
    const closeCell = () => this.select(undefined);
    this.#setAnswer(
      new AnswerView({ map: this.#map, densities, threshold, onHour: result.showHour, closeCell }),
    );
    announce(
      `${counted(densities.geohashes.length, "cell")}, ${counted(densities.hours.length, "hour")} on the map.`,
    );
  }

  #setAnswer(answer: AnswerView | undefined): void {
    this.#answer?.remove();
    this.#answer = answer;
  }
}

/** Shows an error of the API, with further details. */
function alertBox(error: ApiError, ...details: readonly HTMLElement[]): HTMLElement {
  return html("div", { class: "problem", role: "alert" }, html("p", {}, error.message), ...details);
}

/** Shows the source of the numbers. */
function provenance({ provenance: sources }: Capabilities): HTMLElement {
  const title = "Where the numbers come from";
  return html(
    "section",
    { class: "provenance note", "aria-label": title },
    sources.length > 0 && html("h2", {}, title),
    ...sources.map(({ source, licence }) =>
      html("p", {}, licence === undefined ? source : `${source} (${licence})`),
    ),
  );
}
