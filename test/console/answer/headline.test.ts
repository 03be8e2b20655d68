import { expect, test } from "vitest";
import { sizesOf } from "../../../console/answer/cell-sizes.ts";
import { headlineOf, headlineText } from "../../../console/answer/headline.ts";
import { boxArea } from "../../../console/data/area.ts";
import { boundsOf, cellArea } from "../../../console/data/cells.ts";

const [first, second] = ["u05kq4w", "u05kq4x"] as const;

/** The headline of two cells with densities, of which all of the first is asked for, and a share of the second. */
function headline(share: number, densities: readonly (number | undefined)[], coveredShares = [1, 1]) {
  const values = densities.map((density) =>
    density === undefined
      ? ({ dataType: "LOW_DENSITY" } as const)
      : ({ dataType: "DENSITY_ESTIMATION", density } as const),
  );
  const people = densities.reduce<number>((sum, density = 0) => sum + density * cellArea(first), 0);
  const { west, east, ...sides } = boundsOf(first);
  const area = boxArea({ west, east: east + share * (east - west), ...sides });
  return headlineOf(
    { values, people },
    sizesOf({ geohashes: [first, second], coveredShares }, area ? [area] : []),
  );
}

const size = cellArea(first);

test("the headline has the people of the area, not those of all cells that it touches", () => {
  const text = headline(0.25, [10_000, 40_000]);

  expect(text).toEqual({
    people: `About ${Math.round(20_000 * size)} people`,
    mean: "16,000 per km²",
    ground: `All ${Number((1.25 * size).toPrecision(3))} km² have a number; whole cells: ${Math.round(50_000 * size)}`,
  });
});

test("of a cell that is covered in part, the headline has the people by the share of its covered ground", () => {
  const halfOfCovered = headline(0.25, [0, 20_000], [1, 0.5]);
  const beyond = headline(0.75, [0, 20_000], [1, 0.5]);

  expect(halfOfCovered.people).toBe(`About ${Math.round(10_000 * size)} people`);
  expect(beyond.people).toBe(`About ${Math.round(20_000 * size)} people`);
});

test.each([
  [0.1, "About 163 people · 10,000 per km²", "0.0163 of 0.018 km² have a number; whole cells: 163"],
  [0.2, "About 163 people", "0.0163 of 0.0196 km² have a number, too little for a mean; whole cells: 163"],
])(
  "people per km² are of the ground with a number, and left out below 90 % of the area: %s of it more has none",
  (more, text, ground) => {
    const shown = headline(more, [10_000, undefined]);

    expect(headlineText(shown)).toBe(text);
    expect(shown.ground).toBe(ground);
  },
);

test("an area whose cells are all suppressed is headed “No number”, and one of empty cells “About 0 people”", () => {
  expect(headline(1, [undefined, undefined])).toMatchObject({
    people: "No number",
    mean: undefined,
  });
  expect(headlineText(headline(1, [0, 0]))).toBe("About 0 people · 0 per km²");
});
