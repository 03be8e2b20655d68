import type { QuerySize } from "./size.ts";

const tileDaysPerUnit = 10;

/**
 * What a supported query costs of the daily quota besides the 1 of every request: one for every ten tiles × days
 * that its answer may be made from, rounded down.
 */
export function workUnitsOf({ tileDays }: Pick<QuerySize, "tileDays">): number {
  return Math.floor(tileDays / tileDaysPerUnit);
}
