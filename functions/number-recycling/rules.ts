/** A time in which one subscriber held a number: days `YYYY-MM-DD`, both included; no `to` means still. */
export interface Assignment {
  readonly subscriber: string;
  readonly from: string;
  readonly to?: string | undefined;
}

/** The assignments that have begun: one that is only planned changes nothing yet. */
export function begunBy(today: string, history: readonly Assignment[]): Assignment[] {
  return history.filter(({ from }) => from <= today);
}

/**
 * Whether the subscriber of a number has changed after a day (behaviour section 8).
 *
 * @param history assignments of the number that have begun and do not overlap, in any order.
 * @param specifiedDate today at the latest.
 */
export function isRecycled(history: readonly Assignment[], specifiedDate: string, today: string): boolean {
  const then = holderOn(specifiedDate, history);
  if (then === undefined || holderOn(today, history) === undefined) return true;
  return history.some(({ subscriber, from }) => from > specifiedDate && subscriber !== then);
}

/** Who held a number on a day. */
export function holderOn(day: string, history: readonly Assignment[]): string | undefined {
  return history.find(({ from, to }) => from <= day && (to === undefined || day <= to))?.subscriber;
}

/** Pairs of assignments of one number that share a day, the earlier first; none when the history is sound. */
export function overlapsIn<Held extends Assignment>(
  history: readonly Held[],
): [earlier: Held, later: Held][] {
  const overlaps: [Held, Held][] = [];
  let longest: Held | undefined;
  for (const assignment of [...history].sort((a, b) => (a.from < b.from ? -1 : 1))) {
    if (longest !== undefined && assignment.from <= endOf(longest)) overlaps.push([longest, assignment]);
    if (longest === undefined || endOf(assignment) > endOf(longest)) longest = assignment;
  }
  return overlaps;
}

/** The last day of an assignment; a day after every other for one that is open. */
function endOf({ to }: Assignment): string {
  return to ?? "9999-12-31";
}
