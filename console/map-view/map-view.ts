/** The map view: the form in the panel, its retrieval, and the showing of its answer. */
import { startAt } from "../base/demo.ts";
import { element } from "../base/dom.ts";
import { currentLogin, onLoginChange } from "../base/session.ts";
import { onThemeChange } from "../base/theme.ts";
import { afterHours, hoursFromNow, serviceTime, useDataZone } from "../base/time.ts";
import type { Area, Point } from "../data/area.ts";
import type { Capabilities } from "../data/capabilities.ts";
import { areCovered } from "../data/covered.ts";
import { boxRing } from "../data/outlines.ts";
import type { Query } from "../data/query.ts";
import { absentMap, hasWebGl } from "../map/absent-map.ts";
import { createMap, type DensityMap } from "../map/density-map.ts";
import { detailAround } from "../map/detail.ts";
import { readAddress, type ViewState } from "../request/address.ts";
import { dayNamed } from "../request/day-and-hour.ts";
import { onGivenTexts } from "../request/given-files.ts";
import type { QueryProblem } from "../request/validation.ts";
import { onAddressChange, pushAddress, replaceAddress } from "./address-bar.ts";
import { FormPanel } from "./form-panel.ts";
import { firstAsked, hasFewRequests, isAskedByItself, Retrieval } from "./retrieval.ts";
import { Showing } from "./showing.ts";

/** That of an area which cannot be asked for yet: its cells are not larger than it is. */
const finestPrecision = 12;

/** How long the ground and its places wait for the first answer: what is asked for first is drawn first. */
const groundWaitMilliseconds = 1_500;

/** Shows the map and, while somebody is logged in, the panel. */
export async function showMapView(mapStyle: string): Promise<void> {
  let view: MapView | undefined;
  const map = hasWebGl()
    ? await createMap(element("map"), mapStyle, (index) => view?.select(index))
    : absentMap(element("map"));
  const shown = new MapView(map);
  view = shown;
  onThemeChange(() => shown.showing.showLegend());
  onAddressChange(() => void shown.openAddress());
  onGivenTexts((texts) => shown.take(texts));
  void shown.showStart();
  onLoginChange((login) => {
    if (login === undefined) shown.clear();
    else void shown.open();
  });
}

/** Goes to the headline after a login, unless somebody has gone elsewhere meanwhile. */
function focusHeadline(): void {
  const headline = document.querySelector<HTMLElement>("#timeline .headline");
  if (headline === null || !element("login").hasChildNodes()) return;
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  headline.focus({ preventScroll: true });
}

class MapView {
  readonly showing: Showing;
  readonly #map: DensityMap;
  readonly #retrieval = new Retrieval();
  #panel: FormPanel | undefined;

  constructor(map: DensityMap) {
    this.#map = map;
    this.showing = new Showing({
      map,
      onHour: (hour) => this.#panel?.dayAndHour.show(hour),
      onCell: (index) => this.select(index),
      onZone: () => this.#panel?.form.fill({}),
    });
  }

