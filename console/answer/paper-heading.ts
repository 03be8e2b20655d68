/** What paper says above the map and the screen elsewhere: places, cells, hour, sources, and when it was printed. */
import { html } from "../base/dom.ts";
import { metres, squareKilometres } from "../base/numbers.ts";
import { clockLabel, dateOf, zoneName } from "../base/time.ts";
import { type Area, middleLatitude } from "../data/area.ts";
import type { Capabilities } from "../data/capabilities.ts";
import { cellSize } from "../data/cells.ts";
import type { Hour } from "../data/densities.ts";
import type { City } from "../data/regions.ts";
import { sourceSentences } from "../data/sources.ts";
import { placeName } from "../request/place-name.ts";
import { groundOf } from "./cell-sizes.ts";

interface Printed {
  readonly areas: readonly Area[];
  readonly precision: number;
  readonly hour: Hour;
  /** What people call the areas. */
  readonly name: string | undefined;
  readonly provenance: Capabilities["provenance"];
  /** Whose the ground is, as the page credits it. */
  readonly ground: string;
  /** Those that the page knows. */
  readonly cities: readonly City[];
}

/** Creates the heading, as of now. */
export function paperHeading(printed: Printed): HTMLElement {
  const { areas, precision, hour, name, provenance, ground, cities } = printed;
  const places = areas.map((area) => {
    return `${(areas.length === 1 ? name : undefined) ?? placeName(area, cities)}, ${squareKilometres(groundOf([area]))}`;
  });
  const [area] = areas;
  const { width, height } = cellSize(precision, area === undefined ? 0 : middleLatitude(area));
  const hours = `${clockLabel(hour.start)}–${clockLabel(hour.end)} ${zoneName(hour.start)}`;
  const now = new Date();
  return html(
    "dl",
    {},
    ...row(areas.length === 1 ? "Area" : "Areas", ...places),
    ...row("Cells", `about ${metres(width)} × ${metres(height)} (precision ${precision})`),
    ...row("Hour", `${dateOf(hour.start)}, ${hours}`),
    ...row("Sources", ...sourceSentences(provenance, ground)),
    ...row("Printed", `${dateOf(now)}, ${clockLabel(now)} ${zoneName(now)}`),
  );
}

function row(term: string, ...texts: readonly string[]): HTMLElement[] {
  return texts.length === 0 ? [] : [html("dt", {}, term), ...texts.map((text) => html("dd", {}, text))];
}
