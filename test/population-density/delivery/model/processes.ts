import { setImmediate as nextTurn } from "node:timers/promises";
import { Unavailable } from "../../../../shared/errors.ts";
import { hour, minute, start } from "./plan.ts";
import type { Chance } from "./random.ts";

/** The most that a process's clock is wrong by. */
export const maxSkewMilliseconds = 3_000;

/** A process that runs the delivery code: a request, a worker, a sweep. Its clock is wrong by `skew`. */
export interface Actor {
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

/** What else happens in a run, and who hears of what. */
interface Surroundings {
  /** Lets what is due begin, before a call is made. */
  readonly begin: () => void;
  /** When something of it is due next. */
  readonly nextAt: () => readonly number[];
  readonly ended: (actor: Actor) => void;
  readonly thrown: (error: unknown) => void;
}

/**
 * The processes of a run and its time. Their calls happen in a random order; any process is killed before or after a
 * call, calls are refused, answers lost, calls made late.
 */
export class Processes {
  time = start;
  /** Whether anything was done to a call so far. */
  wasFaulty = false;
  readonly count = { calls: 0, kills: 0, lostAnswers: 0, lateCalls: 0 };
  readonly #chance: Chance;
  readonly #surroundings: Surroundings;
  readonly #faultsEnd: number;
  #faultsLeft: number;
  /** What begins at its time, independently of the processes. */
  readonly #coming: { readonly at: number; readonly begin: () => void }[] = [];
  #calls: Call[] = [];
  readonly #actors = new Set<Actor>();

  constructor(chance: Chance, surroundings: Surroundings) {
    this.#chance = chance;
    this.#surroundings = surroundings;
    this.#faultsLeft = chance.pick([0, 1, 3, 6, 12]);
    this.#faultsEnd = start + chance.pick([10_000, minute, 2 * hour, 25 * hour]);
  }

  /** How many run. */
  get running(): number {
    return this.#actors.size;
  }

  /** Whether anything is still to begin. */
  get isAnythingComing(): boolean {
    return this.#coming.length > 0;
  }

  /** Lets something begin at a time. */
  plan(at: number, begin: () => void): void {
    this.#coming.push({ at, begin });
  }

  /** Lets the next thing happen. Returns whether anything is left to happen. */
  async advance(): Promise<boolean> {
    await nextTurn();
    for (const actor of this.#actors) if (actor.endsAt <= this.time) this.kill(actor);
    for (const [index, coming] of [...this.#coming.entries()].reverse()) {
      if (coming.at > this.time) continue;
      this.#coming.splice(index, 1);
      coming.begin();
    }
    this.#surroundings.begin();
    const due = this.#calls.filter(({ at }) => at <= this.time);
    const call = due.length === 0 ? undefined : this.#chance.pick(due);
    if (call !== undefined) {
      this.#make(call);
      this.time += this.#chance.pick([0, 1, 5, 20, 20]);
      return true;
    }
    await nextTurn();
    if (this.#calls.some(({ at }) => at <= this.time)) return true;
    const next = Math.min(
      ...this.#calls.map(({ at }) => at),
      ...this.#coming.map(({ at }) => at),
      ...this.#surroundings.nextAt(),
    );
    if (next === Number.POSITIVE_INFINITY) return false;
    this.time = Math.max(this.time + 1, next);
    return true;
  }

  /** Starts a process that runs something to its end, unless it is killed before. */
  start(milliseconds: number, work: (actor: Actor) => Promise<void>): void {
    const skew = Math.round((2 * this.#chance.random() - 1) * maxSkewMilliseconds);
    const actor = { skew, endsAt: this.time + milliseconds, isDead: false };
    this.#actors.add(actor);
    const end = () => {
      this.#actors.delete(actor);
      this.#surroundings.ended(actor);
    };
    work(actor).then(
      () => end(),
      (error: unknown) => {
        end();
        if (!(error instanceof Unavailable)) this.#surroundings.thrown(error);
      },
    );
  }

  kill(actor: Actor): void {
    actor.isDead = true;
    this.#actors.delete(actor);
    this.#surroundings.ended(actor);
    this.#calls = this.#calls.filter((call) => call.actor !== actor);
  }

  /** Puts a call of an actor among those to be made; a dead one's is never made. */
  call<Value>(actor: Actor, name: string, run: () => Value, at = this.time): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      if (actor.isDead) return;
      this.#calls.push({ actor, name, run, resolve: resolve as Call["resolve"], reject, at });
    });
  }

  /** Whether one of the faults of this run happens now. */
  isFaulty(probability: number): boolean {
    if (this.#faultsLeft <= 0 || this.time > this.#faultsEnd || !this.#chance.happens(probability))
      return false;
    this.#faultsLeft--;
    this.wasFaulty = true;
    return true;
  }

  /** Makes one call of an actor, or does to it what can happen to a call. */
  #make(call: Call): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
    this.count.calls++;
    const { actor, run, resolve, reject, name } = call;
    if (this.isFaulty(0.04)) {
      this.count.kills++;
      this.kill(actor);
      return;
    }
    const isStore = !["post", "take", "pause"].includes(name);
    if (isStore && this.isFaulty(0.04)) {
      reject(new Unavailable("model", "refused"));
      return;
    }
    if (isStore && this.isFaulty(0.04)) {
      // On its way for longer than its caller waits: it happens all the same.
      this.count.lateCalls++;
      this.plan(this.time + this.#chance.pick([1, 100, 3_000, 10_000]), run);
      reject(new Unavailable("model", "no answer yet"));
      return;
    }
    const value = run();
    // A worker that ends when its sink has everything is what makes an outcome uncertain.
    if (this.isFaulty(name === "take" ? 0.3 : 0.04)) {
      this.count.kills++;
      this.kill(actor);
      return;
    }
    if (isStore && this.isFaulty(0.06)) {
      this.count.lostAnswers++;
      reject(new Unavailable("model", "answer lost"));
      return;
    }
    resolve(value);
  }
}
