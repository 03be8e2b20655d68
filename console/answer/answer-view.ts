import { element } from "../dom.ts";
import type { DensityMap } from "../map/density-map.ts";
import { placeCell, showCell } from "./cell-card.ts";
import type { Densities } from "./densities.ts";
import { hideLegend, type ScaleName, showLegend, unfoldLegend } from "./legend.ts";
import { fixedScale, type Scale, scaleOf } from "./scale.ts";
import { Timeline } from "./timeline.ts";

interface AnswerOptions {
  readonly map: DensityMap;
  readonly densities: Densities;
  /** Smaller counts are not published. */
  readonly threshold: number;
  /** The hour that is shown first. */
  readonly hour: number;
  /** Called for every hour that is shown, including the first. */
  readonly onHour: (hour: number) => void;
  /** Called when the user closes the card of the cell. */
  readonly closeCell: () => void;
}

/** The scale that the user chose last; it stays over answers. */
let chosenScale: ScaleName = "All answers";

/** An answer on the map: its cells, the legend, the timeline, and the card of a cell. */
export class AnswerView {
  readonly #options: AnswerOptions;
  readonly #ownScale: Scale;
  readonly #timeline: Timeline;
  #hour = 0;
  #selected: number | undefined;

  constructor(options: AnswerOptions) {
    const { map, densities } = options;
    this.#options = options;
    const published = densities.hours.flatMap(({ values }) => values.flatMap(({ density }) => density ?? []));
    this.#ownScale = scaleOf(published);
    map.cells.show(densities, this.#scale);
    this.showLegend();
    this.#timeline = new Timeline(densities, (hour) => this.#showHour(hour), options.hour);
    map.library.on("move", this.#placeCell);
    map.library.on("resize", this.#placeCell);
    addEventListener("keydown", this.#onKey);
  }

  get #scale(): Scale {
    return chosenScale === "All answers" ? fixedScale : this.#ownScale;
  }

  /** Shows the card of a cell; hides it for undefined. */
  select(index: number | undefined): void {
    this.#selected = index;
    this.#options.map.cells.select(index);
    unfoldLegend();
    this.#showCell();
  }

  /** Shows the legend in the colours of the current theme. */
  showLegend(): void {
    showLegend({
      scale: this.#scale,
      name: chosenScale,
      threshold: this.#options.threshold,
      onScale: (name) => this.#chooseScale(name),
    });
  }

  remove(): void {
    const { map } = this.#options;
    this.#timeline.remove();
    map.library.off("move", this.#placeCell);
    map.library.off("resize", this.#placeCell);
    removeEventListener("keydown", this.#onKey);
    this.select(undefined);
    map.cells.show(undefined, this.#scale);
    hideLegend();
  }

  #chooseScale(name: ScaleName): void {
    chosenScale = name;
    const { map, densities } = this.#options;
    map.cells.showScale(this.#scale);
    map.cells.showHour(densities.hours[this.#hour]?.values ?? []);
    this.showLegend();
    element("legend").querySelector<HTMLInputElement>("input:checked")?.focus();
  }

  #showHour(hour: number): void {
    const { map, densities, onHour } = this.#options;
    const shown = densities.hours[hour];
    if (shown === undefined) return;
    this.#hour = hour;
    map.cells.showHour(shown.values);
    element("map").dataset.hour = String(hour);
    onHour(hour);
    this.#showCell();
  }

  #showCell(): void {
    const { densities, threshold, closeCell } = this.#options;
    const [index, hour] = [this.#selected, this.#hour];
    showCell(index === undefined ? undefined : { densities, index, hour, threshold, close: closeCell });
    this.#placeCell();
  }

  readonly #placeCell = () => {
    const { map, densities } = this.#options;
    const geohash = this.#selected === undefined ? undefined : densities.geohashes[this.#selected];
    if (geohash !== undefined) placeCell(map.onScreen(geohash));
  };

  /** Escape closes the card, unless it closes a dialog. */
  readonly #onKey = ({ key }: KeyboardEvent) => {
    if (key !== "Escape" || this.#selected === undefined || document.querySelector("dialog[open]") !== null)
      return;
    const hadFocus = element("cell").contains(document.activeElement);
    this.#options.closeCell();
    if (hadFocus) this.#options.map.library.getCanvas().focus();
  };
}
