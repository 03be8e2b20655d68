import { isIPv6 } from "node:net";
import { hashed } from "../../shared/hash.ts";
import { networkOf } from "../../shared/ipv6.ts";

/** Failed logins are counted in windows of this length, aligned to the epoch. */
export const windowSeconds = 900;

/** Addresses are compared without case (behaviour section 5). An absent address is handled like an unknown one. */
export function addressOf(emailaddress: string | undefined): string {
  return (emailaddress ?? "").toLowerCase();
}

/** The maximum of failures and attempts under way in a window, for each counter. */
export interface LoginLimits {
  readonly accountAndSource: number;
  readonly source: number;
  readonly account: number;
}

/** A counter of failed logins and of those under way. */
export interface Counter {
  /** Key of the counter's item; holds hashes only. */
  readonly key: string;
  readonly limit: number;
}

/**
 * The counters of a login, the narrowest first, so that one source cannot use up an account's limit for all sources.
 * They are the same for accounts that do not exist.
 */
export function countersOf(address: string, sourceIp: string, now: Date, limits: LoginLimits): Counter[] {
  const window = Math.floor(now.getTime() / 1_000 / windowSeconds);
  const source = sourceOf(sourceIp);
  return [
    {
      key: `account-and-source#${hashed(address)}#${hashed(source)}#${window}`,
      limit: limits.accountAndSource,
    },
    { key: `source#${hashed(source)}#${window}`, limit: limits.source },
    { key: `account#${hashed(address)}#${window}`, limit: limits.account },
  ];
}

/** Why an attempt is refused: a counter is full of failures, or of failures and attempts under way. */
export interface LimitExceeded {
  readonly counter: Counter;
  readonly reason: "failures" | "underWay";
}

/**
 * The maximum time for which an attempt is under way: longer than the function's time-out and clock differences. An
 * attempt that lapses was a fault of the service, and is not counted.
 */
const underWayMilliseconds = 20_000;

/** The name of an attempt that begins now. It contains the time at which it lapses; `random` makes it unique. */
export function attemptName(now: Date, random: string): string {
  return `${(now.getTime() + underWayMilliseconds).toString(36)}-${random}`;
}

/** Whether an attempt that is counted as under way has lapsed. */
export function hasLapsed(attempt: string, now: Date): boolean {
  const [lapses = ""] = attempt.split("-");
  return Number.parseInt(lapses, 36) <= now.getTime();
}

/** Seconds until the running window ends. */
export function secondsLeft(now: Date): number {
  return windowSeconds - (Math.floor(now.getTime() / 1_000) % windowSeconds);
}

/** An IPv6 source is its /64: one subscriber has all the addresses of it. */
function sourceOf(sourceIp: string): string {
  return isIPv6(sourceIp) ? networkOf(sourceIp) : sourceIp;
}
