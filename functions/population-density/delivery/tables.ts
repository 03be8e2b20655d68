import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";
import { job } from "./job.ts";

/** Densities to be delivered to a sink. */
export const densityJobs = table({
  name: "density-jobs",
  partitionKey: "operationId",
  timeToLive: "expiresAt",
  ephemeral: true,
  // Only pending jobs have the first sort key, and withdrawn ones do not have the second.
  indexes: [
    {
      name: "pending",
      partitionKey: "state",
      sortKey: "pendingSince",
      attributes: ["queuedAt", "startedAt"],
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
  until: z.number(),
});

/** Permits of uploads, all in one item; who waits for one, by limit; hosts that ever took something. */
export const densityPermits = table({
  name: "density-permits",
  partitionKey: "limit",
  sortKey: "entry",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({
    version: z.number(),
    waitedUntil: z.optional(z.number()),
    permits: z.pipe(
      z.pipe(
        z.string(),
        z.transform((text: string): unknown => JSON.parse(text)),
      ),
      z.array(permit),
    ),
  }),
});
