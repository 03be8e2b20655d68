import * as z from "zod/mini";
import { deleteItem, getItem, putItem, queryFirst } from "../../../shared/aws/database.ts";
import { withSchema } from "../../../shared/table.ts";
import { retentionSeconds } from "./job.ts";
import type { Waiting } from "./permit-rules.ts";
import type { PermitStore } from "./ports.ts";
import { maxHiddenMilliseconds } from "./rules.ts";
import { densityPermits } from "./tables.ts";

/** All permits are one item: there are at most as many as workers, and all limits can be decided together. */
const permitsKey = { limit: "permits", entry: "all" };

const waitingEntries = withSchema(
  densityPermits,
  z.object({
    limit: z.string(),
    since: z.number(),
    operationId: z.string(),
    host: z.string(),
    caller: z.string(),
    mode: z.enum(["answer", "failure"]),
    queue: z.string(),
    receiptHandle: z.string(),
  }),
);

const agreements = withSchema(densityPermits, z.object({}));

/** How many who wait at a limit are looked at: the most that one caller may have pending. */
const waitingCount = 100;

const agreementSeconds = 90 * 86_400;

/** The table of permits: those in use, the jobs that wait at each limit, and the hosts that have answered 2xx. */
export const permitStore: PermitStore = {
  async read(signal) {
    const found = await getItem(densityPermits, permitsKey, signal);
    if (found === undefined) return { permits: [], waitedUntil: 0, version: 0 };
    // An older version of the service, which does not write `waitedUntil`, may have written last.
    const { permits, waitedUntil = Date.now() + maxHiddenMilliseconds, version } = found;
    return { permits, waitedUntil, version };
  },

  write({ permits, waitedUntil }, version, signal) {
    const item = { ...permitsKey, permits: JSON.stringify(permits), waitedUntil, version: version + 1 };
    const isUnchanged =
      version === 0
        ? { condition: "attribute_not_exists(#version)", names: { "#version": "version" } }
        : {
            condition: "#version = :version",
            names: { "#version": "version" },
            values: { ":version": version },
          };
    return putItem(densityPermits, item, isUnchanged, signal);
  },

  async addWaiting(waiting, signal) {
    const item = { ...waiting, ...keyOf(waiting), expiresAt: expiryIn(retentionSeconds) };
    await putItem(densityPermits, item, {}, signal);
  },

  async removeWaiting(waiting, signal) {
    await deleteItem(densityPermits, keyOf(waiting), {}, signal);
  },

  waitingAt: (limit, signal) => queryFirst(waitingEntries, limit, waitingCount, signal),

  async noteAgreement(host, signal) {
    const item = { limit: "agreed", entry: host, expiresAt: expiryIn(agreementSeconds) };
    await putItem(densityPermits, item, {}, signal);
  },

  async hasAgreed(host, signal) {
    const key = { limit: "agreed", entry: host };
    return (await getItem(agreements, key, signal)) !== undefined;
  },
};

/** Entries are sorted as text, so the time is padded to a fixed number of digits. */
function keyOf({ limit, since, operationId }: Pick<Waiting, "limit" | "since" | "operationId">) {
  return { limit, entry: `${String(since).padStart(16, "0")}#${operationId}` };
}

function expiryIn(seconds: number): number {
  return Math.ceil(Date.now() / 1_000) + seconds;
}
