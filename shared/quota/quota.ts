import * as z from "zod/mini";
import { updateItem, updateOrFindOnce } from "../aws/database.ts";
import { dayMilliseconds } from "../calendar.ts";
import { setting } from "../environment.ts";
import type { Allowance, ErrorDetails } from "../errors.ts";
import { hashed } from "../hash.ts";
import { DAILY_QUOTA } from "../variables/daily-quota.ts";
import { RATE_LIMIT_PER_MINUTE } from "../variables/rate-limit-per-minute.ts";
import { quotas } from "./table.ts";
import { UsedWindows } from "./used-windows.ts";

/** The result of counting a request: the allowance of the limit that will be reached first, or the exceeded limit. */
export type RateLimitResult = { readonly code?: undefined; readonly allowance: Allowance } | LimitExceeded;

interface LimitExceeded extends ErrorDetails {
  readonly code: "TOO_MANY_REQUESTS" | "QUOTA_EXCEEDED";
  readonly allowance: Allowance;
}

const minuteMilliseconds = 60_000;
/** The attributes that counting a request writes. */
const counts = z.object({ dayCount: z.number(), minuteCount: z.number() });

/** The attributes that charging work writes. */
const dayCounts = z.object({ dayCount: z.number() });

/** Attempts at counting. An attempt fails only if another request opens the minute or the day first. */
const attempts = 4;

const usedMinutes = new UsedWindows();

/** The count of a day decreases when work is refunded. */
const usedDays = new UsedWindows(5_000);

/**
 * The refusal of a request that needs no call: of a limit of 0, or of a minute or day that this environment has just
 * found used up.
 * It says nothing of the table, so it is asked for before counting, whether or not the table answers.
 */
export function refusalWithoutCount(client: string, now: Date): LimitExceeded | undefined {
  const rate = setting(RATE_LIMIT_PER_MINUTE);
  const quota = setting(DAILY_QUOTA);
  const limits = { rate, quota, now };
  const caller = hashed(client);
  const day = Math.floor(now.getTime() / dayMilliseconds);
  if (quota === 0 || usedDays.has(caller, day, quota, now)) return overQuota(limits);
  const minute = Math.floor(now.getTime() / minuteMilliseconds);
  return rate === 0 || usedMinutes.has(caller, minute, rate, now) ? overRate(limits) : undefined;
}

/**
 * Counts one request of a caller in the current UTC minute and day, exactly even under concurrency.
 *
 * In an open window this takes one conditional write; opening the next window takes a second one. Windows never go
 * back: functions with slightly different clocks count into the later one. Each write is made once: after a lost
 * response the request is not known to be counted.
 * @param client one for whom `refusalWithoutCount` has none.
 * @returns a result without a code if the request was counted; with a code, nothing was counted.
 * @throws {Unavailable} if it is unknown whether the request was counted.
 */
export async function countRequest(client: string, now: Date, signal: AbortSignal): Promise<RateLimitResult> {
  const day = Math.floor(now.getTime() / dayMilliseconds);
  const minute = Math.floor(now.getTime() / minuteMilliseconds);
  const rate = setting(RATE_LIMIT_PER_MINUTE);
  const quota = setting(DAILY_QUOTA);
  // Hashed, because a client's name may be long or that of a person.
  const key = { caller: hashed(client) };
  const write = (update: string, condition: string, values: Record<string, number>) =>
    updateOrFindOnce(quotas, key, { update, condition, names, values }, counts, signal);
  const limits = { rate, quota, now };

  for (let attempt = 0; attempt < attempts; attempt++) {
    const counted = await write(
      "SET dayCount = dayCount + :one, minuteCount = minuteCount + :one",
      "#day >= :day AND #minute >= :minute AND dayCount < :quota AND minuteCount < :rate",
      { ":day": day, ":minute": minute, ":quota": quota, ":rate": rate, ":one": 1 },
    );
    if ("updated" in counted) return within(counted.updated, limits);

    const { found: last } = counted;
    if (last !== undefined && last.day >= day && last.dayCount >= quota) {
      usedDays.add(key.caller, last.day, last.dayCount, now);
      return overQuota(limits);
    }
    if (last !== undefined && last.minute >= minute && last.minuteCount >= rate) {
      usedMinutes.add(key.caller, last.minute, last.minuteCount, now);
      return overRate(limits);
    }
    const opened =
      last !== undefined && last.day >= day
        ? await write(
            "SET dayCount = dayCount + :one, #minute = :minute, minuteCount = :one",
            "#day >= :day AND #minute < :minute AND dayCount < :quota",
            { ":day": day, ":minute": minute, ":quota": quota, ":one": 1 },
          )
        : await write(
            "SET #day = :day, dayCount = :one, #minute = :minute, minuteCount = :one, expiresAt = :expiresAt",
            "attribute_not_exists(#day) OR #day < :day",
            {
              ":day": day,
              ":minute": minute,
              ":one": 1,
              ":expiresAt": (day + 2) * (dayMilliseconds / 1_000),
            },
          );
    if ("updated" in opened) return within(opened.updated, limits);
  }
  return overRate(limits);
}

