import { Unavailable } from "../../../shared/errors.ts";
import type { WorkerPorts } from "./ports.ts";

/** The result of a call that a worker can do without; undefined if the dependency is unavailable. */
export async function ignoreUnavailable<Value>(
  log: WorkerPorts["log"],
  call: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log("DEPENDENCY_FAILED", { cause: error.message });
    return undefined;
  }
}
