/** The field for the precision: the length of the cells' geohashes. */
import { cellSize } from "../answer/cells.ts";
import { html } from "../dom.ts";
import { metres } from "../numbers.ts";
import { type Area, middleLatitude } from "./area.ts";
import { segments } from "./segments.ts";

interface PrecisionField {
  readonly elements: readonly HTMLElement[];
  readonly precision: () => number;
  readonly set: (precision: number) => void;
  /** Shows the size of cells in an area, or at the equator. */
  readonly showCellSize: (area: Area | undefined) => void;
}

/** Creates the field, set to the finest precision. */
export function precisionField(precisions: readonly number[], onChange: () => void): PrecisionField {
  let current = finestOf(precisions);
  const choice = segments("precision", precisions.map(String), String(current), (chosen) => {
    current = Number(chosen);
    onChange();
  });
  const note = html("p", { class: "note" });
  return {
    elements: [choice, note],
    precision: () => current,
    set: (precision) => {
      current = precision;
      for (const input of choice.querySelectorAll("input")) {
        input.checked = input.value === String(precision);
      }
    },
    showCellSize: (area) => {
      const { width, height } = cellSize(current, area === undefined ? 0 : middleLatitude(area));
      const where = area === undefined ? " at the equator" : "";
      note.textContent = `Cells of about ${metres(width)} × ${metres(height)}${where}.`;
    },
  };
}

/** The finest of some precisions in ascending order. */
export function finestOf(precisions: readonly number[]): number {
  return precisions.at(-1) ?? 7;
}
