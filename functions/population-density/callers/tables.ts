import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";

/** Maximum of large answers that are sent to one caller at a time. */
export const maxStreams = 50;

/** The places that a caller's pending operations have; in another item of the caller, which large answers it is being sent. */
export const densityCallers = table({
  name: "density-callers",
  partitionKey: "caller",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({
    /** By the id of the operation that has it: when it was reserved, in epoch milliseconds. */
    places: z._default(z.record(z.string(), z.number()), {}),
    /** Each with the epoch second at which it lapses. */
    streams: z._default(z.set(z.string()), new Set()),
  }),
});
