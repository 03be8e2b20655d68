/** One measurement. */
export interface Row {
  readonly what: string;
  /** With its unit. */
  readonly measured: string;
  /** Absent for a measurement that is shown only for comparison. */
  readonly bar?: string;
  /** True where there is no bar. */
  readonly holds: boolean;
}

/** A set of measurements that are run together. */
export interface Bench {
  /** What is measured and how, for the reader of the document. */
  readonly about: string;
  readonly run: () => Promise<readonly Row[]>;
}

/** The middle value; the mean of the two middle values of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error("no values to take a median of");
  return (lower + upper) / 2;
}
