import { announcedCoverage } from "../../functions/population-density/capabilities/coverage.ts";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { outlineOfBox } from "../../functions/population-density/cover/outline.ts";
import { type DataSet, withImport } from "../../functions/population-density/tiles/data-set.ts";

/** What the capabilities say is covered when boxes were imported one after the other. */
export function coverageOfBoxes(...boxes: readonly Box[]) {
  const imports = boxes.map((coverage) => ({ coverage, outline: outlineOfBox(coverage) }));
  return announcedCoverage(imports.reduce<DataSet | undefined>(withImport, undefined)).coverage;
}
