/** What the requests of a query cost of the caller's daily quota. */
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { askedHours } from "../../functions/population-density/query/intervals.ts";
import { workUnitsOf } from "../../functions/population-density/query/price.ts";
import { sizeOf } from "../../functions/population-density/query/size.ts";
import type { Query } from "../data/query.ts";

const hour = 3_600_000;

/** The cost of a query: 1 for each area, which is a request of its own, and its work (docs/behaviour.md, section 9). */
export function costOf({ areas, from, hours, precision }: Query, now: Date): number {
  const asked = askedHours({ first: Math.floor(from.getTime() / hour), count: hours }, now);
  const costs = areas.map(({ boundary }) => {
    const polygon = polygonOf(boundary);
    return polygon === undefined ? 0 : 1 + workUnitsOf(sizeOf({ polygon, precision, asked }));
  });
  return costs.reduce((sum, cost) => sum + cost, 0);
}
