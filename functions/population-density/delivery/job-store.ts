import * as z from "zod/mini";
import {
  type Condition,
  getItem,
  getItems,
  putItem,
  putOrFind,
  queryFirst,
  queryIndex,
  type Update,
  updateItem,
  updateOrFind,
} from "../../../shared/aws/database.ts";
import { logFault } from "../../../shared/aws/log.ts";
import { dayMilliseconds } from "../../../shared/calendar.ts";
import { densityCallers } from "../callers/tables.ts";
import {
  cancelledByCaller,
  isPlaceFree,
  itemOf,
  type Job,
  type LastAttempt,
  pendingShards,
  retentionSeconds,
} from "./job.ts";
import type { JobEnd, JobStore, PendingEntry, WaitingEntry } from "./ports.ts";
import { densityJobs } from "./tables.ts";

const names = { "#state": "state" };

/** A job that has not ended. */
const isPending = { condition: "#state = :pending", names, values: { ":pending": "pending" } };

/** A job that has not ended and whose attempt holds the lease. */
function holdsLease(leaseId: string): Condition {
  return {
    condition: `${isPending.condition} AND #lease = :lease`,
    names: { ...names, "#lease": "lease" },
    values: { ...isPending.values, ":lease": leaseId },
  };
}

/** A job that has not ended, has not changed since it was read, and is under no lease. */
function isFreeAt(now: number, { attempts, possiblyDelivered }: Job) {
  return {
    condition:
      "attempts = :before AND possiblyDelivered = :possibly AND (attribute_not_exists(notBefore) OR notBefore <= :now)",
    values: { ...isPending.values, ":before": attempts, ":possibly": possiblyDelivered, ":now": now },
  };
}

/** What an update changes of a job; attributes that are undefined stay as they are. */
interface Changes {
  readonly set?: Readonly<Record<string, unknown>>;
  /** Set unless there is a value. */
  readonly setOnce?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
}

/** Changes a job if a condition holds. */
function update(
  operationId: string,
  condition: Condition,
  changes: Changes,
  signal: AbortSignal,
): Promise<boolean> {
  return updateItem(densityJobs, { operationId }, writeOf(condition, changes), signal);
}

/** The expression of a change: attributes by their names, so that none is written by hand. */
function writeOf(
  { condition, names, values }: Condition,
  { set = {}, setOnce = {}, remove = [] }: Changes,
): Update {
  const given = Object.entries({ ...set, ...setOnce }).filter(([, value]) => value !== undefined);
  const assigned = given.map(([name]) =>
    name in setOnce ? `#${name} = if_not_exists(#${name}, :${name})` : `#${name} = :${name}`,
  );
  const parts = [
    ...(assigned.length === 0 ? [] : [`SET ${assigned.join(", ")}`]),
    ...(remove.length === 0 ? [] : [`REMOVE ${remove.map((name) => `#${name}`).join(", ")}`]),
  ];
  const aliases = [...given.map(([name]) => name), ...remove].map((name) => [`#${name}`, name]);
  return {
    update: parts.join(" "),
    condition,
    names: { ...names, ...Object.fromEntries(aliases) },
    values: { ...values, ...Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])) },
  };
}

