import type { Acceptance } from "../../../../functions/population-density/delivery/accept.ts";
import {
  deadlineOf,
  failureReasonOf,
  type Job,
} from "../../../../functions/population-density/delivery/job.ts";
import {
  limitReached,
  type Permit,
  uploadsPerCallerAndHost,
  uploadsPerHost,
} from "../../../../functions/population-density/delivery/permit-rules.ts";
import { nextAttempt } from "../../../../functions/population-density/delivery/rules.ts";
import type { MemoryJobs, MemoryPermits } from "./memory-stores.ts";
import { hour, minute, type Plan } from "./plan.ts";
import { type Actor, maxSkewMilliseconds } from "./processes.ts";

/** What a run is checked against: its stores, and how far it has come. */
interface Watched {
  readonly jobs: MemoryJobs;
  readonly permits: MemoryPermits;
  readonly now: () => number;
  /** After a fault, less is guaranteed. */
  readonly wasFaulty: () => boolean;
  /** Calls that happened after their callers had given them up. */
  readonly lateCalls: () => number;
  /** Whether a job has a message whose last worker has not broken off. */
  readonly isKept: (operationId: string) => boolean;
  /** Processes that run; a worker is free when they are fewer than the workers. */
  readonly running: () => number;
  readonly schedule: readonly number[];
  readonly workers: number;
}

/** How long a permit may be free while a job that may have it is due: in its first hour of waiting, and later. */
const [maxFreeMilliseconds, maxLateFreeMilliseconds] = [20_000, 120_000];

/**
 * How long a permit may be in use after the worker that holds it has ended: the time for which permits are valid
 * (docs/deliveries.md), by clocks that differ.
 */
const maxAbandonedMilliseconds = 330_000 + 2 * maxSkewMilliseconds;

/** What the calls of an ask take in a run, and what the clocks of two workers differ by. */
const askMilliseconds = 5_000 + 2 * maxSkewMilliseconds;

/** An upload under way. */
interface Uploading {
  readonly operationId: string;
  readonly host: string;
  readonly caller: string;
  readonly mode: Job["mode"];
  /** Whether its last chunk was sent. */
  isSent: boolean;
}

