import { vi } from "vitest";
import { busyMachine } from "./busy-machine.ts";

/**
 * Runs something with newly loaded modules whose deadlines are ten times as long as in other tests: a busy machine takes
 * long for many concurrent calls.
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