  /** Shows the ground of the place that is covered, where this machine covers one by a model. */
  async showStart(): Promise<void> {
    const [latitude, longitude] = startAt;
    if (latitude === undefined || longitude === undefined) return;
    const [west, south, east, north] = [longitude - 0.06, latitude - 0.04, longitude + 0.06, latitude + 0.04];
    const ring = boxRing({ west, south, east, north });
    this.#map.moveToBox({ west, south, east, north });
    const detail = await detailAround({ bbox: [west, south, east, north], coordinates: [[ring]] });
    // With the panel comes that of all that is covered.
    if (this.#panel === undefined) this.#map.showDetail(detail);
  }

  /** Shows the panel, and the answer to its first request. */
  async open(): Promise<void> {
    element("panel").replaceChildren(this.#retrieval.element);
    const login = currentLogin();
    const capabilities = await this.#retrieval.capabilities();
    if (capabilities !== undefined && currentLogin() === login) await this.#showPanel(capabilities);
    this.#map.drawBase();
  }

  /** Shows what the address names. Resolves once its answer is drawn, if it names a request. */
  async openAddress(): Promise<void> {
    const panel = this.#panel;
    if (panel === undefined) return;
    const { state, unread } = readAddress(location.hash);
    const [example] = panel.examples;
    const initial = example === undefined || this.showing.hasCells ? {} : { areas: [example.area] };
    this.showing.hour = state.hour;
    panel.dayAndHour.show(state.hour ?? serviceTime());
    const common = state.areas === undefined ? this.showing.scale : "All answers";
    this.showing.scale = state.scale ?? common;
    this.showing.isTilted = state.isTilted ?? false;
    panel.form.fill({ ...initial, ...state });
    panel.showUnread(unread);
    const query = panel.form.query();
    if (query === undefined) {
      // The map is at other areas now: an earlier answer is not theirs.
      this.#retrieval.clear();
      this.showing.remove();
      panel.showOutdated(undefined);
      panel.showNoAnswer();
    } else {
      const beginsWithHour = !this.showing.hasCells;
      await this.#retrieve(query, { write: replaceAddress, folds: true, beginsWithHour });
    }
  }

  /** Takes areas that were dropped on the page, or pasted. */
  take(texts: readonly string[]): void {
    if (document.body.dataset.view !== "map" || this.#panel === undefined) return;
    const { form } = this.#panel;
    form.take(texts);
    form.where.scrollIntoView({ block: "nearest" });
  }

  /** Removes everything that belongs to the previous login. */
  clear(): void {
    this.#retrieval.clear();
    this.#panel?.cancelDrawing();
    this.showing.remove();
    this.#panel = undefined;
    this.#map.showAreas([], []);
    this.#map.drawBase();
    element("panel").replaceChildren();
  }

  /** Shows the card of a cell; hides it for undefined. Does nothing while an area is being drawn. */
  select(index: number | undefined): void {
    if (this.#panel?.isDrawing) return;
    this.showing.select(index);
    // On a phone, the card is below the map and above the list of cells.
    element("cell").firstElementChild?.scrollIntoView({ block: "nearest" });
  }

  /** Resolves once the first answer is drawn, or after 1.5 s. */
  async #showPanel(capabilities: Capabilities): Promise<void> {
    const { coverage, typicalWeek } = capabilities;
    useDataZone(typicalWeek.timeZone);
    if (coverage !== undefined) this.#map.showCoverage(coverage);
    const submit = (query: Query) => void this.#retrieve(query, { write: pushAddress, folds: true });
    const panel = new FormPanel({
      map: this.#map,
      capabilities,
      asking: this.#retrieval.element,
      onAreas: (areas, outlines) => this.#showAreas(areas, outlines),
      onChange: (problem) => this.#followForm(problem),
      onSubmit: submit,
      // Of more requests, the cost is seen first.
      onFound: (query) => hasFewRequests(query) && submit(query),
      onHour: (...picked) => this.#pick(...picked),
      onNow: () => this.#ask({ from: hoursFromNow(0), hours: 1, hour: hoursFromNow(0) }),
      onDraw: () => {
        this.#retrieval.stopWaiting();
        this.showing.select(undefined);
      },
    });
    this.#panel = panel;
    const wait = new Promise((resolve) => setTimeout(resolve, groundWaitMilliseconds));
    const opened = this.openAddress().then(focusHeadline);
    await Promise.race([opened, wait]);
    void panel.showGround().then((cities) => {
      this.showing.cities = cities.filter(({ people }) => people > 0);
    });
  }

  #showAreas(areas: readonly Area[], outlines: readonly (readonly Point[])[]): void {
    this.#map.showAreas(areas, outlines);
    const rings = areas.map(({ boundary }) => boundary);
    const isCovered = areCovered(rings, this.#panel?.capabilities.coverage);
    const precision = this.#panel?.form.query()?.precision ?? finestPrecision;
    // With some ground around it, where there is nothing else to see.
    this.showing.moveTo(areas, precision, isCovered ? undefined : 9);
  }

  /**
   * Dims numbers that are not of what the form asks for any more, and asks for those that are: by itself after a pause
   * where the answer is small, otherwise by a click.
   */
  #followForm(problem: QueryProblem | undefined): void {
    this.#retrieval.stopWaiting();
    const query = this.#panel?.form.query();
    if (query !== undefined && isAskedByItself(query)) {
      this.#showOutdated(query, "This one is asked for in a moment.");
      if (this.showing.isOf(query)) return;
      this.#retrieval.wait(() => void this.#retrieve(query, { write: pushAddress, folds: false }));
      return;
    }
    this.#showOutdated(query, query === undefined ? "" : "Show densities to ask for this one.");
    // The form has the button that asks, and what mends a request, but for its areas.
    if (this.showing.isOutdatedFor(query) && this.#panel !== undefined && problem?.areas === undefined)
      this.#panel.fold.element.open = true;
  }

  /** Dims and names numbers that are not of what the form asks for. @param next how that is asked for */
  #showOutdated(query: Query | undefined, next = ""): void {
    const isOutdated = this.showing.isOutdatedFor(query);
    this.#panel?.showOutdated(isOutdated ? next : undefined);
    if (isOutdated) this.showing.select(undefined);
  }

  /** Shows the answer to a query. What is on the map stays there until then. */
  async #retrieve(query: Query, { write, folds, beginsWithHour = false }: Arrival): Promise<void> {
    const panel = this.#panel;
    if (panel === undefined) return;
    this.#showOutdated(query);
    const { capabilities, fold, result } = panel;
    const asked = beginsWithHour ? firstAsked(query, this.showing.hour) : query;
    const densities = await this.#retrieval.densities(asked, capabilities.typicalWeek);
    if (densities === undefined || this.#panel !== panel) return;
    const isWhole = asked.hours === query.hours;
    this.showing.show(densities, query, capabilities, result, isWhole);
    if (!isWhole) void this.#retrieveAll(query, panel);
    this.#showOutdated(query);
    fold.describe(query);
    if (this.showing.hasCells && folds) {
      fold.close();
      // On a phone, the form is below the map.
      element("stage").scrollIntoView({ block: "start" });
    }
    this.showing.write(write);
    await this.#map.cells.drawn();
    void panel.showZone(query, () => this.showing.isOf(query));
  }

  /** Shows all hours of a query instead of its first. Where they do not come, the page says so, and the first stays. */
  async #retrieveAll(query: Query, { capabilities, result }: FormPanel): Promise<void> {
    const text = "Asking for the other hours…";
    const densities = await this.#retrieval.densities(query, capabilities.typicalWeek, text);
    if (densities !== undefined && this.showing.isOf(query))
      this.showing.show(densities, query, capabilities, result);
  }

  /** Shows an hour of the answer on view, or asks for the day that has it. */
  #pick(weekday: string, clock: string): void {
    const form = this.#panel?.form;
    if (this.showing.isOf(form?.query()) && this.showing.choose(weekday, clock)) return;
    const now = serviceTime();
    const isPast = this.showing.hour !== undefined && afterHours(this.showing.hour, 1) <= now;
    const day = dayNamed(weekday, clock, { isPast, now });
    if (day !== undefined) this.#ask({ ...day, hours: 24 });
  }

  /** Asks for another period, of which an hour is wanted. */
  #ask({ hour, ...period }: Required<Pick<ViewState, "from" | "hours" | "hour">>): void {
    this.showing.hour = hour;
    this.#panel?.form.fill(period);
    const query = this.#panel?.form.query();
    if (query !== undefined) void this.#retrieve(query, { write: pushAddress, folds: true });
  }
}

/** What happens once an answer has arrived. */
interface Arrival {
  /** Puts what is on view into the address. */
  readonly write: typeof pushAddress;
  /** Whether the form is folded into a line above the answer. */
  readonly folds: boolean;
  /** Whether the hour that is shown first comes before the others: of what nobody asked for who has seen its cost. */
  readonly beginsWithHour?: boolean;
}
