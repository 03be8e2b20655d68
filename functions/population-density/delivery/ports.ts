import type { log } from "../../../shared/aws/log.ts";
import type { writeMetrics } from "../../../shared/aws/metrics.ts";
import type { Job, LastAttempt, Outcome } from "./job.ts";
import type { Permit } from "./permit-rules.ts";
import type { SendResult } from "./rules.ts";

/**
 * Everything that the delivery code reaches: stores, queue, sinks and clock; real ones in a function, others in the
 * model test. Every call except the clock's may throw `Unavailable`; whether it had an effect is then not known.
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
  /** Workers that can send at a time. */
  readonly workers: number;
}

/** The ports of a worker, which never sends to the queue that it consumes. */
export type WorkerPorts = Omit<Ports, "queues">;

/** The time, pauses, and signals that abort after some of it. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** @param since when the time began, in epoch milliseconds; now unless it is given. */
  readonly deadline: (milliseconds: number, since?: number) => AbortSignal;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/**
 * The store of jobs and of their callers' places. All writes are conditional; `false` means that nothing was written.
 */
export interface JobStore {
  /** Reserves one of its caller's places for a job that is to be stored. `false` when none is left. */
  reserve(job: Job, pendingLimit: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Stores a job for which a place is reserved. `false` when there is a job under this id.
   * @param replaces a withdrawn job under the same id, as it was read.
   */
  store(job: Job, replaces: Job | undefined, signal: AbortSignal): Promise<boolean>;
  read(operationId: string, signal: AbortSignal): Promise<Job | undefined>;
  /** Promises a job to a further request, so that it cannot be withdrawn any more. `false` when it was withdrawn. */
  promise(job: Job, signal: AbortSignal): Promise<boolean>;
  /**
   * Withdraws the job that a request stored, or may still store, then releases its place as `finish` does. `false` when
   * the job was promised to another request, an attempt has begun, or another request stored it.
   * @param replaces a withdrawn job under the same id, as it was read.
   */
  withdraw(job: Job, replaces: Job | undefined, signal: AbortSignal): Promise<boolean>;
  /**
   * Releases the places of a caller that no pending job has any more (`isPlaceFree`).
   * @returns their number; another request may have released them at the same moment.
   */
  releaseEnded(caller: string, now: number, signal: AbortSignal): Promise<number>;
  /** Notes that a job has a message. @param sentAt not after SQS got it, as far as clocks agree. */
  markQueued(operationId: string, sentAt: number, signal: AbortSignal): Promise<boolean>;
  /** Notes that a pending job needs another message: the next sweep sends it. */
  requestMessage(operationId: string, signal: AbortSignal): Promise<boolean>;
  /** Notes that a pending job waits for a permit of a host. */
  markWaiting(operationId: string, host: string, signal: AbortSignal): Promise<boolean>;
  /** The jobs that wait for permits of a host, the oldest requests first; what was written a moment ago may be missing. */
  waitingFor(host: string, signal: AbortSignal): Promise<readonly WaitingEntry[]>;
  /**
   * Begins an attempt: counts it, records what it sends, and excludes other workers until `lease.until`.
   * @param job as it was read; `false` when it has changed since.
   */
  lease(job: Job, lease: Lease, signal: AbortSignal): Promise<boolean>;
  /** Notes that the sink may hold the answer from now on. `false` when the lease was lost. */
  markPossiblyDelivered(operationId: string, leaseId: string, signal: AbortSignal): Promise<boolean>;
  /** Ends an attempt after which there will be another. `false` when the lease was lost. */
  scheduleRetry(
    operationId: string,
    leaseId: string,
    retry: Pick<Job, "mode" | "possiblyDelivered"> & {
      readonly notBefore: number;
      readonly lastAttempt: LastAttempt;
    },
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * Ends a job, then releases its place; if that fails, `releaseEnded` does it. `false` when the lease was lost.
   * @param end with the attempt that it ends after, unless it ends without one.
   */
  finish(
    job: Pick<Job, "operationId" | "caller">,
    leaseId: string,
    end: {
      readonly outcome: Outcome;
      readonly reason: string;
      readonly lastAttempt?: LastAttempt | undefined;
    },
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * Ends a pending job for its caller, whoever has its lease, then releases its place as `finish` does.
   * @returns `false` when it has ended, or does not exist.
   */
  cancel(job: Pick<Job, "operationId" | "caller">, signal: AbortSignal): Promise<boolean>;
  /** The jobs that are pending, the oldest first; what was written a moment ago may be missing. */
  pending(signal: AbortSignal): Promise<readonly PendingEntry[]>;
}

/** The right to make an attempt. */
export interface Lease {
  readonly id: string;
  readonly mode: Job["mode"];
  /** Epoch milliseconds. */
  readonly now: number;
  readonly until: number;
  /** Whether an attempt begins; otherwise the job only ends. */
  readonly isAttempt: boolean;
}

/** An entry of the index of pending jobs. */
export type PendingEntry = Pick<Job, "operationId" | "queuedAt" | "startedAt"> & {
  readonly pendingSince: string;
};

/** An entry of the index of jobs that wait for permits. */
export type WaitingEntry = Pick<Job, "operationId" | "caller" | "mode" | "attempts">;

/** The permits in use or expired, as they were read. */
export interface StoredPermits {
  readonly permits: readonly Permit[];
  /** Holders of permits that were released, and are not among the permits any more. */
  readonly released: ReadonlySet<string>;
  readonly version: number;
}

/** The store of permits. */
export interface PermitStore {
  read(signal: AbortSignal): Promise<StoredPermits>;
  /** Replaces the permits that were read, unless somebody else did so since. */
  replace(read: StoredPermits, permits: readonly Permit[], signal: AbortSignal): Promise<boolean>;
  /** Releases the permit of a holder, if it has one. Nothing conflicts with that. */
  release(holder: string, signal: AbortSignal): Promise<void>;
  /** Notes that a host answered with 2xx, for some months. */
  recordAcceptance(host: string, signal: AbortSignal): Promise<void>;
  hasAccepted(host: string, signal: AbortSignal): Promise<boolean>;
}

/** The queues of jobs. */
export interface Queues {
  /** Gives a job to the workers. */
  send(operationId: string, signal: AbortSignal): Promise<void>;
}

/** Sending to sinks. */
export interface Sinks {
  /**
   * Computes the answer, or makes the failure, and sends it.
   * @param beforeLastChunk awaited before the last chunk is sent; if it throws, the last chunk is never sent.
   * @throws {Unavailable} and other errors, when the answer cannot be computed; and what `beforeLastChunk` throws.
   */
  post(
    job: Job & { readonly sink: string },
    beforeLastChunk: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<SendResult>;
  /** Hash of a sink's host and port. */
  hostOf(sink: string): string;
}