/** The store of jobs and of their callers' places in DynamoDB. */
export const jobStore: JobStore = {
  async reservePlace({ caller, operationId, requestedAt, expiresAt }, pendingLimit, signal) {
    const reserve = (write: Update) => updateItem(densityCallers, { caller }, write, signal);
    const expiry = { ":expiry": expiresAt + retentionSeconds };
    const further = {
      update: "SET places.#id = :now, expiresAt = :expiry",
      condition: "size(places) < :limit OR attribute_exists(places.#id)",
      names: { "#id": operationId },
      values: { ...expiry, ":now": requestedAt, ":limit": pendingLimit },
    };
    const first = {
      update: "SET places = :places, expiresAt = :expiry",
      condition: "attribute_not_exists(places)",
      values: { ...expiry, ":places": { [operationId]: requestedAt } },
    };
    if (await reserve(further)) return true;
    if (pendingLimit === 0) return false;
    // One of several concurrent first requests creates the map of places.
    return (await reserve(first)) || (await reserve(further));
  },

  store: (stored, replaces, signal) =>
    putItem(densityJobs, itemOf(keeping(stored, replaces)), ifFree(stored, replaces), signal),

  read: (operationId, signal) => getItem(densityJobs, { operationId }, signal),

  promise({ operationId, intake }, signal) {
    const condition = {
      condition: "intake = :intake AND #state <> :withdrawn",
      names,
      values: { ":intake": intake, ":withdrawn": "withdrawn" },
    };
    return update(operationId, condition, { set: { promised: true } }, signal);
  },

  async withdraw(withdrawn, replaces, signal) {
    const {
      sink: _,
      accessToken: __,
      pendingSince: ___,
      listedAt: ____,
      ...left
    } = keeping(withdrawn, replaces);
    const withdrawnIntakes = new Set([...(left.withdrawnIntakes ?? []), withdrawn.intake]);
    const { condition, values } = ifFree(withdrawn, replaces);
    const isOwn = "intake = :intake AND #state = :pending AND attempts = :none AND promised = :no";
    const refused = await putOrFind(
      densityJobs,
      itemOf({ ...left, state: "withdrawn", withdrawnIntakes }),
      {
        condition: `${condition} OR (${isOwn})`,
        names,
        values: { ...values, ":intake": withdrawn.intake, ":none": 0, ":no": false },
      },
      signal,
    );
    // Otherwise an earlier try of this call withdrew it, and its response was lost.
    const isOurs = refused === undefined || refused.found?.withdrawnIntakes?.has(withdrawn.intake);
    if (!isOurs) return false;
    // By now another request may have taken the id and reserved its place again.
    await freePlace(withdrawn, hasPlaceSince(withdrawn), signal);
    return true;
  },

  async freeEnded(caller, now, signal) {
    const { places = {} } = (await getItem(densityCallers, { caller }, signal)) ?? {};
    const keys = Object.keys(places).map((operationId) => ({ operationId }));
    const jobs = await getItems(densityJobs, keys, signal);
    const byId = new Map(jobs.map((job) => [job.operationId, job]));
    const free = Object.entries(places).filter(([id, reservedAt]) =>
      isPlaceFree(byId.get(id), reservedAt, now),
    );
    if (free.length === 0) return 0;
    const write = {
      update: `REMOVE ${free.map((_, index) => `places.#${index}`).join(", ")}`,
      // A place that has been reserved again since it was read no longer belongs to the job that was read.
      condition: free.map((_, index) => `places.#${index} = :${index}`).join(" AND "),
      names: Object.fromEntries(free.map(([id], index) => [`#${index}`, id])),
      values: Object.fromEntries(free.map(([, reservedAt], index) => [`:${index}`, reservedAt])),
    };
    await updateItem(densityCallers, { caller }, write, signal);
    return free.length;
  },

  markQueued: (operationId, sentAt, signal) =>
    update(operationId, isPending, { set: { queuedAt: sentAt } }, signal),

  requestMessage: (operationId, signal) => update(operationId, isPending, { remove: ["queuedAt"] }, signal),

  markWaiting: (operationId, host, heldBackAt, signal) =>
    update(operationId, isPending, { set: { waitsFor: host, heldBackAt } }, signal),

  waitingFor: (host, signal) =>
    queryFirst(densityJobs, "waiting", host, waitingEntriesRead, waitingEntry, signal),

  acquireLease(job, { id, mode, failureCause, now, until }, signal) {
    const { condition: isFree, values } = isFreeAt(now, job);
    // If the response is lost and the call is repeated, the attempt counts once.
    const condition = {
      condition: `${isPending.condition} AND (lease = :lease OR (${isFree}))`,
      names,
      values,
    };
    const number = job.attempts + 1;
    const lastAttempt = { number, at: now };
    const set = { lease: id, mode, failureCause, notBefore: until, attempts: number, lastAttempt };
    const changes = { set, setOnce: { startedAt: now }, remove: ["waitsFor"] };
    return update(job.operationId, condition, changes, signal);
  },

  markPossiblyDelivered: (operationId, leaseId, signal) =>
    update(operationId, holdsLease(leaseId), { set: { possiblyDelivered: true } }, signal),

  scheduleRetry(operationId, leaseId, { lastAttempt, ...retry }, signal) {
    const set = { ...retry, lastAttempt: present(lastAttempt) };
    return update(operationId, holdsLease(leaseId), { set }, signal);
  },

  finish: (finished, leaseId, { lastAttempt, ...end }, signal) =>
    endJob(finished, holdsLease(leaseId), leaseId, { ...end, lastAttempt: present(lastAttempt) }, signal),

  endWithoutAttempt(job, endId, { outcome, reason }, now, signal) {
    const { condition: isFree, values } = isFreeAt(now, job);
    const condition = { condition: `${isPending.condition} AND ${isFree}`, names, values };
    return endJob(job, condition, endId, { outcome, reason }, signal);
  },

  async cancel(cancelled, signal) {
    const set = { state: "cancelled", reason: cancelledByCaller };
    if (!(await update(cancelled.operationId, isPending, { set, remove: erased }, signal))) return false;
    await freePlace(cancelled, hasPlace, signal);
    return true;
  },

  async pending(signal) {
    const read = (shard: string) => queryIndex(densityJobs, "pending-by-shard", shard, pendingEntry, signal);
    const entries = (await Promise.all(pendingShards.map(read))).flat();
    return entries.sort((one, other) => one.pendingSince.localeCompare(other.pendingSince));
  },
};

