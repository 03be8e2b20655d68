/**
 * The rule of suppression. A cell of the finest precision with fewer counted people than the threshold K is suppressed:
 * it is published as `LOW_DENSITY`, without a number. A coarser cell adds what is published of its other children, and
 * its suppressed children as one group:
 *
 * 1. Of the sum S of a group only q is used: the largest multiple of K that is neither above S nor above the limit.
 * 2. The maximum of a suppressed cell is public: K, or more for a coarser one (see 4). Counts may be fractions, so that
 *    a cell has any number below it; a whole number is at most K − 1. The limit is the largest multiple of K that the
 *    group can reach with whole numbers without any one of its cells. So at least three cells are needed before
 *    anything of a sum is published, and each of them may still have nobody.
 * 3. A group contributes the middle of the interval that q leaves possible: q to q + K, or up to the group's maximum if
 *    q is the limit. With q = 0 that is the same number for every S, also for 0.
 * 4. If q is 0 and all children are suppressed, the cell is suppressed too, and belongs to the group of its own parent.
 *    Its maximum is K, unless the limit was 0: then it is the sum of its children's maximums.
 *
 * A cell that is not suppressed passes on what was published of it. So no cell is in two groups. Knowing q excludes no
 * number below K for any cell of the group: the other cells can have q people without it, and none of them needs more
 * than 0.
 */

/** The published interval of a group's sum, which is never outside of it. */
export interface GroupSum {
  readonly min: number;
  readonly max: number;
}

/** What everybody knows of suppressed cells that have one parent, whatever was counted in them. */
export interface GroupBounds {
  /** The sum of their maximums, in multiples of K. */
  readonly bound: number;
  /** The largest of these maximums. */
  readonly maxBound: number;
}

/** Suppressed cells that have one parent. */
export interface Group extends GroupBounds {
  /** The people who were really counted in all of them. */
  readonly people: number;
}

/** The largest multiple of K a group may be said to have. */
function limitOf({ bound, maxBound }: GroupBounds, threshold: number): number {
  return threshold * Math.floor(((bound - maxBound) * (threshold - 1)) / threshold);
}

/** What is published of a group beside other children. */
export function publishedSum(group: Group, threshold: number): GroupSum {
  const limit = limitOf(group, threshold);
  const min = Math.min(threshold * Math.floor(group.people / threshold), limit);
  return { min, max: threshold * (min === limit ? group.bound : min / threshold + 1) };
}

/** Whether a cell is suppressed whose covered children are all in a group. */
export function isSuppressed(group: Group, threshold: number): boolean {
  return limitOf(group, threshold) === 0 || group.people < threshold;
}

/** How many people a cell can have at most while it is suppressed, in multiples of K. @param group all its children. */
export function suppressedBound(group: GroupBounds, threshold: number): number {
  return limitOf(group, threshold) === 0 ? group.bound : 1;
}
