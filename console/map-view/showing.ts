/** An answer on the map and in the panel, with its hour and its scale. */

import { AnswerView } from "../answer/answer-view.ts";
import { type CellSizes, sizesOf } from "../answer/cell-sizes.ts";
import { paperHeading } from "../answer/paper-heading.ts";
import { resultPanel } from "../answer/result.ts";
import { withUnusual } from "../answer/unusual.ts";
import { announce, element } from "../base/dom.ts";
import { counted } from "../base/numbers.ts";
import type { Area } from "../data/area.ts";
import { isModelled } from "../data/basis.ts";
import type { Capabilities } from "../data/capabilities.ts";
import { qualityIn } from "../data/covered.ts";
import type { Densities } from "../data/densities.ts";
import { boxOfCells } from "../data/outlines.ts";
import { type Query, requestsOf } from "../data/query.ts";
import type { City } from "../data/regions.ts";
import { fixedScale, type ScaleName } from "../data/scale.ts";
import { sourceSentences } from "../data/sources.ts";
import type { DensityMap } from "../map/density-map.ts";
import { savePicture } from "../map/picture.ts";
import { type ViewState, writeAddress } from "../request/address.ts";
import { firstShown, hourAt } from "../request/day-and-hour.ts";
import { fileName, placesName } from "../request/place-name.ts";
import { type pushAddress, replaceAddress, urlOf } from "./address-bar.ts";

interface ShowingOptions {
  readonly map: DensityMap;
  /** Called for every hour that is shown, including the first. */
  readonly onHour: (hour: Date) => void;
  /** Called with the cell that the user chooses; with undefined to close its card. */
  readonly onCell: (index: number | undefined) => void;
  /** Called when times are shown in another time zone. */
  readonly onZone: () => void;
}

/** What is shown of the answers of a page, one after the other. */
export class Showing {
  /** Start of the hour on view, or of the one that is wanted. */
  hour: Date | undefined;
  /** The scale on view, or the one that is wanted; undefined before the first answer. */
  scale: ScaleName | undefined;
  /** Whether cells are columns, or are to be. */
  isTilted = false;
  /** Those that the page knows; none before they are loaded. */
  cities: readonly City[] = [];
  readonly #options: ShowingOptions;
  #answer: AnswerView | undefined;
  /** What the answer on view was asked for. */
  #asked: Query | undefined;
  /** Those of the answer on view. */
  #hours: Densities["hours"] = [];
  /** The areas and the precision whose cells the map has moved to, as in an address. */
  #movedTo: string | undefined;

  constructor(options: ShowingOptions) {
    this.#options = options;
  }

  /** Whether cells are on view. */
  get hasCells(): boolean {
    return this.#answer !== undefined;
  }

  /** Whether the answer on view is that of a query. */
  isOf(query: Query | undefined): boolean {
    return this.#asked !== undefined && textOf(this.#asked) === textOf(query);
  }

  /** Whether there is an answer to something else than a query. */
  isOutdatedFor(query: Query | undefined): boolean {
    return this.#asked !== undefined && !this.isOf(query);
  }

  /**
   * Shows an answer instead of the one before, and sums it up in the panel. Of the same query, the cell that was chosen,
   * the focus and what was unfolded stay.
   * @param isWhole whether all hours of the query are there
   */
  show(
    answer: Densities,
    query: Query,
    capabilities: Capabilities,
    panel: HTMLElement,
    isWhole = true,
  ): void {
    const selected = this.isOf(query) ? this.#answer?.selected : undefined;
    keepFocus(() => this.#replace(answer, query, capabilities, panel, isWhole));
    if (selected !== undefined) this.select(selected);
  }

  #replace(
    answer: Densities,
    query: Query,
    capabilities: Capabilities,
    panel: HTMLElement,
    isWhole: boolean,
  ): void {
    const densities = withUnusual(answer, capabilities.quality);
    const folds = () => [...panel.querySelectorAll("details")];
    const opened = this.isOf(query) ? folds().map(({ open }) => open) : [];
    this.#answer?.remove();
    this.#answer = undefined;
    this.#asked = query;
    const { geohashes, hours } = densities;
    const sizes = sizesOf(densities, query.areas);
    const result = this.#resultOf(densities, sizes, query, capabilities);
    panel.replaceChildren(result.element);
    for (const [index, fold] of folds().entries()) fold.open = opened[index] ?? fold.open;
    if (geohashes.length === 0) {
      this.#options.map.cells.show(undefined, fixedScale);
      this.hour = undefined;
      announce(result.note);
      return;
    }
    const { areas, precision } = query;
    if (this.#movedTo !== writeAddress({ areas, precision })) this.moveTo(areas, precision);
    this.#hours = hours;
    const { map, onHour, onCell, onZone } = this.#options;
    this.#answer = new AnswerView({
      map,
      densities,
      sizes,
      isModelled: isModelled(capabilities.provenance),
      threshold: capabilities.suppressionThreshold,
      hour: firstShown(hours, this.hour),
      scale: this.#scaleOf(query),
      onHour: (index) => {
        result.showHour(index);
        this.hour = hours[index]?.start;
        if (this.hour !== undefined) onHour(this.hour);
        if (this.#answer !== undefined) this.write(replaceAddress);
      },
      onScale: (scale) => {
        this.scale = scale;
        this.write(replaceAddress);
      },
      // The second of two answers would lay it flat again.
      isTilted: isWhole && this.isTilted,
      onTilt: (isTilted) => {
        this.isTilted = isTilted;
        this.write(replaceAddress);
      },
      closeCell: () => onCell(undefined),
      paperHeading: (hour) =>
        paperHeading({
          ...{ areas, precision, hour, cities: this.cities, name: query.name },
          ...{ provenance: capabilities.provenance, ground: groundCredits() },
        }),
      onZone: () => {
        this.show(densities, query, capabilities, panel);
        onZone();
      },
    });
    const size = `${counted(geohashes.length, "cell")}, ${counted(hours.length, "hour")} on the map.`;
    if (isWhole) announce(`${size} ${result.note}`.trim());
  }

