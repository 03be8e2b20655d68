import * as z from "zod/mini";
import { deleteItem, getItem, getItems, putItem, updateItem } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { type End, itemOf, type Job, job } from "./job.ts";

/** How long a job and what belongs to it is kept. */
const keptSeconds = 86_400;

/** The epoch second at which something of now is forgotten. */
export function expiryFrom(now: Date): number {
  return Math.ceil(now.getTime() / 1_000) + keptSeconds;
}

/**
 * Stores a new job for a request, or joins the request to those of the job that is there with the same id.
 * @returns whether the job is still to be queued; `false` when work on it has begun.
 */
export async function claimJob(
  newJob: Omit<Job, "claims">,
  claim: string,
  now: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const isNew = {
    condition: "attribute_not_exists(operationId) OR expiresAt <= :now",
    values: { ":now": now.getTime() / 1_000 },
  };
  const item = itemOf({ ...newJob, claims: new Set([claim]) });
  let stored: Job | undefined;
  for (;;) {
    if (stored === undefined && (await putItem("density-jobs", item, isNew, signal))) return true;
    stored = await readJob(newJob.operationId, now, signal);
    if (stored === undefined) continue;
    if (hasBegun(stored)) return false;
    const joined = itemOf({ ...stored, claims: new Set([...stored.claims, claim]) });
    if (await putItem("density-jobs", joined, unchangedSince(stored), signal)) return true;
  }
}

/**
 * Takes a request off a job, and with the last one the job itself.
 * @returns `false` when nothing was taken because work on the job has begun.
 */
export async function disclaimJob(
  operationId: string,
  claim: string,
  now: Date,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const stored = await readJob(operationId, now, signal);
    if (stored === undefined) return true;
    if (hasBegun(stored)) return false;
    const claims = new Set([...stored.claims].filter((other) => other !== claim));
    const isTaken =
      claims.size === 0
        ? await deleteItem("density-jobs", { operationId }, unchangedSince(stored), signal)
        : await putItem("density-jobs", itemOf({ ...stored, claims }), unchangedSince(stored), signal);
    if (isTaken) return true;
  }
}

function hasBegun({ state, attempts }: Job): boolean {
  return state !== "pending" || attempts > 0;
}

/** That a job on which no work had begun is as it was read. */
function unchangedSince({ claims }: Job) {
  return {
    condition: "#state = :pending AND attempts = :none AND claims = :claims",
    names: { "#state": "state" },
    values: { ":pending": "pending", ":none": 0, ":claims": claims },
  };
}

/** Reads a job; one that has expired is not there any more. */
export async function readJob(operationId: string, now: Date, signal: AbortSignal): Promise<Job | undefined> {
  const found = await getItem("density-jobs", { operationId }, job, signal);
  return found === undefined || found.expiresAt * 1_000 <= now.getTime() ? undefined : found;
}

/**
 * Begins an attempt: counts it and keeps others off until a moment. Until the attempt is over the sink may come to
 * hold the whole answer. A call that is sent twice because its answer was lost counts once.
 *
 * @param job as it was read.
 * @returns whether it was free to begin, and no attempt was made since it was read.
 */
export function leaseJob(
  { operationId, attempts }: Pick<Job, "operationId" | "attempts">,
  lease: string,
  until: Date,
  now: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const isFree = "attempts = :before AND (attribute_not_exists(leasedUntil) OR leasedUntil <= :now)";
  const write = {
    update: "SET lease = :lease, leasedUntil = :until, mayBeDelivered = :yes, attempts = :counted",
    condition: `#state = :pending AND (lease = :lease OR (${isFree}))`,
    names: { "#state": "state" },
    values: {
      ":lease": lease,
      ":until": until.getTime(),
      ":now": now.getTime(),
      ":pending": "pending",
      ":before": attempts,
      ":counted": attempts + 1,
      ":yes": true,
    },
  };
  return updateItem("density-jobs", { operationId }, write, signal);
}

const names = { "#state": "state" };

/** Ends an attempt after which there will be another, not before a moment. Returns whether it was still ours. */
export function returnJob(
  operationId: string,
  lease: string,
  { mayBeDelivered, failing }: Pick<Job, "mayBeDelivered" | "failing">,
  notBefore: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const write = {
    update: "SET mayBeDelivered = :may, failing = :failing, leasedUntil = :notBefore",
    condition: "lease = :lease AND #state = :pending",
    names,
    values: {
      ":lease": lease,
      ":pending": "pending",
      ":may": mayBeDelivered,
      ":failing": failing,
      ":notBefore": notBefore.getTime(),
    },
  };
  return updateItem("density-jobs", { operationId }, write, signal);
}

/**
 * Ends a job for good and erases where it was to go. Returns whether it was still ours to end, also when it is a
 * second time.
 */
