import { acceptJob } from "../../../../functions/population-density/delivery/accept.ts";
import { cancelJob } from "../../../../functions/population-density/delivery/cancel.ts";
import { answerTime, type Job } from "../../../../functions/population-density/delivery/job.ts";
import type { Ports } from "../../../../functions/population-density/delivery/ports.ts";
import type { SendResult } from "../../../../functions/population-density/delivery/rules.ts";
import { sweep } from "../../../../functions/population-density/delivery/sweep-jobs.ts";
import { workOn } from "../../../../functions/population-density/delivery/work-on-job.ts";
import { Unavailable } from "../../../../shared/errors.ts";
import { queueDescription, visibilitySeconds, workerSeconds } from "../../../../shared/sqs/queues.ts";
import { recoverySeconds, type Verdict } from "../../../../shared/sqs/worker.ts";
import { Guarantees, isPromise } from "./guarantees.ts";
import { MemoryQueue, type ReceivedMessage } from "./memory-queue.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./memory-stores.ts";
import { type Behaviour, hour, jobOf, minute, type Plan, planOperation, start } from "./plan.ts";
import { type Actor, Processes } from "./processes.ts";
import { Chance } from "./random.ts";

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

const workers = 10;
const functionMilliseconds = workerSeconds * 1_000;
const schedule = [2, 10, 60, 300, 900, 3_600, 10_800, 21_600];

/**
 * Runs the code of deliveries on stores, a queue, sinks and a clock of the model's own: calls of all processes in a
 * random order, any of them killed before or after a call, calls refused, answers lost, calls made late, messages
 * doubled and late, indexes that miss recent writes, clocks that differ. Everything follows from the seed.
 */
export async function runModel(seed: number): Promise<Run> {
  return await new Model(seed).run();
}

