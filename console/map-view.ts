/** The view with the map: what is asked for on its panel, and the answer on the map. */

import { showCell } from "./answer/cell-chart.ts";
import { type Densities, type DensityBody, densitiesOf } from "./answer/cells.ts";
import { showLegend } from "./answer/legend.ts";
import { resultOf } from "./answer/result.ts";
import { type Scale, scaleOf } from "./answer/scale.ts";
import { showTimeline, type Timeline } from "./answer/timeline.ts";
import { announce, element, html } from "./dom.ts";
import { ApiError } from "./http.ts";
import { createMap, type DensityMap } from "./map/density-map.ts";
import { type StopDrawing, startDrawing } from "./map/drawing.ts";
import { counted } from "./numbers.ts";
import { operationList } from "./operations.ts";
import type { Area } from "./request/area.ts";
import { type Capabilities, readCapabilities } from "./request/capabilities.ts";
import { examplesIn } from "./request/examples.ts";
import { type DensityRequest, requestForm } from "./request/request-form.ts";
import { callApi, onLoginChange } from "./session.ts";
import { onThemeChange } from "./theme.ts";

/** The path of the API that answers with densities. */
const retrieval = "populationdensitydata/retrieve";

/** Shows the map, and the panel of whoever is logged in. */
export async function showMapView(mapStyle: string): Promise<void> {
  const map = await createMap(element("map"), mapStyle, (index) => answer?.select(index));
  let answer: Answer | undefined;
  const view = new MapView(map, (next) => {
    answer = next;
  });
  onThemeChange(() => answer?.repaint());
  onLoginChange((login) => {
    if (login === undefined) view.clear();
    else void view.open();
  });
}

/** An answer on the map. */
class Answer {
  readonly densities: Densities;
  readonly #map: DensityMap;
  readonly #scale: Scale;
  readonly #threshold: number;
  readonly #timeline: Timeline;
  #hour = 0;
  #selected: number | undefined;

  constructor(map: DensityMap, densities: Densities, threshold: number, onHour: (hour: number) => void) {
    this.densities = densities;
    this.#map = map;
    this.#threshold = threshold;
    const published = densities.hours.flatMap(({ values }) => values.flatMap(({ density }) => density ?? []));
    this.#scale = scaleOf(published);
    map.showCells(densities, this.#scale);
    showLegend(this.#scale, threshold);
    this.#timeline = showTimeline(densities, (hour) => {
      this.#hour = hour;
      const shown = densities.hours[hour];
      if (shown === undefined) return;
      map.showHour(shown.values);
      element("map").dataset.hour = String(hour);
      onHour(hour);
      this.#showCell();
    });
  }

  /** Shows a cell of the answer; with undefined none. */
  select(index: number | undefined): void {
    if (document.body.classList.contains("is-drawing")) return;
    this.#selected = index;
    this.#map.select(index);
    this.#showCell();
  }

  /** After a change of the theme. */
  repaint(): void {
    showLegend(this.#scale, this.#threshold);
  }

  remove(): void {
    this.#timeline.stop();
    this.#map.showCells(undefined, this.#scale);
    showCell(undefined);
    showLegend(undefined, 0);
    element("timeline").replaceChildren();
  }

  #showCell(): void {
    const [index, { densities }] = [this.#selected, this];
    if (index === undefined) showCell(undefined);
    else
      showCell({
        densities,
        index,
        hour: this.#hour,
        threshold: this.#threshold,
        close: () => this.select(undefined),
      });
  }
}

class MapView {
  readonly #map: DensityMap;
  readonly #onAnswer: (answer: Answer | undefined) => void;
  #answer: Answer | undefined;
  #stopDrawing: StopDrawing | undefined;
  #asking: AbortController | undefined;

  constructor(map: DensityMap, onAnswer: (answer: Answer | undefined) => void) {
    this.#map = map;
    this.#onAnswer = onAnswer;
  }

