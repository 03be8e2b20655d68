import { setImmediate as nextTurn } from "node:timers/promises";
import { type Acceptance, acceptJob } from "../../functions/population-density/delivery/accept.ts";
import { cancelJob } from "../../functions/population-density/delivery/cancel.ts";
import {
  answerTime,
  deadlineOf,
  type Job,
  retentionSeconds,
} from "../../functions/population-density/delivery/job.ts";
import { workOn } from "../../functions/population-density/delivery/lease.ts";
import {
  limitReached,
  uploadsPerCallerAndHost,
  uploadsPerHost,
} from "../../functions/population-density/delivery/permit-rules.ts";
import type { Ports } from "../../functions/population-density/delivery/ports.ts";
import type { Sent } from "../../functions/population-density/delivery/rules.ts";
import { sweep } from "../../functions/population-density/delivery/sweep-jobs.ts";
import { Unavailable } from "../../shared/errors.ts";
import { MemoryJobs, MemoryPermits } from "./memory-stores.ts";

/** What a run of the model found, and how much happened in it. */
export interface Run {
  readonly seed: number;
  /** Guarantees that were broken; none is what is wanted. */
  readonly broken: readonly string[];
  readonly calls: number;
  readonly kills: number;
  readonly lostAnswers: number;
  /** Calls that happened after their callers had given them up. */
  readonly lateCalls: number;
  readonly outcomes: readonly string[];
  /** Operations that delivered the answer of another again, or tried to. */
  readonly redelivered: number;
}

const minute = 60_000;
const hour = 60 * minute;
const workers = 10;
const visibilityMilliseconds = 6 * minute;
const functionMilliseconds = 5 * minute;
const maxSkewMilliseconds = 3_000;
const schedule = [2, 10, 60, 300, 900, 3_600, 10_800, 21_600];
const start = Date.UTC(2026, 10, 20, 12);

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A process that runs the delivery code: a request, a worker, a sweep. Its clock is wrong by `skew`. */
interface Actor {
  readonly skew: number;
  readonly endsAt: number;
  isDead: boolean;
}

/** A call of an actor's that has not happened yet. */
interface Call {
  readonly actor: Actor;
  readonly name: string;
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Not before. */
  readonly at: number;
}

interface Message {
  readonly operationId: string;
  visibleAt: number;
  receives: number;
  handle: string;
  isDeleted: boolean;
}

/** What a sink does with an attempt, and what it makes of the body that it got whole. */
interface Behaviour {
  readonly sent: Omit<Sent, "bytes">;
  readonly keeps: boolean;
}

const behaviours: readonly Behaviour[] = [
  { sent: { outcome: "delivered", status: 204, sentWhole: true }, keeps: true },
  { sent: { outcome: "failed", status: 500, sentWhole: false }, keeps: false },
  { sent: { outcome: "failed", status: 502, sentWhole: true }, keeps: true },
  { sent: { outcome: "failed", status: 503, sentWhole: true }, keeps: false },
  { sent: { outcome: "failed", status: 408, sentWhole: true }, keeps: false },
  { sent: { outcome: "failed", status: 429, sentWhole: true, retryAfterSeconds: 700 }, keeps: false },
  { sent: { outcome: "failed", status: 503, sentWhole: false, retryAfterSeconds: 3_600 }, keeps: false },
  { sent: { outcome: "refused", status: 410, sentWhole: true }, keeps: false },
  { sent: { outcome: "refused", status: 413, sentWhole: false }, keeps: false },
  { sent: { outcome: "refused", status: 404, sentWhole: true }, keeps: true },
  { sent: { outcome: "failed", cause: "ECONNRESET", sentWhole: false }, keeps: false },
  { sent: { outcome: "failed", cause: "ECONNRESET", sentWhole: true }, keeps: true },
  { sent: { outcome: "failed", cause: "STALLED", sentWhole: true }, keeps: false },
];

/** What is planned of an operation: how its sink behaves, and who asks for it. */
interface Plan {
  readonly operationId: string;
  readonly caller: string;
  readonly host: string;
  /** The operation whose answer it delivers again, if it does. */
  readonly redelivered: Plan | undefined;
  /** By attempt; the last one goes on for ever. */
  readonly behaviours: readonly Behaviour[];
  /** Attempts whose computation fails: in a way that passes, for good, or with the end of the process. */
  readonly computing: readonly ("well" | "unavailable" | "broken" | "deadly")[];
  readonly bytes: number;
  readonly accessTokenExpiresAt: number | undefined;
  /** What each request for it was answered; one that never was is `undefined`. */
  readonly answers: (Acceptance | undefined)[];
  readonly requestedAt: number[];
  attempts: number;
  /** How its caller was answered that it is cancelled. */
  cancelled: Pick<Job, "possiblyDelivered"> | undefined;
  /** What its sink has come to hold. */
  readonly kept: Set<Job["mode"]>;
  notBefore: number;
}

