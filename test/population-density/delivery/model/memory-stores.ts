import {
  cancelledByCaller,
  isForgotten,
  isPlaceFree,
  type Job,
  type LastAttempt,
} from "../../../../functions/population-density/delivery/job.ts";
import type { Permit } from "../../../../functions/population-density/delivery/permit-rules.ts";
import type {
  JobEnd,
  Lease,
  PendingEntry,
  WaitingEntry,
  WorkerPorts,
} from "../../../../functions/population-density/delivery/ports.ts";
import type { Sending } from "../../../../functions/population-density/delivery/rules.ts";

/**
 * What the tables of jobs and callers do, in memory: each call happens at once and as a whole. A test holds that the
 * real store answers the same.
 */
export class MemoryJobs {
  readonly jobs = new Map<string, Job>();
  /** By caller and operation: when the place was reserved. */
  readonly places = new Map<string, Map<string, number>>();

  reservePlace({ caller, operationId, requestedAt }: Job, pendingLimit: number): boolean {
    const places = this.placesOf(caller);
    if (places.size >= pendingLimit && !places.has(operationId)) return false;
    places.set(operationId, requestedAt);
    return true;
  }

  store(job: Job, replaces: Job | undefined): boolean {
    const found = this.jobs.get(job.operationId);
    const isFree = found === undefined || isForgotten(found, job.requestedAt) || isUnchanged(found, replaces);
    if (isFree) this.jobs.set(job.operationId, withTombstones(job, replaces));
    return isFree;
  }

  read(operationId: string): Job | undefined {
    return this.jobs.get(operationId);
  }

  promise({ operationId, intake }: Job): boolean {
    const found = this.jobs.get(operationId);
    if (found?.intake !== intake || found.state === "withdrawn") return false;
    this.jobs.set(operationId, { ...found, promised: true });
    return true;
  }

  withdraw(job: Job, replaces: Job | undefined): boolean {
    const found = this.jobs.get(job.operationId);
    const isOwn =
      found !== undefined &&
      found.intake === job.intake &&
      found.state === "pending" &&
      found.attempts === 0 &&
      !found.promised;
    if (
      !(found === undefined || isOwn || isForgotten(found, job.requestedAt) || isUnchanged(found, replaces))
    ) {
      return found.withdrawnIntakes?.has(job.intake) ?? false;
    }
    const tombstone = withTombstones(job, replaces);
    const { sink: _, accessToken: __, pendingSince: ___, listedAt: ____, ...left } = tombstone;
    const withdrawnIntakes = new Set([...(tombstone.withdrawnIntakes ?? []), job.intake]);
    this.jobs.set(job.operationId, { ...left, state: "withdrawn", withdrawnIntakes });
    return true;
  }

  /**
   * What the real store does after it has ended a job, in a write of its own.
   * @param reservedAt of a withdrawn job, whose place may be another request's by now.
   */
  freePlace({ caller, operationId }: Pick<Job, "caller" | "operationId">, reservedAt?: number): void {
    const places = this.placesOf(caller);
    if (reservedAt === undefined || places.get(operationId) === reservedAt) places.delete(operationId);
  }

  freeEnded(caller: string, now: number): number {
    const places = this.placesOf(caller);
    const free = [...places].filter(([id, reservedAt]) => isPlaceFree(this.jobs.get(id), reservedAt, now));
    for (const [id] of free) places.delete(id);
    return free.length;
  }

  markQueued(operationId: string, now: number): boolean {
    const found = this.jobs.get(operationId);
    if (found?.state !== "pending") return false;
    this.jobs.set(operationId, { ...found, queuedAt: now });
    return true;
  }

  requestMessage(operationId: string): boolean {
    const found = this.jobs.get(operationId);
    if (found?.state !== "pending") return false;
    const { queuedAt: _, ...left } = found;
    this.jobs.set(operationId, left);
    return true;
  }

