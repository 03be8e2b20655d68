import {
  handOver,
  limitReached,
  limitsFreed,
  limitsOf,
  type Permit,
  type PermitRequest,
  type Waiting,
} from "./permit-rules.ts";
import type { Clock, PermitStore, Queues } from "./ports.ts";
import { maxHiddenMilliseconds } from "./rules.ts";

/** What acquiring and releasing permits needs. */
export interface PermitPorts {
  readonly permits: PermitStore;
  readonly queues: Pick<Queues, "wake">;
  readonly clock: Clock;
  /** Workers that can send at a time. */
  readonly workers: number;
}

/**
 * Acquires a permit, or lets a job wait for one. A job that waits stores its receipt handle, and then tries once more,
 * so that it does not miss a permit that was released before. When another limit keeps it back by then, it waits at
 * that one in the same way.
 * @param until when the permit expires, in epoch milliseconds.
 * @param message of the job, which is to be hidden when no permit is acquired; `isNew` when it never waited.
 * @returns whether the permit is acquired.
 * @throws {Unavailable} when the store does not answer.
 */
export async function acquireOrWait(
  request: PermitRequest,
  until: number,
  { isNew, ...message }: Pick<Waiting, "since" | "queue" | "receiptHandle"> & { readonly isNew: boolean },
  ports: Omit<PermitPorts, "queues">,
  signal: AbortSignal,
): Promise<boolean> {
  const { operationId, host, caller, mode } = request;
  const { since } = message;
  let waitsAt: string | undefined;
  let limit = await acquirePermit(request, until, ports, signal);
  while (limit !== undefined && limit !== waitsAt) {
    await ports.permits.addWaiting({ limit, operationId, host, caller, mode, ...message }, signal);
    if (waitsAt !== undefined) {
      await ports.permits.removeWaiting({ limit: waitsAt, since, operationId }, signal);
    }
    waitsAt = limit;
    limit = await acquirePermit(request, until, ports, signal);
  }
  if (limit !== undefined) return false;
  if (waitsAt !== undefined || !isNew) {
    const entries = limitsOf(host, caller).map((name) => ({ limit: name, since, operationId }));
    await Promise.all(entries.map((entry) => ports.permits.removeWaiting(entry, signal)));
  }
  return true;
}

/**
 * Acquires a permit. When a limit is reached, raises `waitedUntil`, so that releases look for jobs that wait.
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
    if (reached !== undefined) {
      if (found.waitedUntil >= now + maxHiddenMilliseconds) return reached;
      // Later than needed: the next jobs that wait need not raise it again.
      const raised = { permits: found.permits, waitedUntil: now + 2 * maxHiddenMilliseconds };
      if (await store.write(raised, found.version, signal)) return reached;
      continue;
    }
    const others = found.permits.filter(
      (permit) =>
        permit.until > now && !(permit.operationId === request.operationId && permit.holder === undefined),
    );
    const inUse = { permits: [...others, { ...request, until }], waitedUntil: found.waitedUntil };
    if (await store.write(inUse, found.version, signal)) return undefined;
  }
}

/**
 * Releases a permit and wakes the waiting jobs that there are permits for now. A job whose message cannot be made
 * visible is under way or has ended: then the next job is woken. A job that is held back by another limit than the one
 * it waits at waits at that one from now on, and is looked for there once more. The loop ends when a reading finds
 * nothing to do: jobs that began to wait before the release are seen by then, and jobs that begin later find the permit
 * free.
 *
 * After `waitedUntil`, a release looks for no jobs. A job that waits raises `waitedUntil`, unless it is late enough,
 * and then tries once more. If it raises it before the release reads the permits, the release looks for the job; if
 * between the release's reading and its write, that write fails and the release reads again; if later, the job finds
 * the permit free.
 */
export async function releasePermit(
  { holder, host, caller }: PermitRequest,
  { permits: store, queues, clock, workers }: PermitPorts,
  signal: AbortSignal,
): Promise<void> {
  const notWoken = new Set<string>();
  const movedTo = new Set<string>();
  const isToGo = (permit: Permit) =>
    permit.holder === holder || (permit.holder === undefined && notWoken.has(permit.operationId));
  for (;;) {
    const now = clock.now();
    const found = await store.read(signal);
    const kept = found.permits.filter((permit) => !isToGo(permit));
    const isAnyoneWaiting = found.waitedUntil > now;
    const limits = isAnyoneWaiting ? [...limitsFreed(host, caller, kept, workers, now), ...movedTo] : [];
    const waiting = await Promise.all([...new Set(limits)].map((limit) => store.waitingAt(limit, signal)));
    const { permits, woken, heldBack } = handOver(kept, waiting.flat(), workers, now);
    if (kept.length === found.permits.length && woken.length === 0) return;
    const { waitedUntil, version } = found;
    if (!(await store.write({ permits, waitedUntil }, version, signal))) continue;
    if (!isAnyoneWaiting) return;
    // A job may have entries at several limits, the older ones with receipt handles that are no longer valid.
    const awake = new Set<string>();
    for (const entry of woken) {
      await store.removeWaiting(entry, signal);
      if (await queues.wake(entry.queue, entry.receiptHandle, signal)) awake.add(entry.operationId);
    }
    for (const { operationId } of woken) if (!awake.has(operationId)) notWoken.add(operationId);
    for (const { entry, limit } of heldBack) {
      await store.addWaiting({ ...entry, limit }, signal);
      await store.removeWaiting(entry, signal);
      movedTo.add(limit);
    }
  }
}
