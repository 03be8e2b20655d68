/** The field for the precision: the length of the cells' geohashes. */

import { html } from "../base/dom.ts";
import { metres } from "../base/numbers.ts";
import { segments } from "../base/segments.ts";
import { type Area, middleLatitude } from "../data/area.ts";
import { cellSize } from "../data/cells.ts";

interface PrecisionField {
  readonly elements: readonly HTMLElement[];
  readonly precision: () => number;
  /** Sets the precision; the nearest that is supported. */
  readonly set: (precision: number) => void;
  /** Shows the size of cells in an area, or at the equator. */
  readonly showCellSize: (area: Area | undefined) => void;
}

/** Creates the field, set to the finest precision. */
export function precisionField(precisions: readonly number[], onChange: () => void): PrecisionField {
  let current = finestOf(precisions);
  let remark = "";
  const choice = segments("precision", precisions.map(String), String(current), (chosen) => {
    current = Number(chosen);
    remark = "";
    onChange();
  });
  const note = html("p", { class: "note" });
  return {
    elements: [choice, note],
    precision: () => current,
    set: (precision) => {
      current = nearestOf(precisions, precision);
      remark = current === precision ? "" : `Precision ${precision} is not supported. `;
      for (const input of choice.querySelectorAll("input")) {
        input.checked = input.value === String(current);
      }
    },
    showCellSize: (area) => {
      const { width, height } = cellSize(current, area === undefined ? 0 : middleLatitude(area));
      const where = area === undefined ? " at the equator" : "";
      note.textContent = `${remark}Cells of about ${metres(width)} × ${metres(height)}${where}.`;
    },
  };
}

function nearestOf(precisions: readonly number[], precision: number): number {
  const distance = (one: number) => Math.abs(one - precision);
  return precisions.reduce(
    (one, other) => (distance(other) < distance(one) ? other : one),
    finestOf(precisions),
  );
}

/** The finest of some precisions in ascending order. */
function finestOf(precisions: readonly number[]): number {
  return precisions.at(-1) ?? 7;
}