  markWaiting(operationId: string, host: string, heldBackAt: number | undefined): boolean {
    const found = this.jobs.get(operationId);
    if (found?.state !== "pending") return false;
    this.jobs.set(operationId, {
      ...found,
      waitsFor: host,
      ...(heldBackAt === undefined ? {} : { heldBackAt }),
    });
    return true;
  }

  waitingFor(host: string): WaitingEntry[] {
    const waiting = [...this.jobs.values()].filter(
      ({ waitsFor, pendingSince }) => waitsFor === host && pendingSince !== undefined,
    );
    waiting.sort((one, other) => (one.pendingSince ?? "").localeCompare(other.pendingSince ?? ""));
    return waiting.map(({ operationId, caller, mode, attempts }) => ({
      operationId,
      caller,
      mode,
      attempts,
    }));
  }

  acquireLease(job: Job, { id, now, until, ...sending }: Lease): boolean {
    const found = this.jobs.get(job.operationId);
    if (found?.state !== "pending") return false;
    if (!isFreeAt(now, found, job) && found.lease !== id) return false;
    const { waitsFor: _, ...left } = found;
    this.jobs.set(job.operationId, {
      ...left,
      ...sending,
      lease: id,
      notBefore: until,
      attempts: job.attempts + 1,
      startedAt: found.startedAt ?? now,
      lastAttempt: { number: job.attempts + 1, at: now },
    });
    return true;
  }

  markPossiblyDelivered(operationId: string, leaseId: string): boolean {
    return this.#change(operationId, leaseId, { possiblyDelivered: true });
  }

  scheduleRetry(
    operationId: string,
    leaseId: string,
    retry: Sending & { possiblyDelivered: boolean; notBefore: number; lastAttempt: LastAttempt },
  ): boolean {
    return this.#change(operationId, leaseId, retry);
  }

  finish(
    { operationId }: Pick<Job, "operationId" | "caller">,
    leaseId: string,
    { outcome, reason, lastAttempt }: JobEnd & { lastAttempt: LastAttempt },
  ): boolean {
    const found = this.jobs.get(operationId);
    if (found?.lease !== leaseId) return false;
    if (found.state !== "pending") return found.state === outcome;
    this.jobs.set(operationId, { ...erased(found), state: outcome, reason, lastAttempt });
    return true;
  }

  endWithoutAttempt(job: Job, endId: string, { outcome, reason }: JobEnd, now: number): boolean {
    const found = this.jobs.get(job.operationId);
    if (found?.state !== "pending") return found?.lease === endId && found.state === outcome;
    if (!isFreeAt(now, found, job)) return false;
    this.jobs.set(job.operationId, { ...erased(found), state: outcome, reason, lease: endId });
    return true;
  }

  cancel({ operationId }: Pick<Job, "operationId" | "caller">): boolean {
    const found = this.jobs.get(operationId);
    if (found?.state !== "pending") return false;
    this.jobs.set(operationId, { ...erased(found), state: "cancelled", reason: cancelledByCaller });
    return true;
  }

  pending(): PendingEntry[] {
    const entries = [...this.jobs.values()].flatMap(({ operationId, pendingSince, queuedAt, startedAt }) => {
      if (pendingSince === undefined) return [];
      return [
        {
          operationId,
          pendingSince,
          ...(queuedAt === undefined ? {} : { queuedAt }),
          ...(startedAt === undefined ? {} : { startedAt }),
        },
      ];
    });
    return entries.sort((one, other) => one.pendingSince.localeCompare(other.pendingSince));
  }

  placesOf(caller: string): Map<string, number> {
    const places = this.places.get(caller) ?? new Map();
    this.places.set(caller, places);
    return places;
  }

  #change(operationId: string, leaseId: string, changes: Partial<Job>): boolean {
    const found = this.jobs.get(operationId);
    if (found?.state !== "pending" || found.lease !== leaseId) return false;
    this.jobs.set(operationId, { ...found, ...changes });
    return true;
  }
}

function erased({
  sink: _,
  accessToken: __,
  pendingSince: ___,
  notBefore: ____,
  waitsFor: _____,
  ...left
}: Job): Job {
  return left;
}

