import { limitReached, type Permit, type PermitRequest } from "./permit-rules.ts";
import type { Clock, PermitStore } from "./ports.ts";

/** What acquiring a permit needs. */
export interface PermitPorts {
  readonly permits: Pick<PermitStore, "read" | "replace">;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Workers that can send at a time. */
  readonly workers: number;
}

/** The longest pause on average after another worker wrote first, doubled from the first time on up to the maximum. */
const [firstPauseMilliseconds, maxPauseMilliseconds] = [10, 1_000];

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
  request: PermitRequest,
  until: number,
  { permits: store, clock, random, workers }: PermitPorts,
  signal: AbortSignal,
): Promise<readonly Permit[] | undefined> {
  for (let conflicts = 1; ; conflicts++) {
    const now = clock.now();
    const found = await store.read(signal);
    const { permits } = found;
    // An earlier write succeeded, but its response was lost.
    if (permits.some(({ holder }) => holder === request.holder)) return undefined;
    const holdingBack = limitReached(permits, request, workers, now);
    if (holdingBack !== undefined) return holdingBack;
    const left = permits.filter((permit) => permit.until > now);
    if (await store.replace(found, [...left, { ...request, until }], signal)) return undefined;
    const pause = Math.min(firstPauseMilliseconds * 2 ** (conflicts - 1), maxPauseMilliseconds);
    await clock.pause(2 * random() * pause);
  }
}
