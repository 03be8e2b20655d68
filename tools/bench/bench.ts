/**
 * Whether benches run in their smallest size (`--brief`), which shows that they work: what they measure is unreliable,
 * and no bar is checked.
 */
const isBrief = process.argv.includes("--brief");

/** Passes the smallest size on to another program. */
export const briefly: readonly string[] = isBrief ? ["--brief"] : [];

/** A size of a bench, and the smallest one with which it still runs through all of it. */
export function sized(size: number, smallest: number): number {
  return isBrief ? smallest : size;
}

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
  /** What is measured, how, and what it is compared with, for the reader of the document. */
  readonly about: string;
  readonly run: () => Promise<readonly Row[]>;
}

/** A number as text, with its unit. */
type Text = (value: number) => string;

/** Texts of numbers with a unit, rounded to `decimals` places. */
export function inUnit(unit: string, decimals = 0): Text {
  return (value) => `${value.toLocaleString("en", { maximumFractionDigits: decimals })} ${unit}`;
}

/** A ratio. */
export const times = inUnit("×", 2);

/** Bytes as mebibytes. */
export const mebibytes: Text = (bytes) => inUnit("MiB", 1)(bytes / 2 ** 20);

/** Bytes as megabytes. */
export const megabytes: Text = (bytes) => inUnit("MB")(bytes / 1_000_000);

/** A measurement without a bar. */
export function shown(what: string, measured: string): Row {
  return { what, measured, holds: true };
}

/** A measurement that must not be below its bar. */
export function atLeast(what: string, value: number, bar: number, text: Text): Row {
  if (isBrief) return shown(what, text(value));
  return { what, measured: text(value), bar: `≥ ${text(bar)}`, holds: value >= bar };
}

/** A measurement that must not be above its bar. */
export function atMost(what: string, value: number, bar: number, text: Text): Row {
  if (isBrief) return shown(what, text(value));
  return { what, measured: text(value), bar: `≤ ${text(bar)}`, holds: value <= bar };
}

/** The middle value; the mean of the two middle values of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error("no values to take a median of");
  return (lower + upper) / 2;
}

const [warmMilliseconds, minMilliseconds, minCalls] = [sized(100, 0), sized(500, 0), sized(15, 1)];

/** The median time of each function in milliseconds, after enough calls for the compiler. */
export function medianMilliseconds<Name extends string>(
  functions: Readonly<Record<Name, () => unknown>>,
): Record<Name, number> {
  const medians = Object.entries<() => unknown>(functions).map(([name, run]) => {
    timesOf(run, warmMilliseconds);
    return [name, median(timesOf(run, minMilliseconds))];
  });
  return Object.fromEntries(medians) as Record<Name, number>;
}

/** The times of calls that together take some milliseconds. */
function timesOf(run: () => unknown, milliseconds: number): number[] {
  const times: number[] = [];
  const began = performance.now();
  while (times.length < minCalls || performance.now() - began < milliseconds) {
    const started = performance.now();
    run();
    times.push(performance.now() - started);
  }
  return times;
}
