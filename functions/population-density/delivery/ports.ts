import type { log } from "../../../shared/aws/log.ts";
import type { writeMetrics } from "../../../shared/aws/metrics.ts";
import type { Job, LastAttempt, Outcome } from "./job.ts";
import type { Permit } from "./permit-rules.ts";
import type { Sending, SendResult } from "./rules.ts";

/**
 * The interfaces of the delivery code to stores, queue, sinks and clock: real ones in a function, simulated ones in the
 * model test. Every call except the clock's may throw `Unavailable`; it is then unknown whether it had an effect.
 */
export interface Ports {
  readonly jobs: JobStore;
  readonly permits: PermitStore;
  readonly queues: Queues;
  readonly sinks: Sinks;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** A new unique id. */
  readonly newId: () => string;
  readonly log: typeof log;
  readonly writeMetrics: typeof writeMetrics;
  /** Seconds before each further attempt. */
  readonly schedule: readonly number[];
  /** Maximum of concurrent workers. */
  readonly workers: number;
}

/** The ports of a worker, which never sends to the queue that it consumes. */
export type WorkerPorts = Omit<Ports, "queues">;

/** The time, pauses, and deadlines. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * A signal that aborts after some time.
   * @param since the start of that time, in epoch milliseconds; by default now.
   */
  readonly deadline: (milliseconds: number, since?: number) => AbortSignal;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/**
 * The store of jobs and of their callers' places. All writes are conditional; `false` means that nothing was written.
 */
export interface JobStore {
  /** Reserves one of its caller's places for a job that is about to be stored. `false` if none is left. */
  reservePlace(job: Job, pendingLimit: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Stores a job for which a place is reserved. `false` if there is already a job with this id.
   * @param replaces a withdrawn job with the same id, as it was read.
   */
  store(job: Job, replaces: Job | undefined, signal: AbortSignal): Promise<boolean>;
  read(operationId: string, signal: AbortSignal): Promise<Job | undefined>;
  /** Promises a job to a further request, so that it can no longer be withdrawn. `false` if it has been withdrawn. */
  promise(job: Job, signal: AbortSignal): Promise<boolean>;
  /**
   * Withdraws the job that a request has stored or may still store, then releases its place as `finish` does. `false`
   * if the job was promised to another request, an attempt has begun, or another request stored it.
   * @param replaces a withdrawn job with the same id, as it was read.
   */
  withdraw(job: Job, replaces: Job | undefined, signal: AbortSignal): Promise<boolean>;
  /**
   * Releases those of a caller's places that no longer belong to a pending job (`isPlaceFree`).
   * @returns their number; another request may have released them at the same time.
   */
  freeEnded(caller: string, now: number, signal: AbortSignal): Promise<number>;
  /** Records that a job has a message. @param sentAt not later than SQS received it, as far as clocks agree. */
  markQueued(operationId: string, sentAt: number, signal: AbortSignal): Promise<boolean>;
  /** Records that a pending job needs another message, which the next sweep sends. */
  requestMessage(operationId: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Records that a pending job is waiting for a permit for a host.
   * @param heldBackAt is recorded if given.
   */
  markWaiting(
    operationId: string,
    host: string,
    heldBackAt: number | undefined,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** The jobs that wait for a permit for a host, the oldest requests first; the most recent writes may be missing. */
  waitingFor(host: string, signal: AbortSignal): Promise<readonly WaitingEntry[]>;
  /**
   * Acquires the lease for an attempt: counts the attempt, records what it sends, and excludes other workers until
   * `lease.until`.
   * @param job as it was read; `false` if it has changed since.
   */
  acquireLease(job: Job, lease: Lease, signal: AbortSignal): Promise<boolean>;
  /** Records that the sink may hold the answer from now on. `false` if the lease was lost. */
  markPossiblyDelivered(operationId: string, leaseId: string, signal: AbortSignal): Promise<boolean>;
  /** Ends an attempt that will be followed by another. `false` if the lease was lost. */
  scheduleRetry(
    operationId: string,
    leaseId: string,
    retry: Sending & {
      readonly possiblyDelivered: boolean;
      readonly notBefore: number;
      readonly lastAttempt: LastAttempt;
    },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Ends a job after an attempt, then releases its place; if that fails, `freeEnded` will. `false` if the lease was lost. */
  finish(
    job: Pick<Job, "operationId" | "caller">,
    leaseId: string,
    end: JobEnd & { readonly lastAttempt: LastAttempt },
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * Ends a job with nothing sent, then releases its place as `finish` does.
   * @param job as it was read; `false` if it has changed since, or an attempt is under way.
   * @param endId unique for this end: an attempt that was under way until now has lost its lease.
   */
  endWithoutAttempt(job: Job, endId: string, end: JobEnd, now: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Cancels a pending job for its caller, even while it is leased, then releases its place as `finish` does.
   * @returns `false` if it has ended or does not exist.
   */
  cancel(job: Pick<Job, "operationId" | "caller">, signal: AbortSignal): Promise<boolean>;
  /** The pending jobs, the oldest first; the most recent writes may be missing. */
  pending(signal: AbortSignal): Promise<readonly PendingEntry[]>;
}

/** How a job ends. */
export interface JobEnd {
  readonly outcome: Outcome;
  /** For operators. */
  readonly reason: string;
}

/** The right to make an attempt. */
export interface Lease extends Sending {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly until: number;
}

/** An entry of the index of pending jobs. */
export type PendingEntry = Pick<Job, "operationId" | "queuedAt" | "startedAt"> & {
  readonly pendingSince: string;
};

/** An entry of the index of jobs that wait for permits. */
export type WaitingEntry = Pick<Job, "operationId" | "caller" | "mode" | "attempts">;

/** The store of permits. No call conflicts with another. */
export interface PermitStore {
  /** The permits in use or expired. */
  read(signal: AbortSignal): Promise<readonly Permit[]>;
  /** Adds a permit. @returns those that were there just before, in use or expired. */
  add(permit: Permit, signal: AbortSignal): Promise<readonly Permit[]>;
  /** Removes those of some permits that are there. */
  remove(permits: readonly Permit[], signal: AbortSignal): Promise<void>;
  /** Records that a host has answered with 2xx; kept for some months. */
  recordAcceptance(host: string, signal: AbortSignal): Promise<void>;
  hasAccepted(host: string, signal: AbortSignal): Promise<boolean>;
}

/** The queues of jobs. */
export interface Queues {
  /** Sends the message of a job to the workers. */
  send(operationId: string, signal: AbortSignal): Promise<void>;
}

/** Sends to sinks. */
export interface Sinks {
  /**
   * Computes the answer, or creates the failure, and sends it.
   * @param beforeLastChunk is awaited before the last chunk is sent; if it throws, the last chunk is never sent.
   * @throws {Unavailable} or another error if the answer cannot be computed; all errors of `beforeLastChunk`.
   */
  post(
    job: Job & { readonly sink: string },
    beforeLastChunk: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<SendResult>;
  /** Hash of a sink's host and port. */
  hostOf(sink: string): string;
}
