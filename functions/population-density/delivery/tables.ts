import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";
import { job } from "./job.ts";

/** Densities to be delivered to a sink. */
export const densityJobs = table({
  name: "density-jobs",
  partitionKey: "operationId",
  timeToLive: "expiresAt",
  ephemeral: true,
  // Only pending jobs have `pendingSince` and `pendingShard`, and only those waiting for a permit `waitsFor`; withdrawn jobs have no
  // `listedAt`.
  indexes: [
    {
      name: "pending-by-shard",
      partitionKey: "pendingShard",
      sortKey: "pendingSince",
      attributes: ["queuedAt", "startedAt"],
    },
    {
      name: "waiting",
      partitionKey: "waitsFor",
      sortKey: "pendingSince",
      attributes: ["caller", "mode", "attempts"],
    },
    { name: "by-caller", partitionKey: "caller", sortKey: "listedAt", attributes: ["state"] },
  ],
  personalData: true,
  schema: job,
});

/** The permits in use, all in one item, and the hosts that have accepted a delivery. */
export const densityPermits = table({
  name: "density-permits",
  partitionKey: "limit",
  sortKey: "entry",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({ held: z.optional(z.set(z.string())) }),
});

/**
 * All permits are a set in one item: there are hardly more of them than workers, and all limits can be checked together.
 */
export const permitsKey = { limit: "permits", entry: "all" };
