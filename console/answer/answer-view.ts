import { buttonTo, element } from "../base/dom.ts";
import { loadPart } from "../base/lazy.ts";
import { percent, whole } from "../base/numbers.ts";
import { hideTooltip, showTooltip } from "../base/tooltip.ts";
import { cellArea } from "../data/cells.ts";
import { type Densities, type Hour, isPartlyCovered, type Value } from "../data/densities.ts";
import { differenceScaleOf, fixedScale, type Scale, type ScaleName, scaleOf } from "../data/scale.ts";
import { stateOf } from "../map/cell-state.ts";
import type { DensityMap } from "../map/density-map.ts";
import { placeCell, showCell } from "./cell-card.ts";
import type { CellSizes } from "./cell-sizes.ts";
import { showHistogram, showLegend, unfoldLegend } from "./legend.ts";
import { Timeline } from "./timeline.ts";

interface AnswerOptions {
  readonly map: DensityMap;
  readonly densities: Densities;
  readonly sizes: CellSizes;
  /** Whether all that is covered is modelled. */
  readonly isModelled: boolean;
  /** Smaller counts are not published. */
  readonly threshold: number;
  /** The hour that is shown first. */
  readonly hour: number;
  /** The scale that is shown first. */
  readonly scale: ScaleName;
  /** Called for every hour that is shown, including the first. */
  readonly onHour: (hour: number) => void;
  readonly onScale: (scale: ScaleName) => void;
  /** Whether cells are columns at first. */
  readonly isTilted: boolean;
  readonly onTilt: (isTilted: boolean) => void;
  /** Called when the user closes the card of the cell. */
  readonly closeCell: () => void;
  /** Called when times are shown in another time zone. */
  readonly onZone: () => void;
  /** Creates what paper says above the map. */
  readonly paperHeading: (hour: Hour) => HTMLElement;
}