function isFreeAt(now: number, found: Job, read: Job): boolean {
  return (
    found.attempts === read.attempts &&
    found.possiblyDelivered === read.possiblyDelivered &&
    (found.notBefore === undefined || found.notBefore <= now)
  );
}

function isUnchanged(found: Job, replaces: Job | undefined): boolean {
  if (replaces === undefined || found.state !== "withdrawn") return false;
  const [one, other] = [found.withdrawnIntakes ?? new Set(), replaces.withdrawnIntakes ?? new Set()];
  return one.size === other.size && [...one].every((intake) => other.has(intake));
}

function withTombstones(job: Job, replaces: Job | undefined): Job {
  const { withdrawnIntakes } = replaces ?? {};
  return withdrawnIntakes === undefined ? job : { ...job, withdrawnIntakes };
}

/** What the table of permits does, in memory. */
export class MemoryPermits {
  permits: readonly Permit[] = [];
  readonly agreed = new Set<string>();

  read(): readonly Permit[] {
    return this.permits;
  }

  add(permit: Permit): readonly Permit[] {
    const before = this.permits;
    this.permits = [...before.filter(({ holder }) => holder !== permit.holder), permit];
    return before;
  }

  remove(permits: readonly Permit[]): void {
    const holders = new Set(permits.map(({ holder }) => holder));
    this.permits = this.permits.filter(({ holder }) => !holders.has(holder));
  }

  recordAcceptance(host: string): void {
    this.agreed.add(host);
  }

  hasAccepted(host: string): boolean {
    return this.agreed.has(host);
  }
}

/**
 * The ports of stores in memory.
 * @param call makes a call of the given name, after the time that it takes.
 */
export function portsOf(
  jobs: MemoryJobs,
  permits: MemoryPermits,
  call: <Value>(name: string, run: () => Value) => Promise<Value>,
): Pick<WorkerPorts, "jobs" | "permits"> {
  return {
    jobs: {
      reservePlace: (job, limit) => call("reservePlace", () => jobs.reservePlace(job, limit)),
      store: (job, replaces) => call("store", () => jobs.store(job, replaces)),
      read: (id) => call("read", () => jobs.read(id)),
      promise: (job) => call("promise", () => jobs.promise(job)),
      withdraw: (job, replaces) => call("withdraw", () => jobs.withdraw(job, replaces)),
      freeEnded: (caller, now) => call("freeEnded", () => jobs.freeEnded(caller, now)),
      markQueued: (id, now) => call("markQueued", () => jobs.markQueued(id, now)),
      requestMessage: (id) => call("requestMessage", () => jobs.requestMessage(id)),
      markWaiting: (id, host, at) => call("markWaiting", () => jobs.markWaiting(id, host, at)),
      waitingFor: (host) => call("waitingFor", () => jobs.waitingFor(host)),
      acquireLease: (job, lease) => call("acquireLease", () => jobs.acquireLease(job, lease)),
      markPossiblyDelivered: (id, leaseId) =>
        call("markPossiblyDelivered", () => jobs.markPossiblyDelivered(id, leaseId)),
      scheduleRetry: (id, leaseId, retry) =>
        call("scheduleRetry", () => jobs.scheduleRetry(id, leaseId, retry)),
      finish: (job, leaseId, end) => call("finish", () => jobs.finish(job, leaseId, end)),
      endWithoutAttempt: (job, endId, end, now) =>
        call("endWithoutAttempt", () => jobs.endWithoutAttempt(job, endId, end, now)),
      cancel: (job) => call("cancel", () => jobs.cancel(job)),
      pending: () => call("pending", () => jobs.pending()),
    },
    permits: {
      read: () => call("readPermits", () => permits.read()),
      add: (permit) => call("addPermit", () => permits.add(permit)),
      remove: (list) => call("removePermits", () => permits.remove(list)),
      recordAcceptance: (host) => call("recordAcceptance", () => permits.recordAcceptance(host)),
      hasAccepted: (host) => call("hasAccepted", () => permits.hasAccepted(host)),
    },
  };
}
