import * as z from "zod/mini";
import { getItem, getItems, queryIndex, updateItem } from "../../../shared/aws/database.ts";
import { type TransactionOperation, transactWrite } from "../../../shared/aws/transactions.ts";
import { densityCallers } from "../callers/tables.ts";
import { cancelledByCaller, itemOf, type Job, type LastAttempt, retentionSeconds } from "./job.ts";
import type { JobStore, PendingEntry } from "./ports.ts";
import { densityJobs } from "./tables.ts";

const names = { "#state": "state" };

const dayMilliseconds = 86_400_000;

/** The store of jobs and of their callers' places in DynamoDB. */
export const jobStore: JobStore = {
  async store(stored, replaces, pendingLimit, signal) {
    const { caller, operationId } = stored;
    const canHaveNone = pendingLimit > 0 ? "attribute_not_exists(operations) OR " : "";
    const result = await transactWrite(
      [
        {
          kind: "put",
          table: densityJobs,
          ...ifFree(stored, replaces),
          item: itemOf(keeping(stored, replaces)),
        },
        {
          kind: "update",
          table: densityCallers,
          key: { caller },
          update: "ADD operations :one SET expiresAt = :expiry",
          condition: `${canHaveNone}size(operations) < :limit OR contains(operations, :id)`,
          values: {
            ":one": new Set([operationId]),
            ":id": operationId,
            ":limit": pendingLimit,
            ":expiry": stored.expiresAt + retentionSeconds,
          },
        },
      ],
      signal,
    );
    if (result.isWritten) return "stored";
    return result.failedConditions.includes(0) ? "exists" : "full";
  },

  read: (operationId, signal) => getItem(densityJobs, { operationId }, signal),

  promise({ operationId, intake }, signal) {
    const write = {
      update: "SET promised = :yes",
      condition: "intake = :intake AND #state <> :withdrawn",
      names,
      values: { ":yes": true, ":intake": intake, ":withdrawn": "withdrawn" },
    };
    return updateItem(densityJobs, { operationId }, write, signal);
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
    const { isWritten } = await transactWrite(
      [
        {
          kind: "put",
          table: densityJobs,
          item: itemOf({ ...left, state: "withdrawn", withdrawnIntakes }),
          condition: `${condition} OR (${isOwn})`,
          names,
          values: { ...values, ":intake": withdrawn.intake, ":none": 0, ":no": false },
        },
        placeReleased(withdrawn),
      ],
      signal,
    );
    return isWritten;
  },

  async releaseEnded(caller, signal) {
    const counted = await getItem(densityCallers, { caller }, signal);
    const operationIds = [...(counted?.operations ?? [])];
    const keys = operationIds.map((operationId) => ({ operationId }));
    const jobs = await getItems(densityJobs, keys, signal);
    const pending = new Set(
      jobs.filter(({ state }) => state === "pending").map(({ operationId }) => operationId),
    );
    const ended = operationIds.filter((operationId) => !pending.has(operationId));
    if (ended.length === 0) return 0;
    const write = {
      update: "DELETE operations :ended",
      condition: "attribute_exists(caller)",
      values: { ":ended": new Set(ended) },
    };
    await updateItem(densityCallers, { caller }, write, signal);
    return ended.length;
  },

  markQueued(operationId, now, signal) {
    const write = {
      update: "SET queuedAt = :now",
      condition: "#state = :pending",
      names,
      values: { ":now": now, ":pending": "pending" },
    };
    return updateItem(densityJobs, { operationId }, write, signal);
  },

  lease({ operationId, attempts, possiblyDelivered }, { id, mode, now, until, isAttempt }, signal) {
    const isFree =
      "attempts = :before AND possiblyDelivered = :possibly AND (attribute_not_exists(notBefore) OR notBefore <= :now)";
    const noted = isAttempt ? ", lastAttempt = :attempt" : "";
    const write = {
      update:
        "SET lease = :lease, #mode = :mode, notBefore = :until, attempts = :counted, " +
        `startedAt = if_not_exists(startedAt, :now)${noted}`,
      // A call that is repeated because its response was lost counts once.
      condition: `#state = :pending AND (lease = :lease OR (${isFree}))`,
      names: { ...names, "#mode": "mode" },
      values: {
        ":lease": id,
        ":mode": mode,
        ":until": until,
        ":now": now,
        ":pending": "pending",
        ":before": attempts,
        ":counted": attempts + 1,
        ":possibly": possiblyDelivered,
        ...(isAttempt ? { ":attempt": { number: attempts + 1, at: now } } : {}),
      },
    };
    return updateItem(densityJobs, { operationId }, write, signal);
  },

  markPossiblyDelivered(operationId, lease, signal) {
    const write = {
      update: "SET possiblyDelivered = :yes",
      condition: isLeased,
      names,
      values: { ":yes": true, ":lease": lease, ":pending": "pending" },
    };
    return updateItem(densityJobs, { operationId }, write, signal);
  },

  scheduleRetry(operationId, lease, { mode, possiblyDelivered, notBefore, lastAttempt }, signal) {
    const write = {
      update:
        "SET #mode = :mode, possiblyDelivered = :possibly, notBefore = :notBefore, lastAttempt = :attempt",
      condition: isLeased,
      names: { ...names, "#mode": "mode" },
      values: {
        ":lease": lease,
        ":pending": "pending",
        ":mode": mode,
        ":possibly": possiblyDelivered,
        ":notBefore": notBefore,
        ":attempt": present(lastAttempt),
      },
    };
    return updateItem(densityJobs, { operationId }, write, signal);
  },

  async finish(finished, lease, { outcome, reason, lastAttempt }, signal) {
    const { operationId } = finished;
    const noted = lastAttempt === undefined ? "" : ", lastAttempt = :attempt";
    const { isWritten } = await transactWrite(
      [
        {
          kind: "update",
          table: densityJobs,
          key: { operationId },
          update: `SET #state = :outcome, #reason = :reason${noted} REMOVE ${erased}`,
          condition: isLeased,
          names: { ...names, "#reason": "reason" },
          values: {
            ":outcome": outcome,
            ":reason": reason,
            ":lease": lease,
            ":pending": "pending",
            ...(lastAttempt === undefined ? {} : { ":attempt": present(lastAttempt) }),
          },
        },
        placeReleased(finished),
      ],
      signal,
    );
    if (isWritten) return true;
    const found = await getItem(densityJobs, { operationId }, signal);
    return found?.lease === lease && found.state === outcome;
  },

  async cancel(cancelled, signal) {
    const { isWritten } = await transactWrite(
      [
        {
          kind: "update",
          table: densityJobs,
          key: { operationId: cancelled.operationId },
          update: `SET #state = :cancelled, #reason = :reason REMOVE ${erased}`,
          condition: "#state = :pending",
          names: { ...names, "#reason": "reason" },
          values: {
            ":cancelled": "cancelled",
            ":reason": cancelledByCaller,
            ":pending": "pending",
          },
        },
        placeReleased(cancelled),
      ],
      signal,
    );
    return isWritten;
  },

  pending: (signal) => queryIndex(densityJobs, "pending", "pending", pendingEntry, signal),
};

/** What a job that has ended does not keep. */
const erased = "notBefore, sink, accessToken, pendingSince";

const isLeased = "lease = :lease AND #state = :pending";

/** An attempt without members that have no value. */
function present({ number, at, outcome, status }: LastAttempt): LastAttempt {
  return {
    number,
    at,
    ...(outcome === undefined ? {} : { outcome }),
    ...(status === undefined ? {} : { status }),
  };
}

/** The condition that the id is free: no job, one whose day is over, or the withdrawn one that was read. */
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

/** The operation of a transaction that releases a job's place. */
function placeReleased({
  caller,
  operationId,
  expiresAt,
}: Pick<Job, "caller" | "operationId" | "expiresAt">): TransactionOperation {
  return {
    kind: "update",
    table: densityCallers,
    key: { caller },
    update: "DELETE operations :one SET expiresAt = if_not_exists(expiresAt, :expiry)",
    values: { ":one": new Set([operationId]), ":expiry": expiresAt + retentionSeconds },
  };
}

const pendingEntry: z.ZodMiniType<PendingEntry> = z.object({
  operationId: z.string(),
  pendingSince: z.string(),
  queuedAt: z.optional(z.number()),
  startedAt: z.optional(z.number()),
});