/**
 * Ends a job if a condition holds, then releases its place.
 * @param leaseId is recorded, so that a repetition of the call finds that it ended the job.
 */
async function endJob(
  job: Pick<Job, "operationId" | "caller">,
  condition: Condition,
  leaseId: string,
  { outcome, reason, lastAttempt }: JobEnd & { readonly lastAttempt?: LastAttempt },
  signal: AbortSignal,
): Promise<boolean> {
  const { operationId } = job;
  const set = { state: outcome, reason, lease: leaseId, lastAttempt };
  const write = writeOf(condition, { set, remove: erased });
  const written = await updateOrFind(densityJobs, { operationId }, write, z.object({}), signal);
  // Otherwise an earlier try of this call ended it, and its response was lost.
  const isOurs =
    "updated" in written || (written.found?.lease === leaseId && written.found.state === outcome);
  if (!isOurs) return false;
  await freePlace(job, hasPlace, signal);
  return true;
}

/** The attributes that a job loses when it ends. */
const erased = ["notBefore", "waitsFor", "sink", "accessToken", "pendingSince", "pendingShard"];

/** An attempt without its undefined members. */
function present({ number, at, outcome, status }: LastAttempt): LastAttempt {
  return {
    number,
    at,
    ...(outcome === undefined ? {} : { outcome }),
    ...(status === undefined ? {} : { status }),
  };
}

/** The condition that the id is free: there is no job, its day is over, or it is the withdrawn one that was read. */
function ifFree({ requestedAt }: Job, replaces: Job | undefined) {
  const isWithdrawn =
    replaces === undefined ? "" : " OR (#state = :withdrawn AND withdrawnIntakes = :replaced)";
  return {
    condition: `attribute_not_exists(operationId) OR (#state <> :pending AND requestedAt <= :forgotten)${isWithdrawn}`,
    names,
    values: {
      ":pending": "pending",
      ":forgotten": requestedAt - dayMilliseconds,
      ...(replaces === undefined
        ? {}
        : { ":withdrawn": "withdrawn", ":replaced": replaces.withdrawnIntakes ?? new Set() }),
    },
  };
}

/** The job, with the withdrawn requests of the job it replaces. */
function keeping(stored: Job, replaces: Job | undefined): Job {
  const { withdrawnIntakes } = replaces ?? {};
  return withdrawnIntakes === undefined ? stored : { ...stored, withdrawnIntakes };
}

const hasPlace = { condition: "attribute_exists(places.#id)" };

function hasPlaceSince({ requestedAt }: Job) {
  return { condition: "places.#id = :reservedAt", values: { ":reservedAt": requestedAt } };
}

/** Releases the place of a job that has ended. If that fails, a request that finds no place left releases it. */
async function freePlace(
  { caller, operationId }: Pick<Job, "caller" | "operationId">,
  condition: Condition,
  signal: AbortSignal,
): Promise<void> {
  const write = { ...condition, update: "REMOVE places.#id", names: { "#id": operationId } };
  try {
    await updateItem(densityCallers, { caller }, write, signal);
  } catch (error) {
    logFault(error, { operationId });
  }
}

/** Maximum of a host's waiting jobs that are read: as many as one caller may have. */
const waitingEntriesRead = 100;

const waitingEntry: z.ZodMiniType<WaitingEntry> = z.object({
  operationId: z.string(),
  caller: z.string(),
  mode: z.enum(["answer", "failure"]),
  attempts: z.number(),
});

const pendingEntry: z.ZodMiniType<PendingEntry> = z.object({
  operationId: z.string(),
  pendingSince: z.string(),
  queuedAt: z.optional(z.number()),
  startedAt: z.optional(z.number()),
});
