/**
 * The rule of suppression. A cell of the finest precision with fewer counted people than the threshold K is suppressed:
 * it is published as `LOW_DENSITY`, without a number. A coarser cell is the sum of the published values of its other
 * children, and of its suppressed children as one group:
 *
 * 1. Let S be the number of people counted in the group. Only q is used of S: the largest multiple of K that exceeds
 *    neither S nor the limit of the group.
 * 2. The maximum of a suppressed cell is public: K, or more for a coarser one (see 4). Counts may be fractions, so a
 *    cell can have any number below its maximum; a whole number is at most K − 1. The limit is the largest multiple of
 *    K that the group can still reach in whole numbers whichever one of its cells has 0 people. So nothing of S is
 *    published unless the group has at least three cells.
 * 3. The group contributes the middle of the interval that q leaves possible for S: from q to q + K, or to the group's
 *    maximum if q is the limit. For q = 0 this is the same number for any S, even 0.
 * 4. If q is 0 and all children are suppressed, the cell is suppressed, too, and belongs to the group of its own
 *    parent. Its maximum is K or, if the limit was 0, the sum of its children's maximums.
 *
 * A cell that is not suppressed contributes its published value to its parent, so no cell is in two groups. Knowing q
 * excludes no number below K for any cell of the group: the other cells can have q people without it, and none of them
 * needs to have more than 0.
 */

/** The published interval of a group's sum, which always contains the sum. */
export interface GroupSum {
  readonly min: number;
  readonly max: number;
}

/** What is public about suppressed cells with one parent, for any counts in them. */
export interface GroupBounds {
  /** The sum of their maximums, in multiples of K. */
  readonly bound: number;
  /** The largest of these maximums. */
  readonly maxBound: number;
}

/** Suppressed cells with one parent. */
export interface Group extends GroupBounds {
  /** The sum of the people counted in them, which is secret. */
  readonly people: number;
}

/** The limit of a group (see 2). */
function limitOf({ bound, maxBound }: GroupBounds, threshold: number): number {
  return threshold * Math.floor(((bound - maxBound) * (threshold - 1)) / threshold);
}

/** The published interval of a group (see 1 and 3). */
export function publishedSum(group: Group, threshold: number): GroupSum {
  const limit = limitOf(group, threshold);
  const min = Math.min(threshold * Math.floor(group.people / threshold), limit);
  return { min, max: threshold * (min === limit ? group.bound : min / threshold + 1) };
}

/** Whether a cell is suppressed of which all covered children are in the group (see 4). */
export function isSuppressed(group: Group, threshold: number): boolean {
  return limitOf(group, threshold) === 0 || group.people < threshold;
}

/** The maximum of a suppressed cell, in multiples of K (see 4). @param group all its children. */
export function suppressedBound(group: GroupBounds, threshold: number): number {
  return limitOf(group, threshold) === 0 ? group.bound : 1;
}