export function endJob(operationId: string, lease: string, end: End, signal: AbortSignal): Promise<boolean> {
  const write = {
    update: "SET #state = :end REMOVE leasedUntil, sink, accessToken",
    condition: "lease = :lease AND (#state = :pending OR #state = :end)",
    names,
    values: { ":lease": lease, ":pending": "pending", ":end": end },
  };
  return updateItem("density-jobs", { operationId }, write, signal);
}

const pending = z.object({ operations: z._default(z.set(z.string()), new Set()) });

/**
 * Counts an operation among those of a caller that are pending, exactly under concurrency. Its job must be stored:
 * operations that ended without being taken off the count are found out when the limit is reached.
 * @returns whether it is among them now; `false` when the caller has as many as the limit allows.
 */
export async function admitOperation(
  caller: string,
  operationId: string,
  limit: number,
  now: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const add = () =>
    updateItem(
      "density-callers",
      { caller },
      {
        update: "ADD operations :one SET expiresAt = :expiry",
        condition:
          "attribute_not_exists(operations) OR size(operations) < :limit OR contains(operations, :id)",
        values: {
          ":one": new Set([operationId]),
          ":id": operationId,
          ":limit": limit,
          ":expiry": expiryFrom(now) + keptSeconds,
        },
      },
      signal,
    );
  if (limit === 0) return false;
  while (!(await add())) {
    const counted = (await getItem("density-callers", { caller }, pending, signal))?.operations ?? new Set();
    const ended = await endedOf([...counted], now, signal);
    if (ended.length > 0) await dismissOperations(caller, ended, signal);
    else if (counted.size >= limit) return false;
  }
  return true;
}

/** Those operations whose job is over, has expired or was taken back. */
async function endedOf(operationIds: readonly string[], now: Date, signal: AbortSignal): Promise<string[]> {
  const keys = operationIds.map((operationId) => ({ operationId }));
  const jobs = await getItems("density-jobs", keys, job, signal);
  const isAlive = ({ state, expiresAt }: Job) => state === "pending" && expiresAt * 1_000 > now.getTime();
  const alive = new Set(jobs.filter(isAlive).map(({ operationId }) => operationId));
  return operationIds.filter((id) => !alive.has(id));
}

/** Takes operations off the count of a caller's pending ones. */
export async function dismissOperations(
  caller: string,
  operationIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await updateItem(
    "density-callers",
    { caller },
    {
      update: "DELETE operations :ended",
      condition: "attribute_exists(caller)",
      values: { ":ended": new Set(operationIds) },
    },
    signal,
  );
}

/** What an upload takes a place of: its sink's host, its caller. */
export interface Crowd {
  readonly name: string;
  /** Uploads at a time, over all workers. */
  readonly places: number;
}

/** The uploads to one host. */
export function ofHost(host: string): Crowd {
  return { name: `host ${host}`, places: 2 };
}

/** The uploads for one caller, so that nobody's slow sinks keep all workers waiting. */
export function ofCaller(caller: string): Crowd {
  return { name: `caller ${caller}`, places: 3 };
}

/** A place taken. */
export interface Slot {
  readonly sink: string;
  readonly holder: string;
}

/** Takes one of the places of a crowd until a moment, if one is free. */
export async function takeSlot(
  { name, places }: Crowd,
  holder: string,
  until: Date,
  now: Date,
  signal: AbortSignal,
): Promise<Slot | undefined> {
  for (let place = 0; place < places; place++) {
    const sink = `${hashed(name)}#${place}`;
    const taken = await updateItem(
      "density-sinks",
      { sink },
      {
        update: "SET holder = :holder, heldUntil = :until, expiresAt = :expiry",
        // A call that is sent twice because its answer was lost takes no second place.
        condition: "attribute_not_exists(heldUntil) OR heldUntil <= :now OR holder = :holder",
        values: {
          ":holder": holder,
          ":until": until.getTime(),
          ":now": now.getTime(),
          ":expiry": Math.ceil(until.getTime() / 1_000) + keptSeconds,
        },
      },
      signal,
    );
    if (taken) return { sink, holder };
  }
  return undefined;
}

/**
 * Lets one message of a job go round while it waits for a place. Returns whether this is the one; every other is one
 * too many.
 */
export function goRound(
  operationId: string,
  atMostEverySeconds: number,
  now: Date,
  signal: AbortSignal,
): Promise<boolean> {
  const write = {
    update: "SET wentRoundAt = :now",
    condition: "#state = :pending AND (attribute_not_exists(wentRoundAt) OR wentRoundAt <= :before)",
    names,
    values: {
      ":now": now.getTime(),
      ":before": now.getTime() - atMostEverySeconds * 1_000,
      ":pending": "pending",
    },
  };
  return updateItem("density-jobs", { operationId }, write, signal);
}

/** Gives a slot back. */
export async function giveSlotBack({ sink, holder }: Slot, signal: AbortSignal): Promise<void> {
  const mine = { condition: "holder = :holder", values: { ":holder": holder } };
  await deleteItem("density-sinks", { sink }, mine, signal);
}
