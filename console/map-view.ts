/** The map view: the panel with the form, and the answer on the map. */
import { onAddressChange, pushAddress, replaceAddress } from "./address-bar.ts";
import { AnswerView } from "./answer/answer-view.ts";
import type { Densities } from "./answer/densities.ts";
import { resultPanel } from "./answer/result.ts";
import { retrieveDensities } from "./answer/retrieval.ts";
import { announce, element, html } from "./dom.ts";
import { ApiError } from "./http.ts";
import { createMap, type DensityMap } from "./map/density-map.ts";
import { Drawing } from "./map/drawing.ts";
import { counted, separated } from "./numbers.ts";
import { operationList } from "./operations.ts";
import { readAddress, type ViewState } from "./request/address.ts";
import type { Area, Point } from "./request/area.ts";
import type { AreaDrawing } from "./request/area-field.ts";
import type { Capabilities } from "./request/capabilities.ts";
import { examplesIn } from "./request/examples.ts";
import { onGivenTexts } from "./request/import-way.ts";
import { type Query, requestsOf } from "./request/query.ts";
import { readCapabilities } from "./request/read-capabilities.ts";
import { requestFold } from "./request/request-fold.ts";
import { requestForm } from "./request/request-form.ts";
import { currentLogin, onLoginChange } from "./session.ts";
import { onThemeChange } from "./theme.ts";