/**
 * Charges the work of a request that `countRequest` has counted: further units of the daily quota, exactly even under
 * concurrency. Takes one conditional write, made once.
 * @param units at least 1.
 * @param before what `countRequest` returned for the request.
 * @returns a result with a code if too few units are left; none was then charged.
 */
export async function countWork(
  client: string,
  units: number,
  before: Allowance,
  now: Date,
  signal: AbortSignal,
): Promise<RateLimitResult> {
  const day = Math.floor(now.getTime() / dayMilliseconds);
  const quota = setting(DAILY_QUOTA);
  const key = { caller: hashed(client) };
  const update = {
    update: "SET dayCount = dayCount + :units",
    condition: "#day >= :day AND dayCount <= :max",
    names: { "#day": "day" },
    values: { ":day": day, ":units": units, ":max": quota - units },
  };
  const charged = await updateOrFindOnce(quotas, key, update, dayCounts, signal);
  if ("updated" in charged) {
    const ofDay = allowance(quota, quota - charged.updated.dayCount, now, dayMilliseconds);
    return { allowance: ofDay.remaining <= before.remaining ? ofDay : before };
  }
  const left = Math.max(0, quota - (charged.found?.dayCount ?? 0));
  return {
    ...exceeded("QUOTA_EXCEEDED", allowance(quota, left, now, dayMilliseconds)),
    message: `The request costs ${units} more of the daily quota, which has ${left} left. Ask for less.`,
  };
}

/** Refunds what `countWork` has charged for a request, unless a new day has begun. */
export async function uncountWork(
  client: string,
  units: number,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const day = Math.floor(now.getTime() / dayMilliseconds);
  const update = {
    update: "SET dayCount = dayCount - :units",
    condition: "#day = :day",
    names: { "#day": "day" },
    values: { ":day": day, ":units": units },
  };
  await updateItem(quotas, { caller: hashed(client) }, update, signal);
}

const names = { "#day": "day", "#minute": "minute" };

/** A caller's limits at a point in time. */
interface Limits {
  readonly rate: number;
  readonly quota: number;
  readonly now: Date;
}

function within(
  { minuteCount, dayCount }: z.infer<typeof counts>,
  { rate, quota, now }: Limits,
): RateLimitResult {
  const ofMinute = allowance(rate, rate - minuteCount, now, minuteMilliseconds);
  const ofDay = allowance(quota, quota - dayCount, now, dayMilliseconds);
  // If both are equal, the one with the longer window.
  return { allowance: ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute };
}

function overRate({ rate, now }: Limits): LimitExceeded {
  return exceeded("TOO_MANY_REQUESTS", allowance(rate, 0, now, minuteMilliseconds));
}

function overQuota({ quota, now }: Limits): LimitExceeded {
  return exceeded("QUOTA_EXCEEDED", allowance(quota, 0, now, dayMilliseconds));
}

function exceeded(code: LimitExceeded["code"], used: Allowance): LimitExceeded {
  return { code, allowance: used, retryAfterSeconds: used.resetSeconds };
}

function allowance(limit: number, remaining: number, now: Date, windowMilliseconds: number): Allowance {
  const left = windowMilliseconds - (now.getTime() % windowMilliseconds);
  return { limit, remaining, resetSeconds: Math.max(1, Math.ceil(left / 1_000)) };
}
