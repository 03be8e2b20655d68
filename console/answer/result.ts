/** What an answer says in numbers, and what can be done with it. */

import { html, saveFile } from "../dom.ts";
import { ApiError, apiUrl } from "../http.ts";
import { counted, whole } from "../numbers.ts";
import type { DensityRequest } from "../request/request-form.ts";
import { callApi } from "../session.ts";
import type { Densities } from "./cells.ts";
import { showSnippets } from "./snippet-dialog.ts";

/** An answer on the panel. */
interface Result {
  readonly element: HTMLElement;
  readonly showHour: (hour: number) => void;
}

const notes: Readonly<Record<string, string>> = {
  PART_OF_AREA_NOT_SUPPORTED: "Part of the area is not covered: its cells have no data.",
  AREA_NOT_SUPPORTED:
    "Nothing of this area is covered. Choose one within the dashed line on the map, or an example.",
};

const formats = {
  GeoJSON: { accept: "application/geo+json", extension: "geojson" },
  CSV: { accept: "text/csv", extension: "csv" },
} as const;

/** How many cells the table lists. */
const maxListed = 10;

/** Makes the panel's part about an answer. `onCell` is called when a cell of the table is chosen. */
export function resultOf(
  densities: Densities,
  request: DensityRequest,
  path: string,
  threshold: number,
  onCell: (index: number) => void,
): Result {
  const { status, geohashes, hours } = densities;
  const note = notes[status];
  const people = html("strong", { class: "people" });
  const published = html("dd", { id: "published-cells" });
  const suppressed = html("dd", { id: "suppressed-cells" });
  const unknown = html("dd", { id: "no-data-cells" });
  const table = html("tbody");
  const showHour = (index: number) => {
    const hour = hours[index];
    if (hour === undefined) return;
    people.textContent = whole(hour.people);
    published.textContent = whole(hour.counts.DENSITY_ESTIMATION);
    suppressed.textContent = whole(hour.counts.LOW_DENSITY);
    unknown.textContent = whole(hour.counts.NO_DATA);
    const densest = hour.values
      .flatMap(({ density }, cell) => (density === undefined ? [] : [{ cell, density }]))
      .sort((one, other) => other.density - one.density)
      .slice(0, maxListed);
    table.replaceChildren(
      ...densest.map(({ cell, density }) => {
        const geohash = geohashes[cell] ?? "";
        const button = html("button", { type: "button", class: "link", click: () => onCell(cell) }, geohash);
        return html("tr", {}, html("td", {}, button), html("td", { class: "number" }, whole(density)));
      }),
    );
  };
  const problem = html("p", { class: "problem", role: "alert" });
  const download = async (format: keyof typeof formats) => {
    problem.textContent = "";
    try {
      await downloadAs(format, request, path);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem.textContent = error.message;
    }
  };
  const actions = html(
    "div",
    { class: "row" },
    ...(Object.keys(formats) as (keyof typeof formats)[]).map((format) =>
      html("button", { type: "button", click: () => download(format) }, format),
    ),
    html(
      "button",
      { type: "button", click: () => showSnippets({ url: apiUrl(path), body: request }) },
      "Copy as code",
    ),
  );
  const count = (term: string, description: HTMLElement) =>
    html("div", {}, html("dt", {}, term), description);
  const element = html(
    "section",
    { "aria-label": "Answer" },
    note !== undefined && html("p", { class: "warning" }, note),
    geohashes.length > 0 && html("p", { class: "total-people" }, people, " people in published cells"),
    geohashes.length > 0 &&
      html(
        "p",
        { class: "note" },
        `In the hour that is shown, of ${counted(geohashes.length, "cell")}. Cells with fewer than ${threshold} people are not in it.`,
      ),
    geohashes.length > 0 &&
      html(
        "dl",
        { class: "counts" },
        count("Published", published),
        count("Suppressed", suppressed),
        count("No data", unknown),
      ),
    actions,
    problem,
    geohashes.length > 0 &&
      html(
        "details",
        {},
        html("summary", {}, "Densest cells"),
        html(
          "table",
          {},
          html(
            "thead",
            {},
            html(
              "tr",
              {},
              html("th", { scope: "col" }, "Cell"),
              html("th", { scope: "col", class: "number" }, "People per km²"),
            ),
          ),
          table,
        ),
      ),
  );
  return { element, showHour };
}

/** Asks again, in another format: a file is what the API sends. */
async function downloadAs(
  format: keyof typeof formats,
  request: DensityRequest,
  path: string,
): Promise<void> {
  const { accept, extension } = formats[format];
  const response = await callApi(path, { method: "POST", body: JSON.stringify(request), accept });
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(accept)) {
    throw new ApiError(response.status, "FORMAT", `This stage does not answer as ${format}.`);
  }
  saveFile(`densities-${request.startTime.slice(0, 13)}.${extension}`, await response.blob());
}