/** Shows the map and, while somebody is logged in, the panel. */
export async function showMapView(mapStyle: string): Promise<void> {
  let view: MapView | undefined;
  const map = await createMap(element("map"), mapStyle, (index) => view?.select(index));
  const shown = new MapView(map);
  view = shown;
  onThemeChange(() => shown.showLegend());
  onAddressChange(() => shown.openAddress());
  onGivenTexts((texts) => shown.take(texts));
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
  /** Fills in and asks what the address names; undefined without a form. */
  #openAddress: (() => void) | undefined;
  /** Reads areas from texts; undefined without a form. */
  #take: ((texts: readonly string[]) => void) | undefined;
  /** Start of the hour on view, or of the one that the address names. */
  #hour: Date | undefined;

  constructor(map: DensityMap) {
    this.#map = map;
  }

  /** Shows the panel, and the answer to its first request. */
  async open(): Promise<void> {
    this.#panel.replaceChildren(html("p", { class: "note" }, "Reading what can be asked for…"));
    const login = currentLogin();
    try {
      const capabilities = await readCapabilities();
      if (currentLogin() === login) this.#showPanel(capabilities);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (currentLogin() === login) this.#panel.replaceChildren(...this.#refusal(error));
    }
    this.#map.drawBase();
  }

  /** Shows what the address names, after somebody opened another one. */
  openAddress(): void {
    this.#openAddress?.();
  }

  /** Takes areas that were dropped on the page, or pasted. */
  take(texts: readonly string[]): void {
    if (document.body.dataset.view === "map") this.#take?.(texts);
  }

  /** Removes everything that belongs to the previous login. */
  clear(): void {
    this.#retrieval?.abort();
    this.#cancelDrawing();
    this.#setAnswer(undefined);
    this.#openAddress = undefined;
    this.#take = undefined;
    this.#map.showAreas([], []);
    this.#map.drawBase();
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
    const form = requestForm({
      capabilities,
      examples,
      drawing: this.#areaDrawing(capabilities),
      onAreas: (areas, outlines) => {
        // What was wrong with another request says nothing of this one.
        place.notice.querySelector("[role=alert]")?.remove();
        this.#showAreas(areas, outlines);
      },
      onSubmit: (query) => void this.#retrieve(query, capabilities, place, pushAddress),
    });
    const fold = requestFold(form.element, examples);
    const place = {
      notice: html("div", { class: "notice" }),
      result: html("div", { class: "result" }),
      fold: fold.fold,
    };
    this.#panel.replaceChildren(
      place.notice,
      fold.element,
      place.result,
      operationList(),
      provenance(capabilities),
    );
    this.#take = (texts) => {
      fold.element.open = true;
      form.take(texts);
      fold.element.scrollIntoView({ block: "nearest" });
    };
    this.#openAddress = () => {
      const { state, unread } = readAddress(location.hash);
      const [example] = examples;
      const initial = example === undefined || this.#answer !== undefined ? {} : { areas: [example.area] };
      this.#hour = state.hour;
      form.fill({ ...initial, ...state });
      place.notice.replaceChildren(...unreadNote(unread));
      const query = form.query();
      if (query === undefined) {
        // The map is at other areas now: an earlier answer is not theirs.
        this.#retrieval?.abort();
        this.#setAnswer(undefined);
        place.result.replaceChildren();
        fold.element.open = true;
      } else void this.#retrieve(query, capabilities, place, replaceAddress);
    };
    this.#openAddress();
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
    const start: AreaDrawing["start"] = (initial, done) => {
      this.#cancelDrawing();
      this.#answer?.select(undefined);
      this.#drawing = new Drawing(this.#map, capabilities.area, initial, (area) => {
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

  #showAreas(areas: readonly Area[], outlines: readonly (readonly Point[])[]): void {
    this.#map.showAreas(areas, outlines);
    this.#map.moveTo(areas);
  }

  /**
   * Sends the requests of a query, aborting those in progress, and shows their answer. What is on the map stays there
   * until then.
   * @param write puts the state into the address once the answer is there
   */
  async #retrieve(
    query: Query,
    capabilities: Capabilities,
    place: Place,
    write: (state: ViewState) => void,
  ): Promise<void> {
    this.#retrieval?.abort();
    const retrieval = new AbortController();
    this.#retrieval = retrieval;
    const progress = progressNote(() => {
      retrieval.abort();
      const note = html("p", { class: "note", tabindex: -1 }, "Cancelled.");
      progress.element.replaceWith(note);
      note.focus();
      announce("Cancelled.");
    });
    const notes = [...place.notice.querySelectorAll(".unread")];
    place.notice.replaceChildren(...notes, progress.element);
    announce("Asking…");
    const requests = requestsOf(query);
    try {
      const densities = await retrieveDensities(requests, retrieval.signal, (index) =>
        progress.show(index, requests.length),
      );
      if (retrieval.signal.aborted) return;
      place.notice.replaceChildren(...notes);
      this.#show(densities, query, capabilities, place.result);
      const hasCells = densities.geohashes.length > 0;
      place.fold(query, hasCells);
      // On a phone, the form is below the map.
      if (hasCells) element("stage").scrollIntoView({ block: "start" });
      write({ ...query, ...(this.#hour === undefined ? {} : { hour: this.#hour }) });
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      if (!(error instanceof ApiError)) throw error;
      announce("");
      place.notice.replaceChildren(
        ...notes,
        alertBox(
          error,
          html("p", { class: "note" }, html("code", {}, error.code)),
          this.#answer !== undefined && html("p", { class: "note" }, "The map shows the answer before it."),
          // What the API says is wrong with a request is wrong with it the next time.
          error.status !== 400 &&
            html(
              "button",
              { type: "button", click: () => this.#retrieve(query, capabilities, place, write) },
              "Try again",
            ),
        ),
      );
    }
  }

  #show(densities: Densities, query: Query, capabilities: Capabilities, place: HTMLElement): void {
    this.#setAnswer(undefined);
    const threshold = capabilities.suppressionThreshold;
    const onCell = (index: number) => {
      this.select(index);
      // On a phone, the card is above the list.
      element("cell").firstElementChild?.scrollIntoView({ block: "nearest" });
    };
    const onCoverage = () => this.#map.moveToCoverage();
    const quality = capabilities.forecastQuality.find(({ precision }) => precision === query.precision);
    const requests = requestsOf(query);
    const result = resultPanel({ densities, requests, threshold, quality, onCell, onCoverage });
    place.replaceChildren(result.element);
    if (densities.geohashes.length === 0) {
      this.#hour = undefined;
      announce(result.note);
      return;
    }
    const { hours } = densities;
    const onHour = (index: number) => {
      result.showHour(index);
      this.#hour = hours[index]?.start;
      if (this.#answer !== undefined) replaceAddress({ ...query, ...(this.#hour && { hour: this.#hour }) });
    };
    const hour = Math.max(
      0,
      hours.findIndex(({ start }) => start.getTime() === this.#hour?.getTime()),
    );
    const closeCell = () => this.select(undefined);
    this.#setAnswer(new AnswerView({ map: this.#map, densities, threshold, hour, onHour, closeCell }));
    const size = `${counted(densities.geohashes.length, "cell")}, ${counted(densities.hours.length, "hour")} on the map.`;
    announce(`${size} ${result.note}`.trim());
  }

  #setAnswer(answer: AnswerView | undefined): void {
    this.#answer?.remove();
    this.#answer = answer;
  }
}

/** Where the panel says how a request goes, and what its answer is. */
interface Place {
  readonly notice: HTMLElement;
  readonly result: HTMLElement;
  /** Says in a line what was asked for, into which it folds the form if there is an answer to see. */
  readonly fold: (query: Query, hasAnswer: boolean) => void;
}

/** Says that the API is being asked, with a button that cancels. */
function progressNote(cancel: () => void) {
  const text = html("span");
  const show = (index: number, count: number) => {
    text.textContent = count > 1 ? `Asking for area ${index + 1} of ${count}…` : "Asking…";
  };
  const button = html("button", { type: "button", click: cancel }, "Cancel");
  return { element: html("div", { class: "progress row spread" }, text, button), show };
}

/** Names the members of the address that cannot be read. */
function unreadNote(names: readonly string[]): HTMLElement[] {
  if (names.length === 0) return [];
  return [
    html("p", { class: "warning unread" }, `The address has parts that cannot be read: ${names.join(", ")}.`),
  ];
}

/** Shows an error of the API, with further details. */
function alertBox(error: ApiError, ...details: readonly (HTMLElement | false)[]): HTMLElement {
  return html(
    "div",
    { class: "problem", role: "alert" },
    html("p", {}, separated(error.message)),
    ...details,
  );
}

/** Shows the source of the numbers. */
function provenance({ provenance: sources }: Capabilities): HTMLElement {
  const title = "Where the numbers come from";
  return html(
    "section",
    { class: "provenance note", "aria-label": title },
    sources.length > 0 && html("h2", {}, title),
    sources.length > 0 && html("p", {}, "In all that is covered, the latest first:"),
    ...sources.map(({ source, licence }) =>
      html("p", {}, licence === undefined ? source : `${source} (${licence})`),
    ),
  );
}
