import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { groupsOf, published, pyramids, type Settled, sum } from "../../support/pyramids.ts";
import { runs, sampleOf } from "../../support/sample.ts";

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

  test("published tiles exclude no number of people below the threshold in a suppressed cell", async () => {
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

  /** Cells at three levels, some alone, some with neighbours. */
  const shapes = [
    ["000", "001", "002", "003", "004"],
    ["000", "001", "002", "010", "011", "012"],
    ["000", "010", "020", "100", "110", "200"],
    ["000", "001", "010", "011", "020", "021", "100"],
  ];

  const searched = shapes.flatMap((cells) => [
    { cells, limit: 2 },
    ...(cells.length < 7 ? [{ cells, limit: 3 }] : []),
  ]);

  test.each(sampleOf(searched, 2))(
    "published tiles exclude no number in any possible world: threshold $limit, $cells",
    async ({ cells, limit }) => {
      const counts = Array.from({ length: limit + 1 }, (_, count) => count);
      const worlds = cells.reduce<number[][]>(
        (some, _, index) =>
          // Only the first cell may be published: the others are as interesting as they get.
          some.flatMap((world) =>
            counts.slice(0, index === 0 ? undefined : limit).map((count) => [...world, count]),
          ),
        [[]],
      );
      const groups = new Map<string, number[][]>();
      for (const world of worlds) {
        const people = new Map(cells.map((cell, index) => [cell, world[index] ?? 0]));
        const known = JSON.stringify(await published(people, 3, { threshold: limit }));
        groups.set(known, [...(groups.get(known) ?? []), world]);
      }
      for (const group of groups.values()) {
        for (const index of cells.keys()) {
          const values = new Set(group.map((world) => world[index] ?? 0));
          if ([...values].some((value) => value >= limit)) continue;
          expect(values.size, `${cells[index]} of ${group[0]}`).toBe(limit);
        }
      }
      expect(groups.size).toBeGreaterThan(1);
    },
  );
});
