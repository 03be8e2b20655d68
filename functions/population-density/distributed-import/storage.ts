import { setting } from "../../../shared/environment.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { DENSITY_K } from "../../../shared/variables/density-k.ts";
import { DENSITY_PRECISIONS } from "../../../shared/variables/density-precisions.ts";
import type { ImportOrder } from "./execution-objects.ts";

/**
 * The function must have been deployed with the K and the precisions that the service announces.
 * @throws {ImportError} if it was not.
 */
export function refuseOtherStack(order: Pick<ImportOrder, "precisions" | "threshold">): void {
  for (const [name, announced, own] of [
    ["DENSITY_K", String(order.threshold), String(setting(DENSITY_K))],
    ["DENSITY_PRECISIONS", order.precisions.join(), setting(DENSITY_PRECISIONS).join()],
  ]) {
    if (announced === own) continue;
    throw new ImportError([
      `${name} is ${announced} in the outputs of the service, but ${own} in the stack that imports densities: ` +
        "deploy both, with --all",
    ]);
  }
}

/**
 * The precision of the one tile that holds all tiles of a prefix, which are added up to it apart from all others.
 * @param precision of the counted cells.
 */
export function topPrecision(precision: number): number {
  return Math.max(2, precision - 1);
}
