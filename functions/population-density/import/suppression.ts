/**
 * The rule of suppression. A cell of the finest precision with fewer counted people than the threshold K is suppressed:
 * it is published as `LOW_DENSITY`, without a number. A coarser cell adds what is published of its other children, and
 * its suppressed children as one group:
 *
 * 1. Of the sum S of a group only q is used: the largest multiple of K that is neither above S nor above the limit. 2.
 * The maximum of a suppressed cell is public: K − 1, or more for a coarser one (see 4). The limit is the largest
 * multiple of K that the group can reach without any one of its cells. So at least three cells are needed before
 * anything of a sum is published, and each of them may still have nobody. 3. A group contributes the middle of the
 * interval that q leaves possible: q to q + K − 1, or up to the group's maximum if q is the limit. With q = 0 that is
 * the same number for every S, also for 0. 4. If q is 0 and all children are suppressed, the cell is suppressed too,
 * and belongs to the group of its own parent. Its maximum is K − 1, unless the limit was 0: then it is the sum of its
 * children's maximums.
 *
 * A cell that is not suppressed passes on what was published of it. So no cell is in two groups. Knowing q excludes no
 * number below K for any cell of the group: the other cells can have q people without it, and none of them needs more
 * than 0.
 */

/** The published interval of a group's sum. */
export interface GroupSum {
  readonly min: number;
  readonly max: number;
}

/** Suppressed cells that have one parent. */
export interface Group {
  /** The people who were really counted in all of them. */
  readonly people: number;
  /** Their maximum of people, in multiples of K − 1. */
  readonly bound: number;
  /** The same of the one of them that can have most. */
  readonly maxBound: number;
}

/** The largest multiple of K a group may be said to have. */
function limitOf({ bound, maxBound }: Group, threshold: number): number {
  return threshold * Math.floor(((bound - maxBound) * (threshold - 1)) / threshold);
}

/** What is published of a group beside other children. */
export function publishedSum(group: Group, threshold: number): GroupSum {
  const limit = limitOf(group, threshold);
  const min = Math.min(threshold * Math.floor(group.people / threshold), limit);
  return { min, max: min === limit ? group.bound * (threshold - 1) : min + threshold - 1 };
}

/**
 * How many people a cell can have at most as everybody knows, in multiples of K − 1, if all its children are
 * suppressed and it is suppressed itself.
 * @returns 0 if it is not.
 */
export function suppressedBound(group: Group, threshold: number): number {
  const limit = limitOf(group, threshold);
  if (limit === 0) return group.bound;
  return group.people < threshold ? 1 : 0;
}
