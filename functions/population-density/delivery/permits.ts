import { limitReached, type Permit, shortened } from "./permit-rules.ts";
import type { Clock, PermitStore } from "./ports.ts";

/** What acquiring a permit needs. */
export interface PermitPorts {
  readonly permits: Pick<PermitStore, "read" | "add" | "remove">;
  readonly clock: Pick<Clock, "now">;
  /** Maximum of concurrent workers. */
  readonly workers: number;
}

/**
 * Acquires a permit unless a limit is reached. There is no notification when a permit is released or expires: a job
 * without one asks again.
 *
 * A permit is added without a condition, so that no worker waits for another, and is valid if the permits that were
 * there just before allow it. Whoever adds one later sees it: of several that compete for the last one, the first has it.
 * @returns undefined if it was acquired, otherwise the permits that hold the job back.
 * @throws {Unavailable} if the store does not answer; the permit may then be held until it is released or expires.
 */
export async function acquirePermit(
  wanted: Permit,
  { permits: store, clock, workers }: PermitPorts,
  signal: AbortSignal,
): Promise<readonly Permit[] | undefined> {
  const permit = shortened(wanted);
  const now = clock.now();
  const found = await store.read(signal);
  const holdingBack = limitReached(found, permit, workers, now);
  if (holdingBack !== undefined) return holdingBack;
  const expired = found.filter(({ until }) => until <= now);
  if (expired.length > 0) await store.remove(expired, signal);
  const before = await store.add(permit, signal);
  // It is already there if an earlier try of this call was executed, and its response was lost.
  const others = before.filter(({ holder }) => holder !== permit.holder);
  const taken = limitReached(others, permit, workers, now);
  if (taken !== undefined) await releasePermit(permit, store, signal);
  return taken;
}

/** Releases a permit, if it is held. */
export async function releasePermit(
  held: Permit,
  store: Pick<PermitStore, "remove">,
  signal: AbortSignal,
): Promise<void> {
  await store.remove([shortened(held)], signal);
}
