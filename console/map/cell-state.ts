/** The state of a cell in the current hour: the class of its density, or why it has none. */
import type { ExpressionSpecification } from "maplibre-gl";
import type { Value } from "../answer/densities.ts";
import { classOf, coloursOf, type Scale } from "../answer/scale.ts";

/** The state of a cell whose count is suppressed. Classes of densities are states from 0. */
export const suppressedState = -1;

/** The state of a cell without data. */
export const noDataState = -2;

const stateOfCell: ExpressionSpecification = ["coalesce", ["feature-state", "state"], -9];

/** The state of a cell with a value. */
export function stateOf({ dataType, density = 0 }: Value, scale: Scale): number {
  if (dataType === "NO_DATA") return noDataState;
  return dataType === "LOW_DENSITY" ? suppressedState : classOf(density, scale);
}

/** The colour of a cell by its state; transparent for cells without a class. */
export function colourByState(scale: Scale, isDark: boolean): ExpressionSpecification {
  const cases = coloursOf(scale, isDark).flatMap((colour, index) => [index, colour]);
  return ["match", stateOfCell, ...cases, "rgba(0,0,0,0)"] as unknown as ExpressionSpecification;
}

/** Opacity 1 for cells in a state, 0 for all others. */
export function inState(state: number): ExpressionSpecification {
  return ["case", ["==", stateOfCell, state], 1, 0];
}
