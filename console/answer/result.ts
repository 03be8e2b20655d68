/** The summary of an answer, with actions. */

import { Asking } from "../base/asking.ts";
import { copyText } from "../base/copy.ts";
import { isLocal, otherGround } from "../base/demo.ts";
import { announce, buttonTo, html } from "../base/dom.ts";
import { apiUrl } from "../base/http.ts";
import { loadPart } from "../base/lazy.ts";
import { counted, whole } from "../base/numbers.ts";
import { qualityText } from "../data/basis.ts";
import type { ForecastQuality } from "../data/capabilities.ts";
import type { Densities, Hour } from "../data/densities.ts";
import { type DensityRequest, retrievalPath } from "../data/query.ts";
import type { CellSizes } from "./cell-sizes.ts";
import { densestCells } from "./densest-cells.ts";
import { download, type Format, formatsFor, type NameFile } from "./download.ts";
import { extremesOf, groundRisk, riskText } from "./ground-risk.ts";
import { showSnippets } from "./snippet-dialog.ts";

interface Result {
  readonly element: HTMLElement;
  /** What is to be known of the whole answer; empty for an area that is covered. */
  readonly note: string;
  readonly showHour: (hour: number) => void;
}

/** Notes on an answer, by its status. */
const notes: Readonly<Record<string, string>> = {
  PART_OF_AREA_NOT_SUPPORTED: "Part of the area is not covered: its cells have no data.",
  AREA_NOT_SUPPORTED:
    `Nothing of this area is covered. Choose another one, or an example. ${(otherGround() ?? []).join("")}`.trim(),
};

const emptyModel = "The model has nobody here, or too few people for a number.";

interface ResultOptions {
  readonly densities: Densities;
  readonly sizes: CellSizes;
  /** One for each area. */
  readonly requests: readonly DensityRequest[];
  /** Whether all that is covered is modelled. */
  readonly isModelled: boolean;
  /** Smaller counts are not published. */
  readonly threshold: number;
  /** How good the typical hours of this precision were in regions that the areas touch, as `qualityIn` has it. */
  readonly quality: ForecastQuality | "elsewhere" | undefined;
  readonly nameFile: NameFile;
  /** Called when the user selects a cell of the list. */
  readonly onCell: (index: number) => void;
  /** The address of what is on view. */
  readonly link: () => string;
  /** Called when the user wants the map as a picture; undefined where there is none. */
  readonly onPicture: (() => void) | undefined;
}

/** Creates the panel's section about an answer. */
export function resultPanel(options: ResultOptions): Result {
  const { densities, sizes, isModelled, threshold, quality, onCell } = options;
  const hasCells = densities.geohashes.length > 0;
  const isEmpty = hasCells && densities.hours.every(({ counts }) => counts.DENSITY_ESTIMATION === 0);
  const note = notes[densities.status] ?? (isModelled && isEmpty ? emptyModel : "");
  const figures = hourFigures(densities, threshold);
  const isAllObserved = densities.hours.every(({ basis }) => basis === "OBSERVED");
  const forecast = isAllObserved ? undefined : qualityText(quality);
  const densest = densestCells(densities, onCell);
  const risk = groundRisk(sizes);
  const riskLine = html("p", { class: "note" });
  const element = html(
    "section",
    { "aria-label": "Answer" },
    note !== "" && html("p", { class: "warning" }, note),
    ...(hasCells ? figures.elements : []),
    hasCells && extremesOf(densities.hours, sizes),
    hasCells && riskLine,
    hasCells && forecast !== undefined && html("p", { class: "note" }, forecast),
    ...(hasCells ? actions(options) : []),
    hasCells && densest.element,
    hasCells && risk.element,
  );
  const showHour = (index: number) => {
    const hour = densities.hours[index];
    if (hour === undefined) return;
    figures.showHour(hour);
    densest.showHour(hour);
    risk.showHour(hour);
    riskLine.textContent = riskText(hour, sizes);
  };
  return { element, note, showHour };
}

/** The number of an hour's cells of each kind. */
function hourFigures({ geohashes }: Densities, threshold: number) {
  const published = html("dd", { id: "published-cells" });
  const suppressed = html("dd", { id: "suppressed-cells" });
  const unknown = html("dd", { id: "no-data-cells" });
  const count = (term: string, cells: HTMLElement) => html("div", {}, html("dt", {}, term), cells);
  const cells = counted(geohashes.length, "cell");
  const small = `Cells with fewer than ${threshold} people`;
  const elements = [
    html("p", { class: "note" }, `This hour: ${cells}. ${small} are hidden, and not in the sum.`),
    html(
      "dl",
      { class: "counts" },
      count("Published", published),
      count("Suppressed", suppressed),
      count("No data", unknown),
    ),
  ];
  const showHour = (hour: Hour) => {
    published.textContent = whole(hour.counts.DENSITY_ESTIMATION);
    suppressed.textContent = whole(hour.counts.LOW_DENSITY);
    unknown.textContent = whole(hour.counts.NO_DATA);
  };
  return { elements, showHour };
}

/** Buttons for downloads and programs, and what is to be said of a download. */
function actions({ requests, nameFile, link, onPicture }: ResultOptions): HTMLElement[] {
  const asking = new Asking();
  const copied = html("p", { class: "copied note" });
  const copyLink = async () => {
    // It stays, as it may be selected.
    const address = html("span", { class: "hidden-text", "aria-hidden": "true" }, link());
    copied.replaceChildren(address);
    const text = `${await copyText(address)}${isLocal ? " The link leads to this machine only." : ""}`;
    copied.append(text);
    announce(text);
  };
  const unloaded = html("div");
  const parquet = () =>
    loadPart(unloaded, async () => {
      const { saveParquet } = await import("./parquet.ts");
      await ask((signal) => saveParquet(requests, nameFile, signal));
    });
  const save = (format: Format) => ask((signal) => download(format, requests, nameFile, signal));
  const ask = async (saveFile: (signal: AbortSignal) => Promise<void>) =>
    await asking.ask({ ask: saveFile, text: "Asking for the file…", isCancellable: true });
  const buttons = html(
    "div",
    { class: "row" },
    ...formatsFor(requests).map((format) => buttonTo(format, () => save(format))),
    buttonTo("Parquet", parquet),
    buttonTo("Copy as code", () =>
      showSnippets(requests.map((body) => ({ method: "POST", url: apiUrl(retrievalPath), body }))),
    ),
    buttonTo("Copy link", copyLink),
    onPicture && buttonTo("PNG", onPicture),
  );
  return [buttons, copied, asking.element, unloaded];
}