/**
 * Runs the code of deliveries on stores, a queue, sinks and a clock of the model's own: calls of all processes in a
 * random order, any of them killed before or after a call, calls refused, answers lost, calls made late, messages
 * doubled and late, clocks that differ. Everything follows from the seed.
 */
export async function runModel(seed: number): Promise<Run> {
  return await new Model(seed).run();
}

class Model {
  readonly #seed: number;
  readonly #random: () => number;
  readonly #jobs = new MemoryJobs();
  readonly #permits = new MemoryPermits();
  readonly #messages: Message[] = [];
  readonly #plans: Plan[];
  readonly #broken = new Set<string>();
  readonly #faultsEnd: number;
  readonly #uploads = new Map<
    Actor,
    { readonly host: string; readonly caller: string; readonly mode: Job["mode"] }
  >();
  /** Requests that are still to come, and the next sweep. */
  readonly #coming: { readonly at: number; readonly begin: () => void }[] = [];
  #calls: Call[] = [];
  #actors = new Set<Actor>();
  #time = start;
  #faultsLeft: number;
  #wasFaulty = false;
  #lastId = 0;
  #callCount = 0;
  #kills = 0;
  #lostAnswers = 0;
  #lateCalls = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = seeded(seed);
    this.#faultsLeft = this.#pick([0, 1, 3, 6, 12]);
    this.#faultsEnd = start + this.#pick([10_000, minute, 2 * hour, 25 * hour]);
    const plans = Array.from({ length: this.#pick([1, 2, 6, 14]) }, (_, index) =>
      this.#plan(`operation-${index}`),
    );
    const again = plans
      .filter(() => this.#chance(0.2))
      .map((plan) => this.#plan(`${plan.operationId}-again`, plan));
    this.#plans = [...plans, ...again];
  }

  async run(): Promise<Run> {
    for (const plan of this.#plans) this.#planRequests(plan);
    this.#planSweep();
    const end = start + 26 * hour;
    while (this.#time < end && (await this.#advance())) this.#checkAlways();
    this.#checkAtEnd();
    return {
      seed: this.#seed,
      broken: [...this.#broken],
      calls: this.#callCount,
      kills: this.#kills,
      lostAnswers: this.#lostAnswers,
      lateCalls: this.#lateCalls,
      redelivered: this.#plans.filter(
        ({ redelivered, answers }) => redelivered !== undefined && answers.includes("accepted"),
      ).length,
      outcomes: this.#plans.map(({ operationId }) => this.#jobs.read(operationId)?.state ?? "never stored"),
    };
  }

  #pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[Math.floor(this.#random() * choices.length)] as Choice;
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #plan(operationId: string, redelivered?: Plan): Plan {
    const last = this.#pick([
      behaviours[0],
      behaviours[0],
      behaviours[0],
      this.#pick(behaviours),
    ]) as Behaviour;
    const before = Array.from({ length: this.#pick([0, 0, 1, 3, 9]) }, () => this.#pick(behaviours));
    const computing = Array.from({ length: this.#pick([0, 0, 0, 2, 12]) }, () =>
      this.#pick(["well", "unavailable", "broken", "deadly", "deadly"] as const),
    );
    return {
      operationId,
      caller: redelivered?.caller ?? this.#pick(["caller-a", "caller-b"]),
      host: this.#pick(["host-a", "host-a", "host-b"]),
      redelivered,
      behaviours: [...before, last],
      computing,
      bytes: this.#pick([1_000, 1_000, 5_000_000]),
      accessTokenExpiresAt: this.#chance(0.1) ? start + this.#pick([minute, hour]) : undefined,
      answers: [],
      requestedAt: [],
      attempts: 0,
      cancelled: undefined,
      kept: new Set(),
      notBefore: 0,
    };
  }

  /** A request, and with some luck another or two with the same idempotency key, and one to cancel it. */
  #planRequests(plan: Plan): void {
    const at = start + this.#pick(plan.redelivered ? [1_000, minute, 2 * hour] : [0, 0, 1_000, 30_000]);
    if (this.#chance(0.2)) {
      const inMilliseconds = this.#pick([5, 100, 3_000, 62_000, 2 * minute, hour]);
      this.#coming.push({ at: at + inMilliseconds, begin: () => this.#cancel(plan) });
    }
    const count = this.#pick([1, 1, 2, 3]);
    for (let index = 0; index < count; index++) {
      this.#coming.push({
        at: at + index * this.#pick([0, 5, 4_000, hour]),
        begin: () => this.#request(plan),
      });
    }
  }

  #planSweep(): void {
    this.#coming.push({
      at: this.#time + minute,
      begin: () => {
        if (this.#coming.length > 0 || this.#isAnythingPending()) this.#planSweep();
        // What a sweep would find nothing to do in is left out most of the time: there are 1,440 in a day.
        const oldest = this.#jobs.pending()[0];
        const isNeeded =
          this.#jobs.pending().some(({ queuedAt }) => queuedAt === undefined) ||
          (oldest !== undefined && Date.parse(oldest.pendingSince) + 24 * hour <= this.#time);
        if (isNeeded || this.#chance(0.01)) this.#sweep();
      },
    });
  }

  #isAnythingPending(): boolean {
    return this.#jobs.pending().length > 0;
  }

