/** The map view: the panel with the form, and the answer on the map. */

import { AnswerView } from "../answer/answer-view.ts";
import { type CellSizes, sizesOf } from "../answer/cell-sizes.ts";
import type { ScaleName } from "../answer/legend.ts";
import { paperHeading } from "../answer/paper-heading.ts";
import { resultPanel } from "../answer/result.ts";
import { retrieveDensities } from "../answer/retrieval.ts";
import { withUnusual } from "../answer/unusual.ts";
import { Asking } from "../base/asking.ts";
import { announce, element, html, linksTo } from "../base/dom.ts";
import { loadPart } from "../base/lazy.ts";
import { counted } from "../base/numbers.ts";
import { panel } from "../base/panel.ts";
import { allowedPlaces, currentLogin, onLoginChange } from "../base/session.ts";
import { onThemeChange } from "../base/theme.ts";
import { useDataZone } from "../base/time.ts";
import { type Area, type Box, boxArea, type Point } from "../data/area.ts";
import { isModelled } from "../data/basis.ts";
import type { Capabilities, Coverage } from "../data/capabilities.ts";
import { areCovered, qualityIn } from "../data/covered.ts";
import type { Densities } from "../data/densities.ts";
import { boxOfCells } from "../data/outlines.ts";
import { type Query, requestsOf } from "../data/query.ts";
import type { City } from "../data/regions.ts";
import { createMap, type DensityMap } from "../map/density-map.ts";
import { citiesAround, detailAround } from "../map/detail.ts";
import { Drawing } from "../map/drawing.ts";
import { empty } from "../map/geojson.ts";
import { savePicture } from "../map/picture.ts";
import { readAddress, type ViewState, writeAddress } from "../request/address.ts";
import type { AreaDrawing } from "../request/area-field.ts";
import { dayNamed, firstShown, hourAt } from "../request/day-and-hour.ts";
import { dayAndHourFields } from "../request/day-and-hour-fields.ts";
import { type Example, examplesIn } from "../request/examples.ts";
import { onGivenTexts } from "../request/given-files.ts";
import { fileName, placesName } from "../request/place-name.ts";
import { readCapabilities } from "../request/read-capabilities.ts";
import { requestFold } from "../request/request-fold.ts";
import { type RequestForm, requestForm } from "../request/request-form.ts";
import { largestCount, type QueryProblem } from "../request/validation.ts";
import { zoneText } from "../request/zone.ts";
import { keptState, onAddressChange, pushAddress, replaceAddress } from "./address-bar.ts";
import { operationList } from "./operations.ts";
import { placesPanel } from "./places-panel.ts";
import { webhookSecrets } from "./webhook-secrets.ts";

/**
 * Answers with at most as many cells × hours, to at most as many requests, are asked for without a click, after a pause:
 * of more, the cost is seen first.
 */
const askedForByItself = 12_000;
const requestsByItself = 2;
const pauseMilliseconds = 900;

/** That of an area which cannot be asked for yet: its cells are not larger than it is. */
const finestPrecision = 12;

/** How long the ground and its places wait for the first answer: what is asked for first is drawn first. */
const groundWaitMilliseconds = 1_500;

/** Shows the map and, while somebody is logged in, the panel. */
export async function showMapView(mapStyle: string): Promise<void> {
  let view: MapView | undefined;
  const map = await createMap(element("map"), mapStyle, (index) => view?.select(index));
  const shown = new MapView(map);
  view = shown;
  onThemeChange(() => shown.showLegend());
  onAddressChange(() => void shown.openAddress());
  onGivenTexts((texts) => shown.take(texts));
  onLoginChange((login) => {
    if (login === undefined) shown.clear();
    else void shown.open();
  });
}

/** What the panel has while somebody is logged in. */
interface Form {
  readonly capabilities: Capabilities;
  readonly examples: readonly Example[];
  readonly form: RequestForm;
  readonly fold: ReturnType<typeof requestFold>;
  /** Says that the numbers on view are not of what the form asks for. */
  readonly outdated: HTMLElement;
  readonly unread: HTMLElement;
  /** Says that an area has another time zone than the data. */
  readonly zone: HTMLElement;
  readonly result: HTMLElement;
}

