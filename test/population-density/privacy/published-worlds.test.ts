import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { groupsOf, published, pyramids, type Settled, sum } from "../../support/pyramids.ts";
import { runs } from "../../support/sample.ts";

/** A world in which a suppressed cell has so many people, not more than it can have. */
function fill(cell: Settled, count: number, into: Map<string, number>): void {
  if (cell.children.length === 0) into.set(cell.geohash, count);
  let left = count;
  for (const child of cell.children) {
    const here = Math.min(left, child.maxPeople);
    fill(child, here, into);
    left -= here;
  }
}

function leavesOf(cell: Settled): string[] {
  return cell.children.length === 0 ? [cell.geohash] : cell.children.flatMap(leavesOf);
}

describe("a reader of everything that is published", () => {
  const shares = fc.constantFrom(undefined, 0.4, 0.125);

  test("everything published of a day leaves each number of people below K possible in a suppressed cell", async () => {
    const found = { hidden: 0, published: 0, full: 0 };
    await fc.assert(
      fc.asyncProperty(
        pyramids,
        shares,
        fc.nat(),
        fc.integer({ min: 0, max: 9 }),
        async ({ people, precision }, marketShare, at, count) => {
          const leaves = groupsOf(people, precision).flatMap((group) =>
            group.members.flatMap((member) => leavesOf(member).map((leaf) => ({ group, member, leaf }))),
          );
          const chosen = leaves[at % leaves.length];
          fc.pre(chosen !== undefined);
          const { group, member, leaf } = chosen;
          const total = sum(group.members, "people");
          found[group.published === 0 ? "hidden" : total < group.published + 10 ? "published" : "full"]++;

          // All that must be of the group's people is in the other members.
          const other = new Map(people);
          fill(member, 0, other);
          other.set(leaf, count);
          let left = Math.max(0, group.published - count);
          for (const each of group.members.filter((one) => one !== member)) {
            const here = Math.min(left, each.maxPeople);
            fill(each, here, other);
            left -= here;
          }

          expect(left).toBe(0);
          expect(await published(other, precision, { marketShare })).toEqual(
            await published(people, precision, { marketShare }),
          );
        },
      ),
      { numRuns: runs(1_500, 60) },
    );
    // A sample may happen to meet few of a kind.
    for (const times of Object.values(found)) expect(times).toBeGreaterThan(runs(3, -1));
  });
});
