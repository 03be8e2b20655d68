import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";

/** Which operations of a caller are pending; in another item of the caller, which large answers it is being sent. */
export const densityCallers = table({
  name: "density-callers",
  partitionKey: "caller",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({
    operations: z._default(z.set(z.string()), new Set()),
    /** Each with the epoch second at which it lapses. */
    streams: z._default(z.set(z.string()), new Set()),
  }),
});