/** An answer on the map: its cells, the legend, the timeline, and the card of a cell. */
export class AnswerView {
  readonly #options: AnswerOptions;
  readonly #ownScale: Scale;
  readonly #timeline: Timeline;
  readonly #tilt = buttonTo("3D", () => void this.#switchColumns(), {
    class: "tilt",
    "aria-pressed": "false",
  });
  /** The part of the page that draws columns; undefined while the map is flat. */
  #columns: typeof import("../map/columns.ts") | undefined;
  #name: ScaleName;
  #hour = 0;
  /** The hour that others are compared with, and the scale of their differences from it. */
  #base: { readonly hour: number; readonly scale: Scale } | undefined;
  #isPlaying = false;
  #selected: number | undefined;

  constructor(options: AnswerOptions) {
    const { map, densities, sizes } = options;
    this.#options = options;
    this.#name = options.scale;
    const published = densities.hours.flatMap(({ values }) => values.flatMap(({ density }) => density ?? []));
    this.#ownScale = scaleOf(published);
    map.cells.show(densities, this.#scale);
    this.showLegend();
    this.#timeline = new Timeline({
      densities,
      sizes,
      isModelled: options.isModelled,
      initial: options.hour,
      onHour: (hour) => this.#showHour(hour),
      onPlaying: (isPlaying) => {
        this.#isPlaying = isPlaying;
        map.cells.hideEdges(isPlaying);
      },
      onBase: (hour) => this.#compareWith(hour),
      onZone: options.onZone,
    });
    map.library?.on("move", this.#placeCell);
    map.library?.on("resize", this.#placeCell);
    map.onRestored(() => this.#restore());
    map.onHover((index, x, y) => this.#hover(index, x, y));
    if (map.library !== undefined) element("stage").append(this.#tilt);
    addEventListener("keydown", this.#onKey);
    addEventListener("beforeprint", this.#onPrint);
    if (!options.isTilted || map.library === undefined) return;
    // A tilt would end the way to the cells.
    if (map.library.isMoving()) map.library.once("moveend", () => void this.#switchColumns());
    else void this.#switchColumns();
  }

  get #scale(): Scale {
    if (this.#base !== undefined) return this.#base.scale;
    return this.#name === "All answers" ? fixedScale : this.#ownScale;
  }

  /** The cell whose card is shown. */
  get selected(): number | undefined {
    return this.#selected;
  }

  /** Shows the card of a cell; hides it for undefined. */
  select(index: number | undefined): void {
    this.#selected = index;
    this.#options.map.cells.select(index);
    unfoldLegend();
    this.#showCell();
  }

  /** Shows the hour that the user chose. */
  choose(hour: number): void {
    this.#timeline.choose(hour);
  }

  /** Shows the legend in the colours of the current theme. */
  showLegend(): void {
    showLegend({
      scale: this.#scale,
      name: this.#name,
      threshold: this.#options.threshold,
      hasPartlyCovered: this.#options.densities.coveredShares.some(isPartlyCovered),
      onScale: (name) => this.#chooseScale(name),
    });
    this.#showHistogram();
  }

  /** Removes all but the cells, which stay where the next answer has the same. */
  remove(): void {
    const { map } = this.#options;
    this.#timeline.remove();
    if (map.library !== undefined) this.#columns?.showColumns(map.library, undefined);
    this.#tilt.remove();
    map.library?.off("move", this.#placeCell);
    map.library?.off("resize", this.#placeCell);
    map.onRestored(undefined);
    map.onHover(undefined);
    hideTooltip();
    removeEventListener("keydown", this.#onKey);
    removeEventListener("beforeprint", this.#onPrint);
    element("paper-heading").replaceChildren();
    this.select(undefined);
    element("legend").replaceChildren();
  }

  #chooseScale(name: ScaleName): void {
    this.#name = name;
    this.#options.onScale(name);
    this.#showCells();
    this.showLegend();
    element("legend").querySelector<HTMLInputElement>("input:checked")?.focus();
  }

  #compareWith(hour: number | undefined): void {
    const { hours } = this.#options.densities;
    const values = hour === undefined ? undefined : hours[hour]?.values;
    if (hour === undefined || values === undefined) this.#base = undefined;
    else {
      const differences = hours.flatMap((one) =>
        one.values.flatMap(({ density }, index) => {
          const before = values[index]?.density;
          return density === undefined || before === undefined ? [] : [density - before];
        }),
      );
      this.#base = { hour, scale: differenceScaleOf(differences) };
    }
    this.showLegend();
  }

  #showHour(hour: number): void {
    if (this.#options.densities.hours[hour] === undefined) return;
    this.#hour = hour;
    this.#showCells();
    this.#showHistogram();
    hideTooltip();
    element("map").dataset.hour = String(hour);
    this.#options.onHour(hour);
    this.#showCell();
  }

  #showCells(): void {
    const [hour, base, scale] = [this.#hour, this.#base?.hour, this.#scale];
    this.#options.map.cells.showHour({ hour, base, scale, fades: this.#isPlaying });
    this.#raiseColumns();
  }

  /** Tilts the map and shows cells as columns, or lays it flat; the code for it is loaded when it is first wanted. */
  async #switchColumns(): Promise<void> {
    const { library } = this.#options.map;
    if (library === undefined) return;
    const areShown = this.#columns !== undefined;
    if (areShown) {
      this.#columns?.showColumns(library, undefined);
      this.#columns = undefined;
    } else {
      await loadPart(element("cell"), async () => {
        this.#columns = await import("../map/columns.ts");
      });
      // Another answer may have replaced this one meanwhile.
      if (!this.#tilt.isConnected) return;
      this.#columns?.showColumns(library, this.#scale);
      this.#raiseColumns();
    }
    this.#tilt.setAttribute("aria-pressed", String(this.#columns !== undefined));
    this.#options.onTilt(this.#columns !== undefined);
  }

  /** Colours cells that have lost their colours, marks the selected one, and raises columns. */
  #restore(): void {
    const { cells, library } = this.#options.map;
    cells.select(this.#selected);
    if (library !== undefined && this.#columns !== undefined) this.#columns.showColumns(library, this.#scale);
    this.#showCells();
  }

  #raiseColumns(): void {
    const { map, densities } = this.#options;
    const { hours } = densities;
    if (this.#columns === undefined || map.library === undefined) return;
    const max = Math.max(...hours.map(({ values }) => Math.max(...values.map(({ density = 0 }) => density))));
    this.#columns.raiseColumns(map.library, hours[this.#hour]?.values ?? [], max);
  }

  #showHistogram(): void {
    const { hours } = this.#options.densities;
    const base = this.#base === undefined ? undefined : hours[this.#base.hour]?.values;
    const counts = Array.from({ length: this.#scale.breaks.length + 1 }, () => 0);
    for (const [index, value] of (hours[this.#hour]?.values ?? []).entries()) {
      const state = stateOf(value, base?.[index], this.#scale);
      if (state >= 0) counts[state] = (counts[state] ?? 0) + 1;
    }
    showHistogram(counts, this.#scale);
  }

  /** Says what is known of the cell under the pointer. */
  #hover(index: number | undefined, x: number, y: number): void {
    const { densities, threshold } = this.#options;
    const geohash = index === undefined ? undefined : densities.geohashes[index];
    const value = index === undefined ? undefined : densities.hours[this.#hour]?.values[index];
    if (geohash === undefined || value === undefined) hideTooltip();
    else showTooltip(x, y, cellLines(value, geohash, densities.coveredShares[index ?? 0] ?? 1, threshold));
  }

  #showCell(): void {
    const { densities, threshold, closeCell } = this.#options;
    const [index, hour] = [this.#selected, this.#hour];
    // The card may come up where the tooltip is.
    hideTooltip();
    showCell(index === undefined ? undefined : { densities, index, hour, threshold, close: closeCell });
    this.#placeCell();
  }

  readonly #placeCell = () => {
    const { map, densities } = this.#options;
    const geohash = this.#selected === undefined ? undefined : densities.geohashes[this.#selected];
    if (geohash !== undefined) placeCell(map.onScreen(geohash));
  };

  readonly #onPrint = () => {
    const { densities, paperHeading } = this.#options;
    const hour = densities.hours[this.#hour];
    if (hour !== undefined) element("paper-heading").replaceChildren(paperHeading(hour));
  };

  /** Escape closes the card, unless it closes a dialog. */
  readonly #onKey = ({ key }: KeyboardEvent) => {
    if (key !== "Escape" || this.#selected === undefined || document.querySelector("dialog[open]") !== null)
      return;
    const hadFocus = element("cell").contains(document.activeElement);
    this.#options.closeCell();
    if (hadFocus) this.#options.map.library?.getCanvas().focus();
  };
}

/** What a tooltip says of a cell: people, density, range, and how much of it is covered. */
function cellLines(value: Value, geohash: string, share: number, threshold: number): string[] {
  const { dataType, density, min, max } = value;
  if (dataType === "NO_DATA") return ["No data"];
  if (density === undefined || min === undefined || max === undefined) {
    return [`Below ${threshold} people`, "not published"];
  }
  return [
    `About ${whole(density * cellArea(geohash))} people`,
    `${whole(density)} per km² (${whole(min)}–${whole(max)})`,
    isPartlyCovered(share) ? `${percent(share)} covered` : "",
  ];
}
