import type { QuerySize } from "./size.ts";

const tileDaysPerUnit = 10;

/**
 * What a supported query costs of the daily quota besides the 1 of every request: one for every ten stored items that
 * its answer is made from, rounded down.
 */
export function workUnitsOf({ tileDays }: Pick<QuerySize, "tileDays">): number {
  return Math.floor(tileDays / tileDaysPerUnit);
}
