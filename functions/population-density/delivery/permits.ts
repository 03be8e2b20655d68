import { limitReached, type Permit, settled, shortened } from "./permit-rules.ts";
import type { Clock, PermitStore } from "./ports.ts";

/** What acquiring a permit needs. */
export interface PermitPorts {
  readonly permits: Pick<PermitStore, "read" | "add" | "remove">;
  readonly clock: Pick<Clock, "now" | "pause">;
  /** Maximum of concurrent workers. */
  readonly workers: number;
}

/** How often a permit is asked for while it is held back by others that may be about to give way, … */
const maxAsks = 3;

/** … and how long after each time: longer than they take for that. */
const givingWayMilliseconds = 300;

/**
 * Acquires a permit unless a limit is reached. There is no notification when a permit is released or expires: a job
 * without one asks again.
 *
 * A permit is added without a condition, so that no worker waits for another, and is valid if the permits that were
 * there just before allow it. Later writers see it; the first wins.
 * The others remove theirs; a job that these may have held back asks again at once.
 * @returns undefined if it was acquired, otherwise the permits that hold the job back.
 * @throws {Unavailable} if the store does not answer; the permit may then be held until it is released or expires.
 */
export async function acquirePermit(
  wanted: Permit,
  ports: PermitPorts,
  signal: AbortSignal,
): Promise<readonly Permit[] | undefined> {
  const { clock, workers } = ports;
  const permit = shortened(wanted);
  for (let asks = 1; ; asks++) {
    const now = clock.now();
    const refusal = await tryAcquire(permit, now, ports, signal);
    if (refusal === undefined) return undefined;
    const others = settled(refusal.others, permit, workers, now);
    const isFinal = limitReached(others, permit, workers, now) !== undefined;
    if (isFinal || asks === maxAsks) return refusal.holdingBack;
    await clock.pause(givingWayMilliseconds);
  }
}

interface Refusal {
  readonly holdingBack: readonly Permit[];
  /** All permits of others, by which it was decided. */
  readonly others: readonly Permit[];
}

/** Asks for a permit once; undefined if it was acquired. */
async function tryAcquire(
  permit: Permit,
  now: number,
  { permits: store, workers }: PermitPorts,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const refusal = (others: readonly Permit[]) => {
    const holdingBack = limitReached(others, permit, workers, now);
    return holdingBack && { holdingBack, others };
  };
  const found = await store.read(signal);
  const refused = refusal(found);
  if (refused !== undefined) return refused;
  const expired = found.filter(({ until }) => until <= now);
  if (expired.length > 0) await store.remove(expired, signal);
  const before = await store.add(permit, signal);
  // It is already there if an earlier try of this call was executed, and its response was lost.
  const others = before.filter(({ holder }) => holder !== permit.holder);
  const exceeding = refusal(others);
  if (exceeding !== undefined) await freePermit(permit, store, signal);
  return exceeding;
}

/** Releases a permit, if it is held. */
export async function freePermit(
  held: Permit,
  store: Pick<PermitStore, "remove">,
  signal: AbortSignal,
): Promise<void> {
  await store.remove([shortened(held)], signal);
}
