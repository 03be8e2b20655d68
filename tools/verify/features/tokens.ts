import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { decodeJwt, errors } from "jose";
import { tokenOf } from "../../calls/login.ts";
import { clientToken } from "./client-token.ts";
import { CannotRun, inPlan } from "./ending.ts";
import type { Plan, TokenSource } from "./plan.ts";

/** The longest that the runner waits for a token to expire. */
const longestWaitSeconds = 120;
/** How much servers' clocks may differ. */
const toleranceSeconds = 10;

/** What tells the time, and waits. */
interface Clock {
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

/** The access tokens of a plan. */
export class Tokens {
  readonly #url: string;
  readonly #plan: Plan;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #known = new Map<string, string>();
  #expired: Promise<string> | undefined;

  /** @param folder of the plan. */
  constructor(url: string, plan: Plan, folder: string, clock: Clock = { now: Date.now, wait }) {
    this.#url = url;
    this.#plan = plan;
    this.#folder = folder;
    this.#clock = clock;
  }

  /** A token of a caller that is valid for a while. */
  async of(caller: string): Promise<string> {
    const known = this.#known.get(caller);
    if (known !== undefined && this.#secondsLeft(known) > toleranceSeconds) return known;
    const { from, scopes } = inPlan(this.#plan.callers[caller], `caller ${caller}`);
    const token = await this.#from(from, scopes);
    this.#known.set(caller, token);
    return token;
  }

  /** A token that has expired, after a wait if it expires soon. */
  async expired(): Promise<string> {
    this.#expired ??= this.#from(inPlan(this.#plan.expiredToken, "expiredToken"));
    const token = await this.#expired;
    const seconds = () => this.#secondsLeft(token, -Infinity) + toleranceSeconds;
    if (seconds() > longestWaitSeconds) {
      throw new CannotRun(
        `expiredToken is valid for another ${Math.round(seconds())} s, and the runner waits ${longestWaitSeconds} at most: ` +
          "give one that has expired, or shorten the lifetime of tokens",
      );
    }
    // A timer may fire early: it counts whole milliseconds, and of another clock.
    while (seconds() > 0) await this.#clock.wait(Math.ceil(seconds() * 1_000));
    return token;
  }

  /** A token that is invalid for another reason than its age. */
  async invalid(): Promise<string> {
    const { invalidToken, application } = this.#plan;
    if (invalidToken !== undefined) return await this.#from(invalidToken);
    const token = await this.of(application);
    // In the middle of the signature: its last character may stand for bits that do not count.
    const at = Math.max(token.length - 20, 0);
    return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
  }

  /** The first caller whose tokens lack a scope. */
  callerWithout(scope: string): string {
    const found = Object.entries(this.#plan.callers).find(([, { scopes }]) => !scopes.includes(scope));
    return inPlan(found, `caller without the scope ${scope}`)[0];
  }

  /** For how many more seconds a token is valid, if it is a JWT that says so. */
  #secondsLeft(token: string, otherwise = Infinity): number {
    try {
      const { exp } = decodeJwt(token);
      return exp === undefined ? otherwise : exp - this.#clock.now() / 1_000;
    } catch (error) {
      if (error instanceof errors.JWTInvalid) return otherwise;
      throw error;
    }
  }

  async #from(source: TokenSource, scopes = this.#plan.callers[this.#plan.application]?.scopes ?? []) {
    if ("client" in source) {
      const { issuer = this.#url, keyFile, ...client } = source.client;
      return await clientToken({ ...client, issuer, keyFile: resolve(this.#folder, keyFile) }, scopes);
    }
    if ("login" in source) return await tokenOf(this.#url, source.login);
    if ("token" in source) return sendable(source.token, "a token of the plan");
    const token = process.env[source.environment];
    if (token === undefined || token === "") throw new CannotRun(`set ${source.environment} to a token`);
    return sendable(token, source.environment);
  }
}

/** A token that a header can hold; errors of headers would repeat another. */
function sendable(token: string, name: string): string {
  if (/^[\x20-\x7e]+$/.test(token)) return token;
  throw new CannotRun(`${name} has characters that no header can have, such as a line break`);
}
