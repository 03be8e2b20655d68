import * as z from "zod/mini";
import { getItem, updateItem } from "./aws/database.ts";
import { setting } from "./environment.ts";
import type { Particulars } from "./errors.ts";
import { hashed } from "./hash.ts";

/** Why a request is over its caller's limits. */
export interface Excess extends Particulars {
  readonly code: "TOO_MANY_REQUESTS" | "QUOTA_EXCEEDED";
}

const minuteMilliseconds = 60_000;
const dayMilliseconds = 86_400_000;

const counters = z.object({
  day: z.number(),
  dayCount: z.number(),
  minute: z.number(),
  minuteCount: z.number(),
});

/** Times a count is tried: a further one only after another request opened a window first, which two can. */
const attempts = 4;

/**
 * Counts one request of a caller in the running UTC minute and day, exactly under concurrency.
 *
 * A write that was done but whose answer was lost is sent again by the SDK and counts twice.
 *
 * One conditional write in a window that is open; a read and a second write to open the next. A window never
 * goes back: functions whose clocks differ by a moment count into the later one.
 * @returns `undefined` when the request is within both limits and has been counted; else nothing was counted.
 */
export async function countRequest(
  client: string,
  now: Date,
  signal: AbortSignal,
): Promise<Excess | undefined> {
  const day = Math.floor(now.getTime() / dayMilliseconds);
  const minute = Math.floor(now.getTime() / minuteMilliseconds);
  const rate = setting("RATE_LIMIT_PER_MINUTE");
  const quota = setting("DAILY_QUOTA");
  // A client's name may be long, and may be a person's.
  const key = { caller: hashed(client) };
  const write = (update: string, condition: string, values: Record<string, number>) =>
    updateItem("quotas", key, { update, condition, names, values }, signal);

  if (quota === 0) return excess("QUOTA_EXCEEDED", now, dayMilliseconds);
  if (rate === 0) return excess("TOO_MANY_REQUESTS", now, minuteMilliseconds);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const counted = await write(
      "SET dayCount = dayCount + :one, minuteCount = minuteCount + :one",
      "#day >= :day AND #minute >= :minute AND dayCount < :quota AND minuteCount < :rate",
      { ":day": day, ":minute": minute, ":quota": quota, ":rate": rate, ":one": 1 },
    );
    if (counted) return undefined;

    const last = await getItem("quotas", key, counters, signal);
    if (last !== undefined && last.day >= day && last.dayCount >= quota) {
      return excess("QUOTA_EXCEEDED", now, dayMilliseconds);
    }
    if (last !== undefined && last.minute >= minute && last.minuteCount >= rate) {
      return excess("TOO_MANY_REQUESTS", now, minuteMilliseconds);
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
    if (opened) return undefined;
  }
  return excess("TOO_MANY_REQUESTS", now, minuteMilliseconds);
}

const names = { "#day": "day", "#minute": "minute" };

function excess(code: Excess["code"], now: Date, windowMilliseconds: number): Excess {
  const left = windowMilliseconds - (now.getTime() % windowMilliseconds);
  return { code, retryAfterSeconds: Math.max(1, Math.ceil(left / 1_000)) };
}
