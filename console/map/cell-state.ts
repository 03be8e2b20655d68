/** The state of a cell on view: the class of its number, or why it has none. */
import type { ExpressionSpecification } from "maplibre-gl";
import type { Value } from "../data/densities.ts";
import { classOf, coloursOf, type Scale } from "../data/scale.ts";

/** The state of a cell whose count is suppressed. Classes are states from 0; between two of them, colours blend. */
export const suppressedState = -1;

/** The state of a cell without data. */
export const noDataState = -2;

const stateOfCell: ExpressionSpecification = ["coalesce", ["feature-state", "state"], -9];

/** The state of a cell with a value or, with a base, with what it differs from that. */
export function stateOf(value: Value, base: Value | undefined, scale: Scale): number {
  for (const { dataType } of base === undefined ? [value] : [value, base]) {
    if (dataType === "NO_DATA") return noDataState;
    if (dataType === "LOW_DENSITY") return suppressedState;
  }
  return classOf((value.density ?? 0) - (base?.density ?? 0), scale);
}

/** The colour of a cell by its state. @param other the colour of cells without a class: none, on a flat map. */
export function colourByState(
  scale: Scale,
  isDark: boolean,
  other = "rgba(0,0,0,0)",
): ExpressionSpecification {
  const stops = coloursOf(scale, isDark).flatMap((colour, index) => [index, colour]);
  const colour = ["interpolate", ["linear"], stateOfCell, ...stops];
  return ["case", ["<", stateOfCell, 0], other, colour] as unknown as ExpressionSpecification;
}

/** Opacity 1 for cells in a state, 0 for all others. */
export function inState(state: number): ExpressionSpecification {
  return ["case", ["==", stateOfCell, state], 1, 0];
}
