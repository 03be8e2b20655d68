/**
 * What may be published of cells with few people. A cell of the finest precision with fewer than the threshold K of
 * counted people is suppressed: it is published as low density, without a number. A coarser cell adds what is
 * published of its other children and its suppressed children as one group:
 *
 * 1. Of the sum S of a group only q is used, the greatest multiple of K that is neither above S nor above the limit.
 * 2. Everybody knows how many people a suppressed cell can have at most: K − 1, or more for a coarser one (see 4). The
 *    limit is the greatest multiple of K that the group can have without any one of its cells. So it takes three
 *    cells at least before anything of a sum is published, and each of them may still have none.
 * 3. A group counts as the middle of what q leaves possible: q to q + K − 1, or up to all that the group can have
 *    if q is the limit. With q = 0 that is always the same number, whatever S is, even 0.
 * 4. If q is 0 and all children are suppressed, the cell is suppressed too, and a member of the group of its own
 *    parent. It has at most K − 1 people, unless the limit was 0: then it may have as many as its children together.
 *
 * What goes upwards of a cell that is not suppressed is what was published of it. So no cell is in two groups, and
 * whoever knows q can exclude no number of people below K in any cell of the group: the others have room for q without
 * it, and none of them needs more than 0.
 */

/** What is published of a group: the sum is somewhere in it. */
export interface GroupSum {
  readonly least: number;
  readonly greatest: number;
}

/** Suppressed cells that have one parent. */
export interface Group {
  /** The people who were really counted in all of them. */
  readonly people: number;
  /** How many people they can have at most, in multiples of K − 1. */
  readonly bound: number;
  /** The same of the one of them that can have most. */
  readonly maxBound: number;
}

/** The greatest multiple of K a group may be said to have. */
function limitOf({ bound, maxBound }: Group, threshold: number): number {
  return threshold * Math.floor(((bound - maxBound) * (threshold - 1)) / threshold);
}

/** What is published of a group beside other children. */
export function publishedSum(group: Group, threshold: number): GroupSum {
  const limit = limitOf(group, threshold);
  const least = Math.min(threshold * Math.floor(group.people / threshold), limit);
  return { least, greatest: least === limit ? group.bound * (threshold - 1) : least + threshold - 1 };
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
