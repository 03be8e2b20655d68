/** What an hour says of the areas that were asked for: the same wherever it is read, on the page, on paper and in a picture. */
import { about, squareKilometres, whole } from "../base/numbers.ts";
import type { Hour } from "../data/densities.ts";
import type { CellSizes } from "./cell-sizes.ts";

/** The numbers of an hour in words. */
interface Headline {
  /** `About 354,000 people`, or that there is no number. */
  readonly people: string;
  /** `16,300 per km²`, of the ground that has a number; undefined where that is too little for the whole area. */
  readonly mean: string | undefined;
  /** How much of the areas has a number, and the people of whole cells, as the API's summary counts them. */
  readonly ground: string;
}

/** The share of the areas that needs a number for a mean over them. */
const enough = 0.9;

type Values = Pick<Hour, "values">;

/** The people of published cells in the areas: of a cell across an edge, as many as it has of its covered ground there. */
export function peopleIn({ values }: Values, { weights }: CellSizes): number {
  return values.reduce((sum, { density = 0 }, index) => sum + density * (weights[index] ?? 0), 0);
}

/** The headline of an hour. */
export function headlineOf(hour: Values & Pick<Hour, "people">, sizes: CellSizes): Headline {
  const { values, people: ofWholeCells } = hour;
  const { inside, asked } = sizes;
  const hasNumber = values.some(({ density }) => density !== undefined);
  const all = squareKilometres(asked);
  if (!hasNumber) return { people: "No number", mean: undefined, ground: `is published in these ${all}` };
  const people = peopleIn(hour, sizes);
  const ground = values.reduce(
    (sum, { density }, index) => sum + (density === undefined ? 0 : (inside[index] ?? 0)),
    0,
  );
  const part = squareKilometres(Math.min(ground, asked));
  const isEnough = ground >= enough * asked;
  const has =
    part === all ? `All ${all} have a number` : `${part.replace(" km²", "")} of ${all} have a number`;
  return {
    people: `About ${about(people)} people`,
    mean: isEnough ? `${about(people / ground)} per km²` : undefined,
    ground: `${has}${isEnough ? "" : ", too little for a mean"}; whole cells: ${whole(ofWholeCells)}`,
  };
}

/** People and mean in a line: `About 354,000 people · 16,300 per km²`. */
export function headlineText({ people, mean }: Headline): string {
  return mean === undefined ? people : `${people} · ${mean}`;
}