class MapView {
  readonly #map: DensityMap;
  readonly #panel = element("panel");
  readonly #asking = new Asking();
  #form: Form | undefined;
  #answer: AnswerView | undefined;
  /** Those of the answer on view. */
  #hours: Densities["hours"] = [];
  readonly #dayAndHour = dayAndHourFields((...picked) => this.#pick(...picked));
  /** What the answer on view was asked for. */
  #asked: Query | undefined;
  #drawing: Drawing | undefined;
  /** Start of the hour on view, or of the one that the address names. */
  #hour: Date | undefined;
  /** The scale on view; undefined before the first answer. */
  #scale: ScaleName | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** Those that the page knows; none before they are loaded. */
  #cities: readonly City[] = [];
  /** The areas and the precision whose cells the map has moved to, as in an address. */
  #movedTo: string | undefined;

  constructor(map: DensityMap) {
    this.#map = map;
  }

  /** Shows the panel, and the answer to its first request. */
  async open(): Promise<void> {
    this.#panel.replaceChildren(this.#asking.element);
    const login = currentLogin();
    const capabilities = await this.#asking.ask({
      ask: readCapabilities,
      text: "Reading what can be asked for…",
    });
    if (capabilities !== undefined && currentLogin() === login) await this.#showPanel(capabilities);
    this.#map.drawBase();
  }

  /** Shows what the address names. Resolves once its answer is drawn, if it names a request. */
  async openAddress(): Promise<void> {
    if (this.#form === undefined) return;
    const { form, examples, fold, unread: note, zone, result } = this.#form;
    const { state, unread } = readAddress(location.hash);
    const [example] = examples;
    const initial = example === undefined || this.#answer !== undefined ? {} : { areas: [example.area] };
    this.#hour = state.hour;
    this.#dayAndHour.show(state.hour ?? new Date());
    this.#scale = keptState()?.scale ?? (state.areas === undefined ? this.#scale : "All answers");
    form.fill({ ...initial, ...state });
    note.replaceChildren(...unreadNote(unread));
    const query = form.query();
    if (query === undefined) {
      // The map is at other areas now: an earlier answer is not theirs.
      this.#asking.clear();
      this.#setAnswer(undefined);
      this.#showOutdated(query);
      result.replaceChildren();
      zone.textContent = "";
      fold.describe(undefined);
      fold.element.open = true;
    } else await this.#retrieve(query, { write: replaceAddress, folds: true });
  }

  /** Takes areas that were dropped on the page, or pasted. */
  take(texts: readonly string[]): void {
    if (document.body.dataset.view !== "map" || this.#form === undefined) return;
    const { form } = this.#form;
    form.take(texts);
    form.where.scrollIntoView({ block: "nearest" });
  }

  /** Removes everything that belongs to the previous login. */
  clear(): void {
    clearTimeout(this.#pause);
    this.#asking.clear();
    this.#cancelDrawing();
    this.#setAnswer(undefined);
    this.#form = undefined;
    this.#map.showAreas([], []);
    this.#map.drawBase();
    this.#panel.replaceChildren();
  }

  /** Shows the card of a cell; hides it for undefined. Does nothing while an area is being drawn. */
  select(index: number | undefined): void {
    if (this.#drawing !== undefined) return;
    this.#answer?.select(index);
    // On a phone, the card is below the map and above the list of cells.
    element("cell").firstElementChild?.scrollIntoView({ block: "nearest" });
  }

  /** Shows the legend in the colours of the current theme. */
  showLegend(): void {
    this.#answer?.showLegend();
  }

  /** Resolves once the first answer is drawn, or after 1.5 s. */
  async #showPanel(capabilities: Capabilities): Promise<void> {
    const { coverage } = capabilities;
    useDataZone(capabilities.typicalWeek.timeZone);
    const places = html("div");
    let showCities: (cities: readonly City[]) => void = () => undefined;
    const cities = new Promise<readonly City[]>((resolve) => {
      showCities = resolve;
    });
    if (coverage !== undefined) this.#map.showCoverage(coverage);
    const examples = examplesIn(coverage);
    const form = requestForm({
      capabilities,
      examples,
      cities,
      drawing: this.#areaDrawing(capabilities),
      onAreas: (areas, outlines) => this.#showAreas(areas, outlines),
      onChange: (problem) => this.#followForm(problem),
      onCoverage: () => this.#map.moveToCoverage(),
      onSubmit: (query) => void this.#retrieve(query, { write: pushAddress, folds: true }),
      onFound: (query) => {
        // Of more requests, the cost is seen first.
        if (query.areas.length <= requestsByItself)
          void this.#retrieve(query, { write: pushAddress, folds: true });
      },
    });
    const fold = requestFold(form.element, examples);
    const [outdated, unread, zone, result] = [
      html("div", { "aria-live": "polite" }),
      html("div"),
      html("div", { class: "note", "aria-live": "polite" }),
      html("div", { class: "result" }),
    ];
    this.#form = { capabilities, examples, form, fold, outdated, unread, zone, result };
    this.#panel.replaceChildren(
      html("div", { class: "notice" }, unread, this.#asking.element, outdated),
      form.where,
      this.#dayAndHour.element,
      zone,
      fold.element,
      result,
      places,
      operationList(() => {
        const query = form.query();
        return query && requestsOf(query);
      }),
      webhookSecrets(),
      ...otherApis(),
      provenance(capabilities),
    );
    const wait = new Promise((resolve) => setTimeout(resolve, groundWaitMilliseconds));
    await Promise.race([this.openAddress(), wait]);
    void this.#showGround(coverage, places).then(showCities);
  }

  /** Draws the ground in detail, and names what is covered. @returns the cities of the map */
  async #showGround(coverage: Coverage | undefined, place: HTMLElement): Promise<readonly City[]> {
    const detail = coverage === undefined ? empty : await detailAround(coverage);
    this.#map.showDetail(detail);
    const cities = await citiesAround(detail);
    this.#cities = cities.filter(({ people }) => people > 0);
    if (coverage === undefined) return cities;
    const onRegions = (boxes: readonly Box[]) => {
      if (boxes[0] !== undefined && boxes.length === 1) this.#map.moveToBox(boxes[0]);
      const areas = boxes.flatMap((box) => boxArea(box) ?? []);
      if (areas.length > 0) this.#form?.form.fill({ areas });
    };
    place.replaceChildren(placesPanel({ coverage, cities, onRegions }));
    return cities;
  }

  #areaDrawing(capabilities: Capabilities): AreaDrawing {
    const start: AreaDrawing["start"] = (initial, done) => {
      this.#cancelDrawing();
      clearTimeout(this.#pause);
      this.#answer?.select(undefined);
      this.#drawing = new Drawing(this.#map, capabilities.area, initial, (area) => {
        this.#drawing = undefined;
        if (area === undefined) this.#form?.form.fill({});
        else done(area);
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
    const rings = areas.map(({ boundary }) => boundary);
    const isCovered = areCovered(rings, this.#form?.capabilities.coverage);
    const precision = this.#form?.form.query()?.precision ?? finestPrecision;
    // With some ground around it, where there is nothing else to see.
    this.#moveToCells(areas, precision, isCovered ? undefined : 9);
  }

  /** Moves to all cells that areas touch: coarse ones reach far beyond them. */
  #moveToCells(areas: readonly Area[], precision: number, most?: number): void {
    const box = boxOfCells(areas, precision);
    this.#movedTo = writeAddress({ areas, precision });
    if (box !== undefined) this.#map.moveToBox(box, most);
  }

  /**
   * Dims numbers that are not of what the form asks for any more, and asks for those that are: by itself after a pause
   * where the answer is small, otherwise by a click.
   */
  #followForm(problem: QueryProblem | undefined): void {
    clearTimeout(this.#pause);
    const { form, fold } = this.#form ?? {};
    const query = form?.query();
    if (query !== undefined && isAskedByItself(query)) {
      this.#showOutdated(query, "This one is asked for in a moment.");
      if (textOf(query) === textOf(this.#asked)) return;
      const ask = () => void this.#retrieve(query, { write: pushAddress, folds: false });
      this.#pause = setTimeout(ask, pauseMilliseconds);
      return;
    }
    this.#showOutdated(query, query === undefined ? "" : "Show densities to ask for this one.");
    // The form has the button that asks, and what mends a request, but for its areas.
    if (this.#isOutdatedFor(query) && fold !== undefined && problem?.areas === undefined)
      fold.element.open = true;
  }

  /** Whether the numbers on view are not of what the form asks for. */
  #isOutdatedFor(query: Query | undefined): boolean {
    return this.#asked !== undefined && textOf(this.#asked) !== textOf(query);
  }

  /** Dims and names numbers that are not of what the form asks for. @param next how that is asked for */
  #showOutdated(query: Query | undefined, next = ""): void {
    const isOutdated = this.#isOutdatedFor(query);
    const { outdated, zone, result } = this.#form ?? {};
    for (const one of [element("timeline"), element("legend"), result])
      one?.toggleAttribute("inert", isOutdated);
    element("map-view").classList.toggle("is-outdated", isOutdated);
    if (zone !== undefined) zone.hidden = isOutdated;
    if (isOutdated) this.#answer?.select(undefined);
    const note = `The numbers are of the former request. ${next}`.trim();
    outdated?.replaceChildren(...(isOutdated ? [html("p", { class: "warning" }, note)] : []));
  }

  /**
   * Sends the requests of a query, ending those in progress, and shows their answer. What is on the map stays there
   * until then.
   */
  async #retrieve(query: Query, { write, folds }: Showing): Promise<void> {
    clearTimeout(this.#pause);
    const { capabilities, fold } = this.#form ?? {};
    if (capabilities === undefined || fold === undefined) return;
    this.#showOutdated(query);
    const requests = requestsOf(query);
    const densities = await this.#asking.ask({
      ask: (signal, say) =>
        retrieveDensities(requests, capabilities.typicalWeek, signal, (index) => {
          if (requests.length > 1) say(`Asking for area ${index + 1} of ${requests.length}…`);
        }),
      isCancellable: true,
    });
    if (densities === undefined || this.#form === undefined) return;
    this.#show(densities, query, capabilities);
    this.#showOutdated(query);
    const hasCells = densities.geohashes.length > 0;
    fold.describe(query);
    if (hasCells && folds) fold.close();
    // On a phone, the form is below the map.
    if (hasCells && folds) element("stage").scrollIntoView({ block: "start" });
    write(this.#stateOf(query), { scale: this.#scaleOf(query) });
    await this.#map.cells.drawn();
    void this.#showZone(query);
  }

  /** Says so where the clocks of an area differ from those of the data. */
  async #showZone(query: Query): Promise<void> {
    const { capabilities, zone } = this.#form ?? {};
    const { timeZone } = capabilities?.typicalWeek ?? {};
    if (zone === undefined || timeZone === undefined) return;
    await loadPart(zone, async () => {
      const { default: lookUp } = await import("@photostructure/tz-lookup");
      if (this.#asked === query) zone.textContent = zoneText(query.areas, query.from, timeZone, lookUp) ?? "";
    });
  }

  /** Shows an hour of the answer on view, or asks for the day that has it. */
  #pick(weekday: string, clock: string): void {
    const { form } = this.#form ?? {};
    const index = hourAt(this.#hours, weekday, clock);
    const isOnView = this.#asked !== undefined && !this.#isOutdatedFor(form?.query());
    if (index !== undefined && isOnView) {
      this.#answer?.choose(index);
      return;
    }
    const now = new Date();
    const day = dayNamed(weekday, clock, { isPast: (this.#hour ?? now) < now, now });
    if (day === undefined) return;
    this.#hour = day.hour;
    form?.fill({ from: day.from, hours: 24 });
    const query = form?.query();
    if (query !== undefined) void this.#retrieve(query, { write: pushAddress, folds: true });
  }

  #stateOf(query: Query): ViewState {
    return { ...query, ...(this.#hour === undefined ? {} : { hour: this.#hour }) };
  }

  /** One area has a scale of its own; several, and an address that was opened, have the common one. */
  #scaleOf({ areas }: Query): ScaleName {
    return this.#scale ?? (areas.length > 1 ? "All answers" : "This answer");
  }

  #show(answer: Densities, query: Query, capabilities: Capabilities): void {
    const densities = withUnusual(answer, capabilities.quality);
    this.#setAnswer(undefined);
    this.#asked = query;
    const threshold = capabilities.suppressionThreshold;
    const sizes = sizesOf(densities.geohashes, query.areas);
    const result = this.#resultOf(densities, sizes, query, capabilities);
    this.#form?.result.replaceChildren(result.element);
    if (densities.geohashes.length === 0) {
      this.#hour = undefined;
      announce(result.note);
      return;
    }
    const { areas, precision } = query;
    if (this.#movedTo !== writeAddress({ areas, precision })) this.#moveToCells(areas, precision);
    const { hours } = densities;
    this.#hours = hours;
    const replace = () => replaceAddress(this.#stateOf(query), { scale: this.#scaleOf(query) });
    const shown = new AnswerView({
      map: this.#map,
      densities,
      sizes,
      isModelled: isModelled(capabilities.provenance),
      threshold,
      hour: firstShown(hours, this.#hour),
      scale: this.#scaleOf(query),
      onHour: (index) => {
        result.showHour(index);
        this.#hour = hours[index]?.start;
        if (this.#hour !== undefined) this.#dayAndHour.show(this.#hour);
        if (this.#answer !== undefined) replace();
      },
      onScale: (scale) => {
        this.#scale = scale;
        replace();
      },
      closeCell: () => this.select(undefined),
      paperHeading: (hour) =>
        paperHeading({
          ...{ areas, precision, hour, cities: this.#cities },
          geohashes: densities.geohashes,
          provenance: capabilities.provenance,
        }),
      onZone: () => {
        this.#show(densities, query, capabilities);
        this.#form?.form.fill({});
      },
    });
    this.#setAnswer(shown);
    const size = `${counted(densities.geohashes.length, "cell")}, ${counted(hours.length, "hour")} on the map.`;
    announce(`${size} ${result.note}`.trim());
  }

  /** The panel's section about an answer. Its files have the names that the page knows when they are saved. */
  #resultOf(densities: Densities, sizes: CellSizes, query: Query, capabilities: Capabilities) {
    const place = () => placesName(query.areas, this.#cities);
    const sources = capabilities.provenance.map(({ source }) => source).join(", ");
    return resultPanel({
      densities,
      sizes,
      requests: requestsOf(query),
      threshold: capabilities.suppressionThreshold,
      quality: qualityIn(query, capabilities.forecastQuality),
      nameFile: (ending) => fileName(place(), query, ending),
      onCell: (index) => this.select(index),
      onPicture: () => {
        const { from, precision } = query;
        const name = fileName(place(), { from: this.#hour ?? from, precision }, ".png");
        savePicture(this.#map.library, { name, place: place(), sources });
      },
    });
  }

  #setAnswer(answer: AnswerView | undefined): void {
    this.#answer?.remove();
    this.#answer = answer;
    if (answer === undefined) this.#asked = undefined;
  }
}

/** How an answer is shown. */
interface Showing {
  /** Puts the state into the address once the answer is there. */
  readonly write: typeof pushAddress;
  /** Whether the form is folded into a line above the answer. */
  readonly folds: boolean;
}

/** A query as a text, to compare it with another one. */
function textOf(query: Query | undefined): string | undefined {
  return query && writeAddress(query);
}

/** The cells × hours of all areas together. */
function isAskedByItself(query: Query): boolean {
  const { areas, precision, hours } = query;
  const size = largestCount(query, precision) * areas.length * hours;
  return size <= askedForByItself && areas.length <= requestsByItself;
}

/** Names the members of the address that cannot be read. */
function unreadNote(names: readonly string[]): HTMLElement[] {
  if (names.length === 0) return [];
  return [html("p", { class: "warning" }, `The address has parts that cannot be read: ${names.join(", ")}.`)];
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
