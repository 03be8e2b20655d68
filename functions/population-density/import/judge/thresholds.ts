import * as z from "zod/mini";

const share = z.number().check(z.minimum(0), z.maximum(1));
const positive = z.number().check(z.positive());

/**
 * The limits from which a judgement warns and refuses. `npm run test:long` judges generated weeks by the defaults, with
 * faults and without.
 */
const judgementThresholds = z.strictObject({
  /** How far the people of an hour may be from the usual ones, as a share of them. */
  people: z.strictObject({ warning: share, critical: share }),
  /** How far the share of suppressed cells may be from the usual one. */
  suppressed: z.strictObject({ warning: share, critical: share }),
  /** How many times the usual people the largest cell may have. */
  largest: z.strictObject({ warning: positive, critical: positive }),
  /** The share of the usual people that must be missing in empty tiles. */
  emptyTiles: z.strictObject({ warning: share, critical: share }),
  /** An hour with less than this share of the median of the day's hours has too few rows. */
  rows: z.strictObject({ warning: share, critical: share }),
  /** Deviations from the median that are usual in any case; of normally distributed numbers, standard deviations. */
  deviations: positive,
  /** Fewer people in an hour are not compared. */
  leastPeople: positive,
  /** A tile is empty with less than `left` of its usual people, if these are at least `people`. */
  tile: z.strictObject({ people: positive, left: share }),
  /** From this number on, rows with people, or cells with a number, must not all be equal. */
  equal: z.int().check(z.minimum(2)),
});

/** The limits from which a judgement warns and refuses. */
export type JudgementThresholds = z.infer<typeof judgementThresholds>;

/** What holds unless an operator says otherwise. */
export const defaultThresholds: JudgementThresholds = {
  people: { warning: 0.2, critical: 0.4 },
  suppressed: { warning: 0.1, critical: 0.25 },
  largest: { warning: 2, critical: 5 },
  emptyTiles: { warning: 0.001, critical: 0.1 },
  rows: { warning: 0.5, critical: 0.2 },
  deviations: 5,
  leastPeople: 500,
  tile: { people: 100, left: 0.1 },
  equal: 50,
};

/** Those thresholds that an operator sets; the others are the defaults. */
export const changedThresholds = z.partial(judgementThresholds);
