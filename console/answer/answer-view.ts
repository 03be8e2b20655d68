import { element } from "../dom.ts";
import type { DensityMap } from "../map/density-map.ts";
import { showCell } from "./cell-card.ts";
import type { Densities } from "./densities.ts";
import { hideLegend, showLegend } from "./legend.ts";
import { type Scale, scaleOf } from "./scale.ts";
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

/** An answer on the map: its cells, the legend, the timeline, and the card of a cell. */
export class AnswerView {
  readonly #options: AnswerOptions;
  readonly #scale: Scale;
  readonly #timeline: Timeline;
  #hour = 0;
  #selected: number | undefined;

  constructor(options: AnswerOptions) {
    const { map, densities } = options;
    this.#options = options;
    const published = densities.hours.flatMap(({ values }) => values.flatMap(({ density }) => density ?? []));
    this.#scale = scaleOf(published);
    map.cells.show(densities, this.#scale);
    this.showLegend();
    this.#timeline = new Timeline(densities, (hour) => this.#showHour(hour), options.hour);
  }

  /** Shows the card of a cell; hides it for undefined. */
  select(index: number | undefined): void {
    this.#selected = index;
    this.#options.map.cells.select(index);
    this.#showCell();
  }

  /** Shows the legend in the colours of the current theme. */
  showLegend(): void {
    showLegend(this.#scale, this.#options.threshold);
  }

  remove(): void {
    this.#timeline.remove();
    this.#options.map.cells.show(undefined, this.#scale);
    showCell(undefined);
    hideLegend();
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
  }
}
