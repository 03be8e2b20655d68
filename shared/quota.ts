import * as z from "zod/mini";
import { getItem, updatedItem } from "./aws/database.ts";
import { setting } from "./environment.ts";
import type { Allowance, ErrorDetails } from "./errors.ts";
import { hashed } from "./hash.ts";
import { quotas } from "./quota-table.ts";

/** How a request stands to its caller's limits: what is left of the one that is nearer, or why it is over one. */
export type RateLimitResult = { readonly code?: undefined; readonly allowance: Allowance } | LimitExceeded;

interface LimitExceeded extends ErrorDetails {
  readonly code: "TOO_MANY_REQUESTS" | "QUOTA_EXCEEDED";
  readonly allowance: Allowance;
}

const minuteMilliseconds = 60_000;
const dayMilliseconds = 86_400_000;

/** What every count writes. */
const counts = z.object({ dayCount: z.number(), minuteCount: z.number() });

/** Times a count is tried: a further one only after another request opened a window first, which two can. */
const attempts = 4;

/**
 * Counts one request of a caller in the running UTC minute and day, exactly under concurrency.
 *
 * A write that was done but whose answer was lost is sent again by the SDK and counts twice.
 *
 * One conditional write in a window that is open; a read and a second write to open the next. A window never
 * goes back: functions whose clocks differ by a moment count into the later one.
 * @returns without a code when the request is within both limits and has been counted; else nothing was counted.
 */
export async function countRequest(client: string, now: Date, signal: AbortSignal): Promise<RateLimitResult> {
  const day = Math.floor(now.getTime() / dayMilliseconds);
  const minute = Math.floor(now.getTime() / minuteMilliseconds);
  const rate = setting("RATE_LIMIT_PER_MINUTE");
  const quota = setting("DAILY_QUOTA");
  // A client's name may be long, and may be a person's.
  const key = { caller: hashed(client) };
  const write = (update: string, condition: string, values: Record<string, number>) =>
    updatedItem(quotas, key, { update, condition, names, values }, counts, signal);
  const limits = { rate, quota, now };

  if (quota === 0) return overQuota(limits);
  if (rate === 0) return overRate(limits);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const counted = await write(
      "SET dayCount = dayCount + :one, minuteCount = minuteCount + :one",
      "#day >= :day AND #minute >= :minute AND dayCount < :quota AND minuteCount < :rate",
      { ":day": day, ":minute": minute, ":quota": quota, ":rate": rate, ":one": 1 },
    );
    if (counted !== undefined) return within(counted, limits);

    const last = await getItem(quotas, key, signal);
    if (last !== undefined && last.day >= day && last.dayCount >= quota) return overQuota(limits);
    if (last !== undefined && last.minute >= minute && last.minuteCount >= rate) return overRate(limits);
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
    if (opened !== undefined) return within(opened, limits);
  }
  return overRate(limits);
}

const names = { "#day": "day", "#minute": "minute" };

/** A caller's limits at a moment. */
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
  // Of two that are as near, the one that refuses for longer.
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
