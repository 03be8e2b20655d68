import { ImportError } from "../../../shared/import/import-error.ts";
import type { Place, Position } from "./drawn-city.ts";
import type { Metres } from "./ground.ts";

/** People around a place: normally distributed, but none beyond `reach` radii. */
export interface Kernel {
  readonly at: Metres;
  readonly radius: number;
  /** People per square metre at the place itself, on ground that takes all. */
  readonly peak: number;
}

/** In radii. */
const reach = 3.5;

/** The steps a radius in which the people around a place are summed. */
const stepsPerRadius = 4;

/**
 * Spreads people around places by their weights, so that all of them are somewhere.
 * @param factorAt what is left of a kernel at a point.
 * @throws {ImportError} for a place with nothing around it but water.
 */
export function kernelsOf(
  places: readonly Place[],
  people: number,
  metresOf: (position: Position) => Metres,
  factorAt: (point: Metres) => number,
): Kernel[] {
  const weights = places.reduce((sum, { weight }) => sum + weight, 0);
  return places.map(({ name, at, radius, weight }) => {
    const [east, north] = metresOf(at);
    const step = radius / stepsPerRadius;
    let there = 0;
    for (let x = -reach * radius; x <= reach * radius; x += step) {
      for (let y = -reach * radius; y <= reach * radius; y += step) {
        const share = shareAt(x * x + y * y, radius);
        if (share > 0) there += share * factorAt([east + x, north + y]) * step * step;
      }
    }
    if (there === 0) throw new ImportError([`${name}: nobody can be there`]);
    return { at: [east, north], radius, peak: (people * weight) / weights / there };
  });
}

/** People per square metre at a point, on ground that takes all. */
export function densityOf(kernels: readonly Kernel[], [x, y]: Metres): number {
  let density = 0;
  for (const { at, radius, peak } of kernels) {
    density += peak * shareAt((x - at[0]) ** 2 + (y - at[1]) ** 2, radius);
  }
  return density;
}

function shareAt(squaredDistance: number, radius: number): number {
  const squared = squaredDistance / (radius * radius);
  return squared > reach * reach ? 0 : Math.exp(-squared / 2);
}
