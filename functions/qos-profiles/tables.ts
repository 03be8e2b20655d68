import * as z from "zod/mini";
import { table } from "../../shared/table.ts";
import { qosProfile } from "./contract.ts";

/** A QoS profile as the catalogue holds it. */
export const qosProfileRecord = z.object({
  ...qosProfile.shape,
  /** Whether it is available only to devices whose own list names it. */
  restricted: z.optional(z.boolean()),
});

/** A QoS profile as the catalogue holds it. */
export type QosProfileRecord = z.infer<typeof qosProfileRecord>;

/** The QoS catalogue: one partition, so that a sorted query lists it and nothing is ever scanned. */
export const qosProfiles = table({
  name: "qos-profiles",
  partitionKey: "catalogue",
  sortKey: "name",
  schema: qosProfileRecord,
});