  /** Lets the next thing happen. Returns whether anything is left to happen. */
  async #advance(): Promise<boolean> {
    await nextTurn();
    this.#end();
    for (const [index, coming] of [...this.#coming.entries()].reverse()) {
      if (coming.at > this.#time) continue;
      this.#coming.splice(index, 1);
      coming.begin();
    }
    this.#receive();
    const due = this.#calls.filter(({ at }) => at <= this.#time);
    const call = due.length === 0 ? undefined : this.#pick(due);
    if (call !== undefined) {
      this.#make(call);
      this.#time += this.#pick([0, 1, 5, 20, 20]);
      return true;
    }
    await nextTurn();
    if (this.#calls.some(({ at }) => at <= this.#time)) return true;
    const next = Math.min(
      ...this.#calls.map(({ at }) => at),
      ...this.#coming.map(({ at }) => at),
      ...this.#messages.filter(({ isDeleted }) => !isDeleted).map(({ visibleAt }) => visibleAt),
    );
    if (next === Number.POSITIVE_INFINITY) return false;
    this.#time = Math.max(this.#time + 1, next);
    return true;
  }

  /** Ends processes whose time is over. */
  #end(): void {
    for (const actor of this.#actors) if (actor.endsAt <= this.#time) this.#kill(actor);
  }

  #kill(actor: Actor): void {
    actor.isDead = true;
    this.#actors.delete(actor);
    this.#uploads.delete(actor);
    this.#calls = this.#calls.filter((call) => call.actor !== actor);
  }

  #isFaulty(probability: number): boolean {
    if (this.#faultsLeft <= 0 || this.#time > this.#faultsEnd || !this.#chance(probability)) return false;
    this.#faultsLeft--;
    this.#wasFaulty = true;
    return true;
  }

  /** Makes one call of an actor, or does to it what can happen to a call. */
  #make(call: Call): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
    this.#callCount++;
    const { actor, run, resolve, reject, name } = call;
    if (this.#isFaulty(0.04)) {
      this.#kills++;
      this.#kill(actor);
      return;
    }
    const isStore = name !== "post" && name !== "take";
    if (isStore && this.#isFaulty(0.04)) {
      reject(new Unavailable("model", "refused"));
      return;
    }
    if (isStore && this.#isFaulty(0.04)) {
      // On its way for longer than its caller waits: it happens all the same.
      this.#lateCalls++;
      this.#coming.push({ at: this.#time + this.#pick([1, 100, 3_000, 10_000]), begin: run });
      reject(new Unavailable("model", "no answer yet"));
      return;
    }
    const value = run();
    // A worker that ends when its sink has everything is what makes an outcome uncertain.
    if (this.#isFaulty(name === "take" ? 0.3 : 0.04)) {
      this.#kills++;
      this.#kill(actor);
      return;
    }
    if (isStore && this.#isFaulty(0.06)) {
      this.#lostAnswers++;
      reject(new Unavailable("model", "answer lost"));
      return;
    }
    resolve(value);
  }

