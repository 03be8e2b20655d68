import { metres } from "../base/numbers.ts";
import { isSameArea, middleLatitude } from "../data/area.ts";
import { cellSize } from "../data/cells.ts";
import type { Query } from "../data/query.ts";
import type { Example } from "./examples.ts";

/** What a query asks for, in a line: `Centre of Lyon · 24 h · 150 m`. */
export function describeQuery(
  { areas, hours, precision, name: given }: Pick<Query, "areas" | "hours" | "precision" | "name">,
  examples: readonly Example[],
): string {
  const [area] = areas;
  const example = examples.find((one) => isSameArea(one.area, area));
  const name = given ?? (areas.length > 1 ? `${areas.length} areas` : (example?.name ?? "Own area"));
  const { height } = cellSize(precision, area === undefined ? 0 : middleLatitude(area));
  return `${name} · ${hours} h · ${metres(Number(height.toPrecision(2)))}`;
}
