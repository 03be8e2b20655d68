import * as z from "zod/mini";
import { table } from "../table.ts";

/** Request counts by caller, for the UTC minute and day of the last request. */
export const quotas = table({
  name: "quotas",
  partitionKey: "caller",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({
    day: z.number(),
    dayCount: z.number(),
    minute: z.number(),
    minuteCount: z.number(),
  }),
});