  /** Puts a call of an actor among those to be made; a dead one's is never made. */
  #call<Value>(actor: Actor, name: string, run: () => Value, at = this.#time): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      if (actor.isDead) return;
      this.#calls.push({ actor, name, run, resolve: resolve as Call["resolve"], reject, at });
    });
  }

  #actor(milliseconds: number): Actor {
    const skew = Math.round((2 * this.#random() - 1) * maxSkewMilliseconds);
    const actor = { skew, endsAt: this.#time + milliseconds, isDead: false };
    this.#actors.add(actor);
    return actor;
  }

  /** Runs something to its end, unless the actor is killed before. */
  #run(actor: Actor, work: () => Promise<void>): void {
    const end = () => {
      this.#actors.delete(actor);
      this.#uploads.delete(actor);
    };
    work().then(
      () => end(),
      (error: unknown) => {
        end();
        if (!(error instanceof Unavailable)) this.#broken.add(`thrown: ${String(error)}`);
      },
    );
  }

  #cancel(plan: Plan): void {
    const actor = this.#actor(29_000);
    const { signal } = new AbortController();
    this.#run(actor, async () => {
      const ports = this.#ports(actor);
      const found = await ports.jobs.read(plan.operationId, signal);
      const job = found && (await cancelJob(found, ports, signal));
      if (job?.state === "cancelled" && !actor.isDead) plan.cancelled = job;
    });
  }

  #request(plan: Plan): void {
    const actor = this.#actor(29_000);
    const now = this.#time + actor.skew;
    const index = plan.answers.push(undefined) - 1;
    const { operationId, caller, host, accessTokenExpiresAt } = plan;
    const job: Job = {
      operationId,
      state: "pending",
      caller,
      requestHash: operationId,
      request: { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 },
      requestedAt: now,
      listedAt: new Date(now).toISOString(),
      correlator: operationId,
      sink: host,
      ...(accessTokenExpiresAt === undefined ? {} : { accessToken: "token", accessTokenExpiresAt }),
      intake: `intake-${++this.#lastId}`,
      promised: false,
      pendingSince: new Date(now).toISOString(),
      attempts: 0,
      mode: "answer",
      possiblyDelivered: false,
      expiresAt: Math.ceil(now / 1_000) + retentionSeconds,
    };
    this.#run(actor, async () => {
      const ports = this.#ports(actor);
      const { signal } = new AbortController();
      if (plan.redelivered !== undefined) {
        const original = await ports.jobs.read(plan.redelivered.operationId, signal);
        if (original === undefined || original.state === "pending") return;
        job.asOf = answerTime(original).getTime();
      }
      const answer = await acceptJob(job, 5, ports, signal);
      if (!actor.isDead) plan.answers[index] = answer;
    });
  }

  #sweep(): void {
    const actor = this.#actor(10_000);
    this.#run(actor, () => sweep(this.#ports(actor), new AbortController().signal));
  }

  /** Gives visible messages to workers that are free. A message may come twice, and in any order. */
  #receive(): void {
    const visible = this.#messages.filter(
      ({ isDeleted, visibleAt }) => !isDeleted && visibleAt <= this.#time,
    );
    while (visible.length > 0 && this.#actors.size < workers) {
      const [message] = visible.splice(Math.floor(this.#random() * visible.length), 1);
      if (message === undefined) return;
      message.receives++;
      message.handle = `handle-${++this.#lastId}`;
      message.visibleAt = this.#time + visibilityMilliseconds;
      // At least once: now and then a message can be received although it is hidden.
      if (this.#isFaulty(0.1)) message.visibleAt = this.#time + this.#pick([0, 100, 5_000]);
      this.#work(message, message.handle);
    }
  }

  #work(message: Message, receiptHandle: string): void {
    const { operationId, receives } = message;
    const actor = this.#actor(functionMilliseconds);
    const delivery = { operationId, queue: "density-jobs", receiptHandle, receives, dead: receives > 500 };
    this.#run(actor, async () => {
      try {
        const verdict = await workOn(delivery, this.#ports(actor), new AbortController().signal);
        await this.#call(actor, "verdict", () => {
          if (message.handle !== receiptHandle) return;
          if (verdict === "ack") message.isDeleted = true;
          else message.visibleAt = this.#time + Math.ceil(verdict.retryInSeconds) * 1_000;
        });
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        if (message.handle === receiptHandle) message.visibleAt = this.#time + 30_000;
      }
    });
  }

  #ports(actor: Actor): Ports {
    const call = <Value>(name: string, run: () => Value) => this.#call(actor, name, run);
    const { signal } = new AbortController();
    const [jobs, permits] = [this.#jobs, this.#permits];
    return {
      jobs: {
        store: (job, replaces, limit) => call("store", () => jobs.store(job, replaces, limit)),
        read: (id) => call("read", () => jobs.read(id)),
        promise: (job) => call("promise", () => jobs.promise(job)),
        withdraw: (job, replaces) => call("withdraw", () => jobs.withdraw(job, replaces)),
        releaseEnded: (caller) => call("releaseEnded", () => jobs.releaseEnded(caller)),
        markQueued: (id, now) => call("markQueued", () => jobs.markQueued(id, now)),
        lease: (job, lease) => call("lease", () => jobs.lease(job, lease)),
        markPossiblyDelivered: (id, lease) =>
          call("markPossiblyDelivered", () => jobs.markPossiblyDelivered(id, lease)),
        scheduleRetry: (id, lease, retry) =>
          call("scheduleRetry", () => jobs.scheduleRetry(id, lease, retry)),
        finish: (job, lease, end) => call("finish", () => jobs.finish(job, lease, end)),
        cancel: (job) => call("cancel", () => jobs.cancel(job)),
        pending: () => call("pending", () => jobs.pending()),
      },
      permits: {
        read: () => call("readPermits", () => permits.read()),
        write: (all, version) => call("writePermits", () => permits.write(all, version)),
        addWaiting: (waiting) => call("addWaiting", () => permits.addWaiting(waiting)),
        removeWaiting: (waiting) => call("removeWaiting", () => permits.removeWaiting(waiting)),
        waitingAt: (limit) => call("waitingAt", () => permits.waitingAt(limit)),
        noteAgreement: (host) => call("noteAgreement", () => permits.noteAgreement(host)),
        hasAgreed: (host) => call("hasAgreed", () => permits.hasAgreed(host)),
      },
      queues: {
        send: (operationId) =>
          call("send", () => {
            const visibleAt = this.#time + this.#pick([0, 0, 200, 20_000]);
            this.#messages.push({ operationId, visibleAt, receives: 0, handle: "", isDeleted: false });
          }),
        wake: (_, handle) =>
          call("wake", () => {
            const message = this.#messages.find((one) => one.handle === handle && !one.isDeleted);
            if (message === undefined) return false;
            message.visibleAt = this.#time;
            return true;
          }),
      },
      sinks: {
        post: (job, beforeLastChunk) => this.#post(actor, job, beforeLastChunk),
        hostOf: (sink) => sink,
      },
      clock: { now: () => this.#time + actor.skew, deadline: () => signal },
      random: this.#random,
      newId: () => `id-${++this.#lastId}`,
      log: () => {},
      writeMetrics: () => {},
      schedule,
      workers,
    };
  }

  /** An attempt at a sink: it begins, the last chunk is released, the answer comes; in between is time. */
  async #post(
    actor: Actor,
    job: Job & { readonly sink: string },
    beforeLastChunk: () => Promise<void>,
  ): Promise<Sent> {
    const plan = this.#plans.find(({ operationId }) => operationId === job.operationId);
    if (plan === undefined) throw new Error("an operation that nobody planned");
    const index = plan.attempts++;
    // A worker that ends before it has recorded what a sink asks for takes it with it.
    const isEarly = this.#time < plan.notBefore - 2 * maxSkewMilliseconds;
    if (isEarly && !this.#wasFaulty) this.#broken.add("called before it was asked to");
    const behaviour = plan.behaviours[Math.min(index, plan.behaviours.length - 1)] as Behaviour;
    const computing = job.mode === "failure" ? "well" : (plan.computing[index] ?? "well");
    const later = () => this.#time + this.#pick([1, 100, 3_000, 60_000]);
    await this.#call(actor, "post", () => this.#beginUpload(actor, job));
    if (this.#chance(0.03)) {
      const at = this.#time + this.#pick([1, 100, 3_000, 30_000]);
      this.#coming.push({ at, begin: () => this.#cancel(plan) });
    }
    try {
      if (computing === "unavailable") throw new Unavailable("model", "densities");
      if (computing === "broken") throw new Error("cannot be computed");
      if (computing === "deadly") {
        this.#kill(actor);
        await new Promise(() => {});
      }
      if (behaviour.sent.sentWhole) {
        await beforeLastChunk();
        await this.#call(actor, "take", () => this.#takeWhole(plan, job, behaviour), later());
      }
      await this.#call(
        actor,
        "post",
        () => {
          plan.notBefore = this.#time + (behaviour.sent.retryAfterSeconds ?? 0) * 1_000;
        },
        later(),
      );
      return { ...behaviour.sent, bytes: job.mode === "failure" ? 200 : plan.bytes };
    } finally {
      this.#uploads.delete(actor);
    }
  }

  #beginUpload(actor: Actor, job: Job & { readonly sink: string }): void {
    const { accessTokenExpiresAt = Number.POSITIVE_INFINITY } = job;
    if (accessTokenExpiresAt + maxSkewMilliseconds < this.#time - minute)
      this.#broken.add("called with an old token");
    this.#uploads.set(actor, { host: job.sink, caller: job.caller, mode: job.mode });
    const answers = [...this.#uploads.values()].filter(({ mode }) => mode === "answer");
    const toHost = answers.filter(({ host }) => host === job.sink);
    const ofCaller = toHost.filter(({ caller }) => caller === job.caller);
    if (toHost.length > uploadsPerHost) this.#broken.add("too many uploads to a host");
    if (ofCaller.length > uploadsPerCallerAndHost) this.#broken.add("too many uploads of a caller to a host");
  }

  #takeWhole(plan: Plan, job: Job, { keeps }: Behaviour): void {
    if (this.#time > deadlineOf(job) + maxSkewMilliseconds) this.#broken.add("sent too late");
    if (!keeps) return;
    if (plan.cancelled?.possiblyDelivered === false) this.#broken.add("delivered after it was cancelled");
    plan.kept.add(job.mode);
    if (plan.kept.size > 1) this.#broken.add("two kinds of outcome at a sink");
    if (plan.answers.length > 0 && plan.answers.every((answer) => isCertainRefusal(answer))) {
      this.#broken.add("delivered what was refused with 503");
    }
  }

  #checkAlways(): void {
    for (const [, places] of this.#jobs.places) {
      for (const id of places) {
        if (this.#jobs.read(id)?.state !== "pending") this.#broken.add("a place without a pending job");
      }
    }
  }

  #checkAtEnd(): void {
    for (const plan of this.#plans) {
      const { operationId, answers, kept } = plan;
      const job = this.#jobs.read(operationId);
      if (job?.state === "pending") this.#broken.add("a job without an outcome");
      if (plan.cancelled !== undefined && job?.state !== "cancelled")
        this.#broken.add("a cancelled job has another outcome");
      if (plan.cancelled?.possiblyDelivered === false && kept.size > 0)
        this.#broken.add("delivered, but cancelled as not delivered");
      const isPromised = answers.includes("accepted");
      if (isPromised && (job === undefined || job.state === "withdrawn"))
        this.#broken.add("a promised job is lost");
      if (job?.state === "delivered" && !kept.has("answer"))
        this.#broken.add("delivered, but not to its sink");
      if (answers.length > 0 && answers.every((answer) => isCertainRefusal(answer)) && kept.size > 0) {
        this.#broken.add("delivered what was refused with 503");
      }
      // Whoever ends just before the last chunk leaves nobody who may say that there is no answer.
      const isUncertain = this.#wasFaulty && job?.reason === "possibly delivered";
      const isCancelled = job?.state === "cancelled";
      if (isPromised && kept.size === 0 && isDeserved(plan) && !isUncertain && !isCancelled) {
        this.#broken.add(`nothing was sent to a sink that accepts everything: ${job?.reason}`);
      }
    }
    for (const [, places] of this.#jobs.places) if (places.size > 0) this.#broken.add("a place is leaked");
    const now = this.#time + hour;
    const left = this.#permits.permits.filter(({ until }) => until > now);
    if (left.length > 0) this.#broken.add("a permit is leaked");
    // Only a worker that is gone, or a store that does not answer, leaves a permit to its own end.
    const held = this.#permits.permits.filter(
      ({ holder, until }) => holder !== undefined && until > this.#time,
    );
    if (held.length > 0 && !this.#wasFaulty) this.#broken.add("a permit is not given back");
    const request = { operationId: "new", host: "host-a", caller: "caller-a", mode: "answer" } as const;
    if (limitReached(this.#permits.permits, request, workers, now) !== undefined) {
      this.#broken.add("a permit is never free again");
    }
  }
}

/** What says for certain that nothing will be delivered. */
function isCertainRefusal(answer: Acceptance | undefined): boolean {
  return answer === "withdrawn" || answer === "full" || answer === "conflict";
}

/** Whether an operation's sink must have got something: it takes whatever comes, and its token does not end. */
function isDeserved({ behaviours: own, accessTokenExpiresAt }: Plan): boolean {
  return (
    own.every(({ keeps, sent }) => keeps && sent.outcome === "delivered") &&
    accessTokenExpiresAt === undefined
  );
}