  remove(): void {
    this.#answer?.remove();
    this.#answer = undefined;
    this.#options.map.cells.show(undefined, fixedScale);
    this.#asked = undefined;
  }

  /** Shows the card of a cell; hides it for undefined. */
  select(index: number | undefined): void {
    this.#answer?.select(index);
  }

  /** Shows an hour of the answer on view. @returns false if it has none of that name */
  choose(weekday: string, clock: string): boolean {
    const index = hourAt(this.#hours, weekday, clock);
    if (index !== undefined) this.#answer?.choose(index);
    return index !== undefined;
  }

  /** Shows the legend in the colours of the current theme. */
  showLegend(): void {
    this.#answer?.showLegend();
  }

  /** Moves to all cells that areas touch: coarse ones reach far beyond them. */
  moveTo(areas: readonly Area[], precision: number, most?: number): void {
    const box = boxOfCells(areas, precision);
    this.#movedTo = writeAddress({ areas, precision });
    if (box !== undefined) this.#options.map.moveToBox(box, most);
  }

  /** Puts what is on view into the address. */
  write(put: typeof pushAddress): void {
    if (this.#asked !== undefined) put(this.#stateOf(this.#asked));
  }

  /** What an address has of the answer to a query, as it is on view. */
  #stateOf(query: Query): ViewState {
    const { hour, isTilted } = this;
    return { ...query, ...(hour && { hour }), scale: this.#scaleOf(query), isTilted };
  }

  /** One area has a scale of its own; several, and an address that was opened, have the common one. */
  #scaleOf({ areas }: Query): ScaleName {
    return this.scale ?? (areas.length > 1 ? "All answers" : "This answer");
  }

  /** The panel's section about an answer. Its files have the names that the page knows when they are saved. */
  #resultOf(densities: Densities, sizes: CellSizes, query: Query, capabilities: Capabilities) {
    const { map, onCell } = this.#options;
    const { library } = map;
    const place = () => query.name ?? placesName(query.areas, this.cities);
    return resultPanel({
      densities,
      sizes,
      requests: requestsOf(query),
      isModelled: isModelled(capabilities.provenance),
      threshold: capabilities.suppressionThreshold,
      quality: qualityIn(query, capabilities.forecastQuality),
      nameFile: (ending) => fileName(place(), query, ending),
      onCell,
      link: () => urlOf(this.#stateOf(query)),
      onPicture:
        library &&
        (() => {
          const { from, precision } = query;
          const name = fileName(place(), { from: this.hour ?? from, precision }, ".png");
          const sources = sourceSentences(capabilities.provenance, groundCredits()).join(" ");
          savePicture(library, { name, place: place(), sources });
        }),
    });
  }
}

/** Replaces parts of the page. Focus in one of them goes to what is in its place afterwards. */
function keepFocus(replace: () => void): void {
  const part = document.activeElement?.closest("#timeline, #legend, #cell, .result");
  const places = () => [
    ...(part?.querySelectorAll<HTMLElement>("button, input, select, summary, [tabindex]") ?? []),
  ];
  const place = places().findIndex((one) => one.matches(":focus"));
  replace();
  places()[place]?.focus({ preventScroll: true });
}

/** Whose the ground is, as the page says. */
function groundCredits(): string {
  const named = document.querySelector(".maplibregl-ctrl-attrib-inner") ?? element("base-map-credits");
  return named.textContent ?? "";
}

/** A query as a text, to compare it with another one. */
function textOf(query: Query | undefined): string | undefined {
  return query && writeAddress(query);
}
