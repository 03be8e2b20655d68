import { vi } from "vitest";
import { busyMachine } from "./busy-machine.ts";

/**
 * Runs something with modules of its own, whose calls have ten times as long as other tests': for many calls at once,
 * which take a busy machine longer than one.
 */
export async function withTime<Result>(run: () => Promise<Result>): Promise<Result> {
  vi.resetModules();
  vi.stubEnv("DEADLINE_FACTOR", String(10 * Number(busyMachine.DEADLINE_FACTOR)));
  try {
    return await run();
  } finally {
    vi.stubEnv("DEADLINE_FACTOR", busyMachine.DEADLINE_FACTOR);
    vi.resetModules();
  }
}