class Model {
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #processes: Processes;
  readonly #guarantees: Guarantees;
  readonly #jobs = new MemoryJobs();
  readonly #permits = new MemoryPermits();
  readonly #queue = new MemoryQueue(
    visibilitySeconds,
    queueDescription("density-jobs").deadLetters?.maxReceiveCount ?? 0,
  );
  readonly #plans: Plan[];
  /** What an index has shown last, by what was asked. */
  readonly #shown = new Map<string, unknown>();
  #lastId = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#chance = new Chance(seed);
    this.#processes = new Processes(this.#chance, {
      begin: () => this.#receive(),
      nextAt: () => this.#queue.visibleTimes(),
      ended: (actor) => this.#guarantees.processEnds(actor),
      thrown: (error) => this.#guarantees.broken.add(`thrown: ${String(error)}`),
    });
    this.#guarantees = new Guarantees({
      jobs: this.#jobs,
      permits: this.#permits,
      now: () => this.#processes.time,
      wasFaulty: () => this.#processes.wasFaulty,
      lateCalls: () => this.#processes.count.lateCalls,
      isKept: (operationId) => this.#queue.isKept(operationId, this.#processes.time),
      running: () => this.#processes.running,
      schedule,
      workers,
    });
    const plans = Array.from({ length: this.#chance.pick([1, 2, 6, 14, 30]) }, (_, index) =>
      planOperation(`operation-${index}`, this.#chance),
    );
    const again = plans
      .filter(() => this.#chance.happens(0.2))
      .map((plan) => planOperation(`${plan.operationId}-again`, this.#chance, plan));
    this.#plans = [...plans, ...again];
  }

  async run(): Promise<Run> {
    for (const plan of this.#plans) this.#planRequests(plan);
    this.#planSweep();
    const end = start + 26 * hour;
    while (this.#processes.time < end && (await this.#processes.advance())) this.#guarantees.checkAlways();
    this.#guarantees.checkAtEnd(this.#plans);
    return {
      seed: this.#seed,
      broken: [...this.#guarantees.broken],
      ...this.#processes.count,
      redelivered: this.#plans.filter(
        ({ redelivered, answers }) => redelivered !== undefined && answers.some(isPromise),
      ).length,
      outcomes: this.#plans.map(({ operationId }) => this.#jobs.read(operationId)?.state ?? "never stored"),
    };
  }

  /** A request, and with some luck another or two with the same idempotency key, and one to cancel it. */
  #planRequests(plan: Plan): void {
    const at =
      start + this.#chance.pick(plan.redelivered ? [1_000, minute, 2 * hour] : [0, 0, 1_000, 30_000]);
    if (this.#chance.happens(0.2)) {
      const inMilliseconds = this.#chance.pick([5, 100, 3_000, 62_000, 2 * minute, hour]);
      this.#processes.plan(at + inMilliseconds, () => this.#cancel(plan));
    }
    const count = this.#chance.pick([1, 1, 2, 3]);
    for (let index = 0; index < count; index++) {
      this.#processes.plan(at + index * this.#chance.pick([0, 5, 4_000, hour]), () => this.#request(plan));
    }
  }

  #planSweep(): void {
    this.#processes.plan(this.#processes.time + minute, () => {
      if (this.#processes.isAnythingComing || this.#jobs.pending().length > 0) this.#planSweep();
      // What a sweep would find nothing to do in is left out most of the time: there are 1,440 in a day.
      const oldest = this.#jobs.pending()[0];
      const isNeeded =
        this.#jobs.pending().some(({ queuedAt }) => queuedAt === undefined) ||
        (oldest !== undefined && Date.parse(oldest.pendingSince) + 24 * hour <= this.#processes.time);
      if (isNeeded || this.#chance.happens(0.01)) this.#sweep();
    });
  }

  #cancel(plan: Plan): void {
    const { signal } = new AbortController();
    this.#processes.start(29_000, async (actor) => {
      const ports = this.#ports(actor);
      const found = await ports.jobs.read(plan.operationId, signal);
      const job = found && (await cancelJob(found, ports, signal));
      if (job?.state === "cancelled" && !actor.isDead) plan.cancelled = job;
    });
  }

  #request(plan: Plan): void {
    this.#processes.start(29_000, async (actor) => {
      const index = plan.answers.push(undefined) - 1;
      const job = jobOf(plan, this.#processes.time + actor.skew, `intake-${++this.#lastId}`);
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
    const newestObservedDay = async () => undefined;
    this.#processes.start(10_000, (actor) =>
      sweep({ ...this.#ports(actor), newestObservedDay }, new AbortController().signal),
    );
  }

  /** Gives visible messages to workers that are free, in any order. */
  #receive(): void {
    while (this.#processes.running < workers) {
      const message = this.#queue.receive(this.#processes.time, (visible) => this.#chance.pick(visible));
      if (message === undefined) return;
      if (this.#processes.isFaulty(0.1))
        this.#queue.receiveAgain(message, this.#processes.time + this.#chance.pick([0, 100, 5_000]));
      this.#work(message);
    }
  }

  #work(message: ReceivedMessage): void {
    this.#processes.start(functionMilliseconds, async (actor) => {
      const settle = (verdict: Verdict, isAfterFault: boolean) =>
        this.#processes.call(actor, "verdict", () =>
          this.#queue.settle(message, verdict, this.#processes.time, isAfterFault),
        );
      let verdict: Verdict;
      try {
        verdict = await workOn(message, this.#ports(actor), new AbortController().signal);
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        return await settle({ retryInSeconds: recoverySeconds(message.receives) }, true);
      }
      await settle(verdict, false);
    });
  }

  #ports(actor: Actor): Ports {
    const call = <Value>(name: string, run: () => Value) => this.#processes.call(actor, name, run);
    const { signal } = new AbortController();
    const jobs = this.#jobs;
    /** A write that ends a job, and the one after it that releases its place, which may fail. */
    const ending = async (
      job: Pick<Job, "caller" | "operationId">,
      write: Promise<boolean>,
      reservedAt?: number,
    ) => {
      const hasEnded = await write;
      const release = () => call("freePlace", () => jobs.freePlace(job, reservedAt));
      if (hasEnded) await release().catch((error: unknown) => this.#ignoreUnavailable(error));
      return hasEnded;
    };
    const stores = portsOf(jobs, this.#permits, call);
    return {
      ...stores,
      jobs: {
        ...stores.jobs,
        pending: () => call("pending", () => this.#asShown("pending", () => jobs.pending())),
        waitingFor: (host) => call("waitingFor", () => this.#asShown(host, () => jobs.waitingFor(host))),
        withdraw: (job, ...rest) => ending(job, stores.jobs.withdraw(job, ...rest), job.requestedAt),
        finish: (job, ...rest) => ending(job, stores.jobs.finish(job, ...rest)),
        endWithoutAttempt: (job, ...rest) => ending(job, stores.jobs.endWithoutAttempt(job, ...rest)),
        cancel: (job, ...rest) => ending(job, stores.jobs.cancel(job, ...rest)),
      },
      permits: {
        ...stores.permits,
        add: (permit, ...rest) => {
          this.#guarantees.permitIsAsked(actor, permit);
          return stores.permits.add(permit, ...rest);
        },
      },
      queues: {
        send: (operationId) =>
          call("send", () => {
            const visibleAt = this.#processes.time + this.#chance.pick([0, 0, 200, 20_000]);
            // A job that has long waited: its message is about to be replaced, or should have been.
            const receives = this.#chance.pick([0, 0, 0, 498, 960]);
            this.#queue.send(operationId, this.#processes.time, visibleAt, receives);
          }),
      },
      sinks: {
        post: (job, beforeLastChunk) => this.#post(actor, job, beforeLastChunk),
        hostOf: (sink) => sink,
      },
      clock: {
        now: () => this.#processes.time + actor.skew,
        deadline: () => signal,
        pause: (milliseconds) =>
          this.#processes.call(actor, "pause", () => {}, this.#processes.time + milliseconds),
      },
      random: this.#chance.random,
      newId: () => `id-${++this.#lastId}`,
      log: () => {},
      writeMetrics: () => {},
      schedule,
      workers,
    };
  }

  /** An index of a table may miss the most recent writes: here, all since it was last asked. */
  #asShown<Entries>(asked: string, read: () => Entries): Entries {
    const isLate = this.#shown.has(asked) && this.#chance.happens(0.2);
    const entries = isLate ? (this.#shown.get(asked) as Entries) : read();
    this.#shown.set(asked, entries);
    return entries;
  }

  #ignoreUnavailable(error: unknown): void {
    if (!(error instanceof Unavailable)) throw error;
  }

  /** An attempt at a sink: it begins, uploads, may send the last chunk, sends it, is answered; each takes its time. */
  async #post(
    actor: Actor,
    job: Job & { readonly sink: string },
    beforeLastChunk: () => Promise<void>,
  ): Promise<SendResult> {
    const plan = this.#plans.find(({ operationId }) => operationId === job.operationId);
    if (plan === undefined) throw new Error("an operation that nobody planned");
    const index = plan.attempts++;
    this.#guarantees.attemptBegins(plan);
    const behaviour = plan.behaviours[Math.min(index, plan.behaviours.length - 1)] as Behaviour;
    const computing = job.mode === "failure" ? "well" : (plan.computing[index] ?? "well");
    const later = () => this.#processes.time + this.#chance.pick([1, 100, 3_000, 10_000, 60_000, 120_000]);
    const uploadMilliseconds = this.#chance.pick([0, 0, 1, 100, 3_000, 60_000, 200_000]);
    await this.#processes.call(actor, "post", () => this.#guarantees.uploadBegins(actor, job));
    if (this.#chance.happens(0.03)) {
      const at = this.#processes.time + this.#chance.pick([1, 100, 3_000, 30_000]);
      this.#processes.plan(at, () => this.#cancel(plan));
    }
    try {
      if (computing === "unavailable") throw new Unavailable("model", "densities");
      if (computing === "broken") throw new Error("cannot be computed");
      if (computing === "deadly") {
        this.#processes.kill(actor);
        await new Promise(() => {});
      }
      await this.#processes.call(actor, "post", () => {}, this.#processes.time + uploadMilliseconds);
      if (behaviour.sent.sentWhole) {
        await beforeLastChunk();
        await this.#processes.call(
          actor,
          "take",
          () => this.#guarantees.sinkTakes(actor, plan, job, behaviour.keeps),
          later(),
        );
      }
      await this.#processes.call(
        actor,
        "post",
        () => {
          plan.notBefore = this.#processes.time + (behaviour.sent.retryAfterSeconds ?? 0) * 1_000;
        },
        later(),
      );
      return { ...behaviour.sent, bytes: job.mode === "failure" ? 200 : plan.bytes };
    } finally {
      this.#guarantees.uploadEnds(actor);
    }
  }
}