/** What deliveries guarantee, and what of it a run has broken. */
export class Guarantees {
  readonly broken = new Set<string>();
  readonly #watched: Watched;
  /** Since when a job that is due may have a permit, in epoch milliseconds. */
  readonly #mayGoSince = new Map<string, number>();
  /** The holders in whose names a process has asked for permits. */
  readonly #holders = new Map<Actor, Set<string>>();
  /** When the workers ended that have left permits, by holder. */
  readonly #abandonedSince = new Map<string, number>();
  readonly #uploads = new Map<Actor, Uploading>();
  /** Operations with an attempt whose worker ended, as its time was over, before the sink had the last chunk. */
  readonly #cutOff = new Set<string>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** At the first step of an attempt. */
  attemptBegins(plan: Plan): void {
    // A worker that ends before it has recorded what a sink asks for takes it with it.
    const isEarly = this.#watched.now() < plan.notBefore - 2 * maxSkewMilliseconds;
    if (isEarly && !this.#watched.wasFaulty()) this.broken.add("called before it was asked to");
  }

  uploadBegins(actor: Actor, job: Job & { readonly sink: string }): void {
    const { accessTokenExpiresAt = Number.POSITIVE_INFINITY } = job;
    if (accessTokenExpiresAt + maxSkewMilliseconds < this.#watched.now() - minute)
      this.broken.add("called with an old token");
    const { operationId, sink: host, caller, mode } = job;
    const isBesideAnother = [...this.#uploads.values()].some(
      (other) => other.operationId === operationId && !other.isSent,
    );
    if (isBesideAnother) this.broken.add("two attempts of a job may send their last chunk");
    this.#uploads.set(actor, { operationId, host, caller, mode, isSent: false });
    const answers = [...this.#uploads.values()].filter(({ mode }) => mode === "answer");
    const toHost = answers.filter(({ host }) => host === job.sink);
    const ofCaller = toHost.filter(({ caller }) => caller === job.caller);
    if (toHost.length > uploadsPerHost) this.broken.add("too many uploads to a host");
    if (ofCaller.length > uploadsPerCallerAndHost) this.broken.add("too many uploads of a caller to a host");
  }

  permitIsAsked(actor: Actor, { holder }: Permit): void {
    const holders = this.#holders.get(actor) ?? new Set();
    this.#holders.set(actor, holders.add(holder));
  }

  uploadEnds(actor: Actor): void {
    this.#uploads.delete(actor);
  }

  /** A worker that is killed leaves its permit to its end, and so does one whose permit is added after it gave up. */
  processEnds(actor: Actor): void {
    const upload = this.#uploads.get(actor);
    if (upload !== undefined && !upload.isSent) this.#cutOff.add(upload.operationId);
    this.uploadEnds(actor);
    const { permits, lateCalls } = this.#watched;
    const holders = this.#holders.get(actor) ?? new Set();
    this.#holders.delete(actor);
    for (const holder of holders) this.#abandonedSince.set(holder, this.#watched.now());
    if (actor.isDead || lateCalls() > 0) return;
    if (permits.read().some(({ holder }) => holders.has(holder)))
      this.broken.add("a worker has ended, and its permit is not released");
  }

  /** When a sink has got the whole body of an attempt. */
  sinkTakes(actor: Actor, plan: Plan, job: Job, keeps: boolean): void {
    const upload = this.#uploads.get(actor);
    if (upload !== undefined) upload.isSent = true;
    if (this.#watched.now() > deadlineOf(job) + maxSkewMilliseconds) this.broken.add("sent too late");
    if (!keeps) return;
    if (plan.cancelled?.possiblyDelivered === false) this.broken.add("delivered after it was cancelled");
    plan.kept.add(job.mode);
    if (plan.kept.size > 1) this.broken.add("two kinds of outcome at a sink");
    if (isRefusedForCertain(plan)) this.broken.add("delivered what was refused with 503");
  }

  checkAlways(): void {
    this.#checkPlaces();
    this.#checkFreePermits();
    this.#checkAbandonedPermits();
  }

  #checkPlaces(): void {
    const { jobs, lateCalls } = this.#watched;
    // A request whose reservation and release are both late may release the place of one that repeated it meanwhile.
    if (lateCalls() > 1) return;
    for (const { operationId, caller, state } of jobs.jobs.values()) {
      if (state === "pending" && !jobs.placesOf(caller).has(operationId))
        this.broken.add("a pending job without a place");
    }
  }

  /** A job that is due and may have a permit all the time gets it, regardless of others. */
  #checkFreePermits(): void {
    const { jobs, permits, isKept, running, workers, schedule } = this.#watched;
    const now = this.#watched.now();
    const inUse = permits.read();
    for (const job of jobs.jobs.values()) {
      const { operationId, caller, sink, notBefore, requestedAt } = job;
      const due = notBefore ?? requestedAt;
      const next =
        job.state === "pending" &&
        sink !== undefined &&
        due <= now &&
        isKept(operationId) &&
        running() < workers
          ? nextAttempt({ ...job, sink }, { now, schedule })
          : undefined;
      const mayGo =
        next !== undefined &&
        sink !== undefined &&
        "mode" in next &&
        mayBeSent({ host: sink, caller, mode: next.mode }, inUse, workers, now);
      if (!mayGo) this.#mayGoSince.delete(operationId);
      else if (!this.#mayGoSince.has(operationId)) this.#mayGoSince.set(operationId, now);
      const max = now - due < hour - minute ? maxFreeMilliseconds : maxLateFreeMilliseconds;
      if (now - (this.#mayGoSince.get(operationId) ?? now) > max + askMilliseconds)
        this.broken.add("a permit is free while a job waits for it");
    }
  }

  /** A permit whose worker has ended is soon free. */
  #checkAbandonedPermits(): void {
    const now = this.#watched.now();
    for (const { holder, until } of this.#watched.permits.read()) {
      const since = this.#abandonedSince.get(holder) ?? now;
      if (until > now && now - since > maxAbandonedMilliseconds)
        this.broken.add("a permit is in use long after its worker has ended");
    }
  }

  checkAtEnd(plans: readonly Plan[]): void {
    for (const plan of plans) this.#checkOperation(plan);
    const { jobs, now } = this.#watched;
    for (const [caller, places] of jobs.places) {
      jobs.freeEnded(caller, now() + hour);
      if (places.size > 0) this.broken.add("a place is leaked");
    }
    this.#checkPermits();
  }

  #checkOperation(plan: Plan): void {
    const { operationId, answers, kept } = plan;
    const job = this.#watched.jobs.read(operationId);
    if (job?.state === "pending") this.broken.add("a job without an outcome");
    if (plan.cancelled !== undefined && job?.state !== "cancelled")
      this.broken.add("a cancelled job has another outcome");
    if (plan.cancelled?.possiblyDelivered === false && kept.size > 0)
      this.broken.add("delivered, but cancelled as not delivered");
    const isPromised = answers.some(isPromise);
    if (isPromised && (job === undefined || job.state === "withdrawn"))
      this.broken.add("a promised job is lost");
    if (job?.state === "delivered" && !kept.has("answer")) this.broken.add("delivered, but not to its sink");
    if (isRefusedForCertain(plan) && kept.size > 0) this.broken.add("delivered what was refused with 503");
    if (job?.state === "failed" && failureReasonOf(job) === undefined)
      this.broken.add(`a job failed without a reason for its caller: ${job.reason}`);
    // A worker that ends just before the last chunk leaves nobody who may say that there is no answer.
    const hasEndedWorker = this.#watched.wasFaulty() || this.#cutOff.has(operationId);
    const isUncertain = hasEndedWorker && job?.reason === "possibly delivered";
    const isCancelled = job?.state === "cancelled";
    if (isPromised && kept.size === 0 && isDeserved(plan) && !isUncertain && !isCancelled) {
      this.broken.add(`nothing was sent to a sink that accepts everything: ${job?.reason}`);
    }
  }

  #checkPermits(): void {
    const { workers, now: time } = this.#watched;
    const permits = this.#watched.permits.read();
    const now = time() + hour;
    const left = permits.filter(({ until }) => until > now);
    if (left.length > 0) this.broken.add("a permit is leaked");
    const request = { host: "host-a", caller: "caller-a", mode: "answer" } as const;
    if (limitReached(permits, request, workers, now) !== undefined) {
      this.broken.add("a permit is never free again");
    }
  }
}

/** What says that an operation's answer will be delivered. */
export function isPromise(answer: Acceptance | undefined): boolean {
  return answer === "accepted" || answer === "joined";
}

/** Whether every request for an operation was answered that nothing will be delivered. */
function isRefusedForCertain({ answers }: Plan): boolean {
  const isRefusal = (answer: Acceptance | undefined) =>
    answer === "withdrawn" || answer === "full" || answer === "conflict";
  return answers.length > 0 && answers.every(isRefusal);
}

/** Whether an operation's sink must have got something: it takes everything, and its token does not end. */
function isDeserved({ behaviours, accessTokenExpiresAt }: Plan): boolean {
  return (
    behaviours.every(({ keeps, sent }) => keeps && sent.outcome === "delivered") &&
    accessTokenExpiresAt === undefined
  );
}

/** Whether docs/deliveries.md lets an upload begin beside others: counted anew, so that a wrong rule is noticed. */
function mayBeSent(
  { host, caller, mode }: Pick<Permit, "host" | "caller" | "mode">,
  permits: readonly Permit[],
  workers: number,
  now: number,
): boolean {
  const inUse = permits.filter(({ until }) => until > now);
  const isOwn = (permit: Permit) => caller.startsWith(permit.caller);
  const isToHost = (permit: Permit) => permit.mode === mode && host.startsWith(permit.host);
  const [toHost, own, ownAlike] = [
    inUse.filter(isToHost).length,
    inUse.filter(isOwn).length,
    inUse.filter((permit) => isOwn(permit) && (mode === "failure" ? permit.mode === mode : isToHost(permit)))
      .length,
  ];
  const mayHaveAnother = own === 0 || inUse.length < Math.floor(workers / 2);
  return mayHaveAnother && (mode === "failure" ? toHost < 2 && ownAlike < 2 : toHost < 4 && ownAlike < 3);
}
