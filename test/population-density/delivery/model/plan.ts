import type { Acceptance } from "../../../../functions/population-density/delivery/accept.ts";
import type { Job } from "../../../../functions/population-density/delivery/job.ts";
import type { SendResult } from "../../../../functions/population-density/delivery/rules.ts";
import { someJob } from "../../../support/some-job.ts";
import type { Chance } from "./random.ts";

export const minute = 60_000;
export const hour = 60 * minute;

/** When a run begins. */
export const start = Date.UTC(2026, 10, 20, 12);

/** What a sink does with an attempt, and what it makes of the body that it got whole. */
export interface Behaviour {
  readonly sent: Omit<SendResult, "bytes">;
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

/** What is planned of an operation, how its sink behaves and who asks for it; and what has come of it so far. */
export interface Plan {
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
  attempts: number;
  /** How its caller was answered that it is cancelled. */
  cancelled: Pick<Job, "possiblyDelivered"> | undefined;
  /** What its sink has come to hold. */
  readonly kept: Set<Job["mode"]>;
  notBefore: number;
}

/** Plans an operation, of the same caller as the one whose answer it delivers again. */
export function planOperation(operationId: string, chance: Chance, redelivered?: Plan): Plan {
  const last = chance.pick([
    behaviours[0],
    behaviours[0],
    behaviours[0],
    chance.pick(behaviours),
  ]) as Behaviour;
  const before = Array.from({ length: chance.pick([0, 0, 1, 3, 9]) }, () => chance.pick(behaviours));
  const computing = Array.from({ length: chance.pick([0, 0, 0, 2, 12]) }, () =>
    chance.pick(["well", "unavailable", "broken", "deadly", "deadly"] as const),
  );
  return {
    operationId,
    caller: redelivered?.caller ?? chance.pick(["caller-a", "caller-b", "caller-c", "caller-d", "caller-e"]),
    host: chance.pick(["host-a", "host-a", "host-b"]),
    redelivered,
    behaviours: [...before, last],
    computing,
    bytes: chance.pick([1_000, 1_000, 5_000_000]),
    accessTokenExpiresAt: chance.happens(0.1) ? start + chance.pick([minute, hour]) : undefined,
    answers: [],
    attempts: 0,
    cancelled: undefined,
    kept: new Set(),
    notBefore: 0,
  };
}

/** The job of a request for an operation. */
export function jobOf(plan: Plan, now: number, intake: string): Job {
  const { operationId, caller, host, accessTokenExpiresAt } = plan;
  const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };
  return someJob(host, request, {
    operationId,
    caller,
    requestHash: operationId,
    requestedAt: now,
    listedAt: new Date(now).toISOString(),
    ...(accessTokenExpiresAt === undefined ? {} : { accessToken: "token", accessTokenExpiresAt }),
    intake,
  });
}
