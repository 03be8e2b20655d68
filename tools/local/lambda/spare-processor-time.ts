import { cpus } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

const sampleMilliseconds = 100;
const maxMilliseconds = 1_000;
const spareShare = 0.25;

/**
 * Resolves when the machine's processors are idle for a quarter of the time, or after a second. While all of them are
 * busy, another thread would answer no event sooner.
 */
export async function spareProcessorTime(): Promise<void> {
  const end = performance.now() + maxMilliseconds;
  do {
    const before = processorTimes();
    await wait(sampleMilliseconds);
    const after = processorTimes();
    if (after.idle - before.idle >= spareShare * (after.all - before.all)) return;
  } while (performance.now() < end);
}

/** Milliseconds since the machine started, summed over its processors. */
function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times }) => times);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((each) => Object.values(each))) };
}
