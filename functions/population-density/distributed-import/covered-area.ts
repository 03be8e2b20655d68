import { polygonOf } from "../cover/polygon.ts";
import type { CoveredArea } from "../import/coverage.ts";
import { coveredArea, getJson, keys } from "./execution-objects.ts";

/** The covered area of an execution, whose rings were checked before it was started. */
export async function readCoveredArea(id: string): Promise<CoveredArea> {
  const { file, rings } = await getJson(coveredArea, keys.area(id));
  const polygons = rings.map((ring) => {
    const polygon = polygonOf(ring);
    if (polygon === undefined) throw new Error("a ring of the covered area is no polygon");
    return polygon;
  });
  return { file, polygons };
}
