import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";
import { job } from "./job.ts";

/** Densities to be delivered to a sink. */
export const densityJobs = table({
  name: "density-jobs",
  partitionKey: "operationId",
  timeToLive: "expiresAt",
  ephemeral: true,
  // Only pending jobs have `pendingSince`, only those that wait for a permit `waitsFor`; withdrawn ones have no `listedAt`.
  indexes: [
    {
      name: "pending",
      partitionKey: "state",
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

const permit = z.object({
  operationId: z.string(),
  holder: z.optional(z.string()),
  host: z.string(),
  caller: z.string(),
  mode: z.enum(["answer", "failure"]),
  since: z.optional(z.number()),
  until: z.number(),
});

/** Permits of uploads, all in one item, and the hosts that ever took something. */
export const densityPermits = table({
  name: "density-permits",
  partitionKey: "limit",
  sortKey: "entry",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({
    version: z.number(),
    /** Holders of permits that were released since the permits were written. */
    released: z.optional(z.set(z.string())),
    permits: z.pipe(
      z.pipe(
        z.string(),
        z.transform((text: string): unknown => JSON.parse(text)),
      ),
      z.array(permit),
    ),
  }),
});