  /** Reads what can be asked for, and asks for it first as an example shows. */
  async open(): Promise<void> {
    const panel = element("panel");
    panel.replaceChildren(html("p", { class: "note" }, "Reading what can be asked for…"));
    let capabilities: Capabilities;
    try {
      capabilities = await readCapabilities();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      panel.replaceChildren(
        html(
          "div",
          { class: "problem", role: "alert" },
          html("p", {}, error.message),
          error.status === 403 &&
            html(
              "p",
              { class: "note" },
              "Log out, and log in with an account that has it. The reference stays open.",
            ),
        ),
        ...(error.status === 403
          ? []
          : [html("button", { type: "button", click: () => this.open() }, "Try again")]),
      );
      return;
    }
    const { coverage } = capabilities;
    if (coverage !== undefined) this.#map.showCoverage(coverage);
    const examples = examplesIn(coverage);
    const result = html("div", { class: "result" });
    const form = requestForm({
      capabilities,
      examples,
      drawing: {
        start: (done) => {
          this.#stopDrawing?.();
          this.#stopDrawing = startDrawing(this.#map, capabilities.area, (area) => {
            this.#stopDrawing = undefined;
            done(area);
          });
        },
        cancel: () => this.#endDrawing(),
      },
      onArea: (area) => this.#showArea(area),
      onSubmit: (request) => void this.#ask(request, capabilities, result),
    });
    panel.replaceChildren(form, result, operationList(), provenanceOf(capabilities));
    if (examples.length === 0) return;
    form.requestSubmit();
  }

  /** Forgets what the person who was logged in has seen. */
  clear(): void {
    this.#asking?.abort();
    this.#endDrawing();
    this.#setAnswer(undefined);
    this.#map.showArea(undefined);
    element("panel").replaceChildren();
  }

  #endDrawing(): void {
    this.#stopDrawing?.();
    this.#stopDrawing = undefined;
  }

  #showArea(area: Area | undefined): void {
    this.#map.showArea(area);
    if (area !== undefined) this.#map.moveTo(area);
  }

  #setAnswer(answer: Answer | undefined): void {
    this.#answer?.remove();
    this.#answer = answer;
    this.#onAnswer(answer);
  }

  async #ask(request: DensityRequest, capabilities: Capabilities, result: HTMLElement): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    result.replaceChildren(html("p", { class: "note" }, "Asking…"));
    try {
      const response = await callApi(retrieval, {
        method: "POST",
        body: JSON.stringify(request),
        signal: asking.signal,
      });
      const densities = densitiesOf((await response.json()) as DensityBody);
      if (asking.signal.aborted) return;
      this.#show(densities, request, capabilities, result);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      if (!(error instanceof ApiError)) throw error;
      this.#setAnswer(undefined);
      result.replaceChildren(
        html(
          "div",
          { class: "problem", role: "alert" },
          html("p", {}, error.message),
          html("p", { class: "note" }, html("code", {}, error.code)),
        ),
      );
    }
  }

  #show(densities: Densities, request: DensityRequest, capabilities: Capabilities, place: HTMLElement): void {
    this.#setAnswer(undefined);
    const { suppressionThreshold } = capabilities;
    const result = resultOf(densities, request, retrieval, suppressionThreshold, (index) => {
      this.#answer?.select(index);
      // On a small screen it is above the list.
      element("cell").firstElementChild?.scrollIntoView({ block: "nearest" });
    });
    place.replaceChildren(result.element);
    if (densities.geohashes.length === 0) return;
    this.#setAnswer(new Answer(this.#map, densities, suppressionThreshold, result.showHour));
    announce(
      `${counted(densities.geohashes.length, "cell")}, ${counted(densities.hours.length, "hour")} on the map.`,
    );
  }
}

/** Says where the numbers come from. */
function provenanceOf({ provenance }: Capabilities): HTMLElement {
  const sources = provenance.map(({ source, licence }) =>
    html("p", {}, licence === undefined ? source : `${source} (${licence})`),
  );
  return html(
    "section",
    { class: "provenance note", "aria-label": "Where the numbers come from" },
    sources.length > 0 && html("h2", {}, "Where the numbers come from"),
    ...sources,
  );
}
