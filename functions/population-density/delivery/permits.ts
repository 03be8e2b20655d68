import { handOver, limitReached, limitsFreed, type Permit, type PermitRequest } from "./permit-rules.ts";
import type { Clock, PermitStore, Queues } from "./ports.ts";

/** What acquiring and releasing permits needs. */
export interface PermitPorts {
  readonly permits: PermitStore;
  readonly queues: Pick<Queues, "wake">;
  readonly clock: Clock;
  /** Workers that can send at a time. */
  readonly workers: number;
}

/**
 * Acquires a permit.
 * @param until when it expires, in epoch milliseconds.
 * @returns undefined when it is acquired, otherwise the limit that is reached.
 * @throws {Unavailable} when the store does not answer; the permit may then be held until it expires.
 */
export async function acquirePermit(
  request: PermitRequest,
  until: number,
  { permits: store, clock, workers }: Omit<PermitPorts, "queues">,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    const now = clock.now();
    const found = await store.read(signal);
    // An earlier write succeeded, but its response was lost.
    if (found.permits.some(({ holder }) => holder === request.holder)) return undefined;
    const reached = limitReached(found.permits, request, workers, now);
    if (reached !== undefined) return reached;
    const others = found.permits.filter(
      (permit) =>
        permit.until > now && !(permit.operationId === request.operationId && permit.holder === undefined),
    );
    if (await store.write([...others, { ...request, until }], found.version, signal)) return undefined;
  }
}

/**
 * Releases a permit and wakes the waiting jobs that there are permits for now. A job whose message cannot be made
 * visible is under way or has ended: then the next job is woken. A job that is held back by another limit than the one
 * it waits at waits at that one from now on. The loop ends when a reading finds nothing to do: jobs that began to wait
 * before the release are seen by then, and jobs that begin later find the permit free.
 */
export async function releasePermit(
  { holder, host, caller }: PermitRequest,
  { permits: store, queues, clock, workers }: PermitPorts,
  signal: AbortSignal,
): Promise<void> {
  const notWoken = new Set<string>();
  const isToGo = (permit: Permit) =>
    permit.holder === holder || (permit.holder === undefined && notWoken.has(permit.operationId));
  for (;;) {
    const now = clock.now();
    const found = await store.read(signal);
    const kept = found.permits.filter((permit) => !isToGo(permit));
    const limits = limitsFreed(host, caller, kept, workers, now);
    const waiting = await Promise.all(limits.map((limit) => store.waitingAt(limit, signal)));
    const { permits, woken, heldBack } = handOver(kept, waiting.flat(), workers, now);
    if (kept.length === found.permits.length && woken.length === 0) return;
    if (!(await store.write(permits, found.version, signal))) continue;
    for (const entry of woken) {
      await store.removeWaiting(entry, signal);
      if (!(await queues.wake(entry.queue, entry.receiptHandle, signal))) notWoken.add(entry.operationId);
    }
    for (const { entry, limit } of heldBack) {
      await store.addWaiting({ ...entry, limit }, signal);
      await store.removeWaiting(entry, signal);
    }
  }
}
